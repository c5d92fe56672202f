/**
 * The sandbox's tokens: JWTs signed with HS256, for the audience `platform`, always with an expiry. Section 5 does not
 * show how tokens are obtained.
 */
import { SignJWT, jwtVerify } from 'jose';

const AUDIENCE = 'platform';
/**
 * Enough for every worker of a fleet. When it is full the cache is cleared, so that it cannot grow with each minted
 * token.
 */
const CACHED_TOKENS = 1_000;

/** A token of the platform account, which may act for any tenant, or of one tenant. */
export type TokenRequest = ({ readonly scope: 'platform' } | { readonly scope: 'tenant'; readonly tenant: string }) & {
  readonly secret: string;
  /** Seconds, or a time span such as `1h`. */
  readonly expiresIn: number | string;
};

/** What a verified token claims about its bearer. The names of the claims are the sandbox's own (section 5.5). */
export interface TokenClaims {
  readonly scope: string;
  readonly tenant: string | null;
}

/**
 * Mints a token for the sandbox. Throws if the secret is empty.
 *
 * @example await mintToken({ secret, scope: 'platform', expiresIn: '1h' })
 */
export async function mintToken(request: TokenRequest): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { expiresIn } = request;
  return new SignJWT({ scope: request.scope, ...(request.scope === 'tenant' && { tenant: request.tenant }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience(AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(typeof expiresIn === 'number' ? now + expiresIn : expiresIn)
    .sign(secretKey(request.secret));
}

/**
 * Resolves to a token's claims, or to undefined when it is forged, expired, for another audience or not a token at all.
 */
export type TokenVerifier = (token: string) => Promise<TokenClaims | undefined>;

/**
 * Creates a verifier that caches valid tokens until they expire, since thousands of requests a second carry the same
 * one.
 */
export function createTokenVerifier(secret: string): TokenVerifier {
  const key = secretKey(secret);
  const known = new Map<string, { claims: TokenClaims; expires: number }>();
  return async (token) => {
    const cached = known.get(token);
    if (cached !== undefined) {
      if (cached.expires > Date.now()) return cached.claims;
      known.delete(token);
      return undefined;
    }
    try {
      // Naming the algorithm is what refuses `alg: none` and tokens signed with another kind of key.
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        audience: AUDIENCE,
        requiredClaims: ['exp'],
      });
      const { scope, tenant } = payload;
      if (typeof scope !== 'string' || (tenant !== undefined && typeof tenant !== 'string')) return undefined;
      const claims = { scope, tenant: tenant ?? null };
      if (known.size >= CACHED_TOKENS) known.clear();
      known.set(token, { claims, expires: (payload.exp ?? 0) * 1000 });
      return claims;
    } catch {
      return undefined;
    }
  };
}

function secretKey(secret: string): Uint8Array {
  if (secret === '') throw new Error('the secret that signs tokens is empty; set one of 32 characters or more');
  return new TextEncoder().encode(secret);
}
