/** What browsers are told, and which requests are turned away, so that no other page can use the console. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createOwnHost } from '../domain/values/own-host.js';
import type { ConsoleSettings } from './console-settings.js';
import { TurnedAway } from './turned-away.js';

/** Nothing is loaded from elsewhere, no inline script or style runs, no other page may frame the console or post to it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // What one operator sees is nobody else's: not even a shared cache's. Assets say otherwise themselves.
  'cache-control': 'no-store',
} as const;

/** Whether only this machine can reach an address to listen on. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);

/** Adds the headers to every response, and the checks to every request. */
export function secure(
  app: FastifyInstance,
  { host, allowedHosts }: Pick<ConsoleSettings, 'host' | 'allowedHosts'>,
): void {
  const isOwn = createOwnHost(host, allowedHosts);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(HEADERS);
    if (!isOwn(request.headers.host)) throw new TurnedAway(403, ANOTHER_HOST);
    if (request.method !== 'GET' && request.method !== 'HEAD') assertSameOrigin(request);
    done();
  });
}

const ANOTHER_HOST =
  'the Host header names another server: open the console by localhost, or start it with --allow-host';

/** A form of another site must not do anything here. Browsers send `Origin` with every POST. */
function assertSameOrigin({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const origin = headers.origin;
  const sameSite = site === undefined || site === 'same-origin';
  if (!sameSite || origin === undefined || !URL.canParse(origin) || new URL(origin).host !== headers.host)
    throw new TurnedAway(403, 'the request comes from another site');
}
