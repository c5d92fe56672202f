/** Authenticates a request (section 5): verifies its token and finds the tenant that the call acts for. */
import type { FastifyRequest } from 'fastify';
import { isTenantId } from '../domain/values/names.js';
import { TENANT_HEADER } from '../platform/contract/envelope.js';
import type { Operation } from '../platform/contract/operation.js';
import { Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';
import type { Tenant, TenantLookup } from './tenants.js';
import type { TokenClaims, TokenVerifier } from './token.js';

/**
 * Resolves to the tenant that a call acts for, or to null for an operation of the platform account that is not limited
 * to one tenant (4.16 limits its result when the tenant header is sent).
 *
 * Rejects with a {@link Refusal}: `unauthenticated` for a missing or invalid token, `forbidden` for a token of the
 * wrong kind, `tenantMissing` or `invalid` for the header, `unknownTenant` for a tenant that does not exist or that the
 * token may not act for.
 */
export type Authenticate = (
  request: FastifyRequest,
  operation: Pick<Operation, 'scope' | 'tenantFilter'>,
) => Promise<Tenant | null>;

/** What section 5 leaves open: the header of the token, and the kinds of caller that an operation accepts. */
type AccessSettings = Pick<SandboxSettings, 'authHeader' | 'authScheme' | 'callers' | 'defaultTenant'>;

/**
 * Creates the authentication step that runs before the body of a request is read. Tokens are checked by `verify`,
 * tenants are looked up by `findTenant`.
 */
export function createAuthentication(
  verify: TokenVerifier,
  findTenant: TenantLookup,
  settings: AccessSettings,
): Authenticate {
  const readToken = createTokenReader(verify, settings);
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
      throw new Refusal('forbidden', `this operation accepts only tokens of these kinds: ${callers.tenant.join(', ')}`);
    const id = tenantIdOf(request, ownTenant ?? (settings.defaultTenant || null));
    const tenant = await findTenant(id);
    // One response for both cases, so that a tenant's token cannot be used to discover which other tenants exist.
    if (tenant === undefined || (ownTenant !== null && ownTenant !== id))
      throw new Refusal('unknownTenant', `the token may not act for tenant "${id}", or there is no such tenant`);
    return tenant;
  };
}

/** The tenant that the token is restricted to, or null for a token of the platform account. Refuses any other scope. */
function tenantOfToken({ scope, tenant }: TokenClaims): string | null {
  if (scope !== 'platform' && scope !== 'tenant')
    throw new Refusal('forbidden', `the token's scope is "${scope}"; it must be "platform" or "tenant"`);
  if (scope === 'tenant' && tenant === null)
    throw new Refusal('forbidden', 'the token has the scope "tenant", but no claim "tenant" that names one');
  return tenant;
}

/**
 * Creates a function that reads the verified claims from a request's token; the scheme is case-insensitive. Its errors
 * include an example, because a wrong scheme is the most likely mistake.
 */
function createTokenReader(
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

/**
 * The tenant id of the header `service-tenant-id`, or `defaultTenant` if the header is missing. Refuses a request with
 * neither.
 */
function tenantIdOf(request: FastifyRequest, defaultTenant: string | null): string {
  const header = request.headers[TENANT_HEADER] ?? defaultTenant;
  if (header === null)
    throw new Refusal(
      'tenantMissing',
      `the header ${TENANT_HEADER} is missing; it names the tenant that a platform token acts for`,
    );
  // Node joins a header that was sent twice with a comma, which no tenant id contains.
  if (typeof header !== 'string' || !isTenantId(header))
    throw new Refusal('invalid', `the header ${TENANT_HEADER} is not a tenant id: 1 to 64 letters, digits, "_" or "-"`);
  return header;
}
