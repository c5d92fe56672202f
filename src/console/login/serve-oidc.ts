/** Logs people in through a provider of OpenID Connect (authorization code flow with PKCE). */
import type { FastifyInstance } from 'fastify';
import * as oidc from 'openid-client';
import { seconds } from '../../domain/timeouts.js';
import { TurnedAway } from '../turned-away.js';
import { nextPage } from './next-page.js';
import type { OidcSettings } from './oidc-settings.js';
import type { Sessions } from './session.js';

const OPEN = { config: { open: true } };
const CALLBACK = '/login/callback';

/** Logins that have been begun and are remembered; the oldest are forgotten. */
const MOST_BEGUN = 1000;

interface Begun {
  readonly verifier: string;
  readonly nonce: string;
  readonly next: string;
}

export function serveOidc(
  app: FastifyInstance,
  settings: OidcSettings,
  sessions: Sessions,
  { secure }: { readonly secure: boolean },
): void {
  const begun = new Map<string, Begun>();
  const provider = discovering(settings);
  app.get<{ Querystring: { next?: unknown } }>('/login', OPEN, async (request, reply) => {
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    begun.set(state, { verifier, nonce, next: nextPage(request.query.next) });
    for (const each of begun.keys()) if (begun.size > MOST_BEGUN) begun.delete(each);
    const address = oidc.buildAuthorizationUrl(await provider(), {
      redirect_uri: `${settings.consoleUrl}${CALLBACK}`,
      scope: 'openid email',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    // Only the browser that has begun a login may end it: else somebody could log another person in as themselves.
    const cookie = `${beginning(state)}; Max-Age=${seconds('consoleLogin')}; Path=${CALLBACK}; HttpOnly; SameSite=Lax`;
    return reply.header('set-cookie', `${cookie}${secure ? '; Secure' : ''}`).redirect(address.href, 303);
  });
  app.get<{ Querystring: { state?: unknown } }>(CALLBACK, OPEN, async (request, reply) => {
    const state = String(request.query.state);
    const login = begun.get(state);
    begun.delete(state);
    const cookies = (request.headers.cookie ?? '').split(/; */);
    if (login === undefined || !cookies.includes(beginning(state)))
      throw new TurnedAway(403, 'this login was not begun here, or too long ago: open the console again');
    const tokens = await oidc
      .authorizationCodeGrant(await provider(), new URL(request.url, settings.consoleUrl), {
        pkceCodeVerifier: login.verifier,
        expectedNonce: login.nonce,
        expectedState: state,
      })
      .catch(() => {
        throw new TurnedAway(403, 'the provider has not confirmed the login');
      });
    const user = userIn(tokens.claims(), settings.users);
    return reply.header('set-cookie', await sessions.begin(user)).redirect(login.next, 303);
  });
}

/** The cookie of a login that a browser has begun. */
const beginning = (state: string): string => `partner-sync-login-${state}=begun`;

/** What the provider says of itself: asked for at the first login, and again after a failure. */
function discovering({ issuer, clientId, clientSecret }: OidcSettings): () => Promise<oidc.Configuration> {
  let discovered: Promise<oidc.Configuration> | undefined;
  // Without encryption only to a provider on this machine, as in tests.
  const isLocal = ['127.0.0.1', 'localhost'].includes(new URL(issuer).hostname);
  const how = isLocal ? { execute: [oidc.allowInsecureRequests] } : undefined;
  return () => {
    if (discovered !== undefined) return discovered;
    discovered = oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, how);
    discovered.catch(() => (discovered = undefined));
    return discovered;
  };
}

/** The mail address of a user who may log in. Throws {@link TurnedAway} for all others. */
function userIn(claims: oidc.IDToken | undefined, users: readonly string[]): string {
  const { email, email_verified: verified }: Partial<oidc.IDToken> = claims ?? {};
  if (typeof email !== 'string' || verified !== true)
    throw new TurnedAway(403, 'the provider does not vouch for the mail address of this user');
  const address = email.toLowerCase();
  const named = users.map((user) => user.toLowerCase());
  if (!named.some((user) => (user.startsWith('@') ? address.endsWith(user) : address === user)))
    throw new TurnedAway(403, 'this user may not use the console: PARTNER_SYNC_CONSOLE_OIDC_USERS does not name them');
  return email;
}
