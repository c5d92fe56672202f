/** Who calls, and for which tenant: the token, and the tenant header of tenant operations. */
import type { FastifyRequest } from 'fastify';
import { isTenantId } from '../domain/names.js';
import { TENANT_HEADER } from '../platform/contract/envelope.js';
import type { Operation } from '../platform/contract/operation.js';
import { Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';
import type { Tenant, TenantLookup } from './tenants.js';
import type { TokenClaims, TokenVerifier } from './token.js';

/**
 * Answers the tenant that the call acts for; null on operations of the platform account, unless one limits its result
 * by the tenant header and was sent one. Throws 401, 400 or 403.
 */
export type Authenticate = (
  request: FastifyRequest,
  operation: Pick<Operation, 'scope' | 'tenantFilter'>,
) => Promise<Tenant | null>;

type AccessSettings = Pick<SandboxSettings, 'authHeader' | 'authScheme' | 'callers' | 'defaultTenant'>;

export function createAuthentication(
  verify: TokenVerifier,
  findTenant: TenantLookup,
  settings: AccessSettings,
): Authenticate {
  const readToken = tokenReader(verify, settings);
  const { callers } = settings;
  const header = settings.authHeader.toLowerCase();
  return async (request, { scope, tenantFilter }) => {
    if (scope === 'open' && callers.open.includes('none') && request.headers[header] === undefined) return null;
    const ownTenant = tenantOfToken(await readToken(request));
    if (scope !== 'tenant') {
      if (ownTenant !== null)
        throw new Refusal('forbidden', "the token is a tenant's; this operation needs one of the platform account");
      if (tenantFilter !== true || request.headers[TENANT_HEADER] === undefined) return null;
    }
    if (scope === 'tenant' && !callers.tenant.includes(ownTenant === null ? 'platform' : 'tenant'))
      throw new Refusal('forbidden', `this operation takes tokens of these kinds only: ${callers.tenant.join(', ')}`);
    const id = tenantIdOf(request, ownTenant ?? (settings.defaultTenant || null));
    const tenant = await findTenant(id);
    // Unknown and foreign are one answer: which tenants exist is not for everyone to find out.
    if (tenant === undefined || (ownTenant !== null && ownTenant !== id))
      throw new Refusal('unknownTenant', `the token may not act for tenant "${id}", or there is no such tenant`);
    return tenant;
  };
}

/** The tenant that a token is for alone; null for one of the platform account. */
function tenantOfToken({ scope, tenant }: TokenClaims): string | null {
  if (scope !== 'platform' && scope !== 'tenant')
    throw new Refusal('forbidden', `the token's scope is "${scope}"; it must be "platform" or "tenant"`);
  if (scope === 'tenant' && tenant === null)
    throw new Refusal('forbidden', 'the token has the scope "tenant", but no claim "tenant" that names one');
  return tenant;
}

function tokenReader(
  verify: TokenVerifier,
  { authHeader, authScheme }: AccessSettings,
): (request: FastifyRequest) => Promise<TokenClaims> {
  const form = new RegExp(`^${authScheme === '' ? '' : `${authScheme} +`}([\\w-]+\\.[\\w-]+\\.[\\w-]*)$`, 'i');
  const example = `send "${authScheme === '' ? '' : `${authScheme} `}<token>"`;
  return async (request) => {
    const header = request.headers[authHeader.toLowerCase()];
    if (header === undefined) throw new Refusal('unauthenticated', `the header ${authHeader} is missing; ${example}`);
    const token = form.exec(String(header))?.[1];
    const claims = token === undefined ? undefined : await verify(token);
    if (claims === undefined)
      throw new Refusal('unauthenticated', `the token is not valid or has expired; ${example} with a new one`);
    return claims;
  };
}

/** The tenant that the header names, or `standard` where there is none. */
function tenantIdOf(request: FastifyRequest, standard: string | null): string {
  const header = request.headers[TENANT_HEADER] ?? standard;
  if (header === null)
    throw new Refusal(
      'tenantMissing',
      `the header ${TENANT_HEADER} is missing; it names the tenant that a platform token acts for`,
    );
  // Sent twice, node joins the values by a comma, which no tenant id holds.
  if (typeof header !== 'string' || !isTenantId(header))
    throw new Refusal('invalid', `the header ${TENANT_HEADER} holds no tenant id: 1 to 64 letters, digits, "_" or "-"`);
  return header;
}
