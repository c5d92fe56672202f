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

type TokenSettings = Pick<SandboxSettings, 'authHeader' | 'authScheme' | 'tokenAlways'>;

export function createAuthentication(
  verify: TokenVerifier,
  findTenant: TenantLookup,
  settings: TokenSettings,
): Authenticate {
  const readToken = tokenReader(verify, settings);
  return async (request, { scope, tenantFilter }) => {
    if (scope === 'open' && !settings.tokenAlways && request.headers[settings.authHeader.toLowerCase()] === undefined)
      return null;
    const ownTenant = tenantOfToken(await readToken(request));
    if (scope !== 'tenant') {
      if (ownTenant !== null)
        throw new Refusal(403, "the token is a tenant's; this operation needs one of the platform account");
      if (tenantFilter !== true || request.headers[TENANT_HEADER] === undefined) return null;
    }
    const id = tenantIdOf(request, ownTenant);
    const tenant = await findTenant(id);
    // Unknown and foreign are one answer: which tenants exist is not for everyone to find out.
    if (tenant === undefined || (ownTenant !== null && ownTenant !== id))
      throw new Refusal(403, `the token may not act for tenant "${id}", or there is no such tenant`);
    return tenant;
  };
}

/** The tenant that a token is for alone; null for one of the platform account. */
function tenantOfToken({ scope, tenant }: TokenClaims): string | null {
  if (scope !== 'platform' && scope !== 'tenant')
    throw new Refusal(403, `the token's scope is "${scope}"; it must be "platform" or "tenant"`);
  if (scope === 'tenant' && tenant === null)
    throw new Refusal(403, 'the token has the scope "tenant", but no claim "tenant" that names one');
  return tenant;
}

function tokenReader(
  verify: TokenVerifier,
  { authHeader, authScheme }: TokenSettings,
): (request: FastifyRequest) => Promise<TokenClaims> {
  const form = new RegExp(`^${authScheme === '' ? '' : `${authScheme} +`}([\\w-]+\\.[\\w-]+\\.[\\w-]*)$`, 'i');
  const example = `send "${authScheme === '' ? '' : `${authScheme} `}<token>"`;
  return async (request) => {
    const header = request.headers[authHeader.toLowerCase()];
    if (header === undefined) throw new Refusal(401, `the header ${authHeader} is missing; ${example}`);
    const token = form.exec(String(header))?.[1];
    const claims = token === undefined ? undefined : await verify(token);
    if (claims === undefined)
      throw new Refusal(401, `the token is not valid or has expired; ${example} with a new one`);
    return claims;
  };
}

function tenantIdOf(request: FastifyRequest, ownTenant: string | null): string {
  const header = request.headers[TENANT_HEADER] ?? ownTenant;
  if (header === null)
    throw new Refusal(
      400,
      `the header ${TENANT_HEADER} is missing; it names the tenant that a platform token acts for`,
    );
  // Sent twice, node joins the values by a comma, which no tenant id holds.
  if (typeof header !== 'string' || !isTenantId(header))
    throw new Refusal(400, `the header ${TENANT_HEADER} holds no tenant id: 1 to 64 letters, digits, "_" or "-"`);
  return header;
}
