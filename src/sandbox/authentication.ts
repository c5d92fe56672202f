/** Who calls, and for which tenant: the bearer token, and the tenant header of tenant operations. */
import type { FastifyRequest } from 'fastify';
import { isTenantId } from '../domain/names.js';
import { TENANT_HEADER } from '../platform/contract/envelope.js';
import { Refusal } from './refusal.js';
import type { Tenant, TenantLookup } from './tenants.js';
import type { TokenClaims, TokenVerifier } from './token.js';

/** Answers the tenant that the call acts for; null on partner operations. Throws 401, 400 or 403. */
export type Authenticate = (request: FastifyRequest, scope: 'tenant' | 'partner') => Promise<Tenant | null>;

export function createAuthentication(verify: TokenVerifier, findTenant: TenantLookup): Authenticate {
  return async (request, scope) => {
    const claims = await readToken(request, verify);
    if (claims.scope !== 'platform')
      throw new Refusal(403, `the token's scope is "${claims.scope}"; this operation needs "platform"`);
    if (scope === 'partner') return null;
    const id = tenantIdOf(request, claims);
    const tenant = await findTenant(id);
    // Unknown and foreign are one answer: which tenants exist is not for everyone to find out.
    if (tenant === undefined || (claims.tenant !== null && claims.tenant !== id))
      throw new Refusal(403, `the token may not act for tenant "${id}", or there is no such tenant`);
    return tenant;
  };
}

async function readToken(request: FastifyRequest, verify: TokenVerifier): Promise<TokenClaims> {
  const header = request.headers.authorization;
  if (header === undefined) throw new Refusal(401, 'the header Authorization is missing; send "Bearer <token>"');
  const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(header)?.[1];
  const claims = token === undefined ? undefined : await verify(token);
  if (claims === undefined)
    throw new Refusal(401, 'the token is not valid or has expired; send "Bearer <token>" with a new one');
  return claims;
}

function tenantIdOf(request: FastifyRequest, claims: TokenClaims): string {
  const header = request.headers[TENANT_HEADER] ?? claims.tenant;
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
