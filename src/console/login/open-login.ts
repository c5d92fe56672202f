/** Lets nobody see a page who has not logged in, where the console was started with a login. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConsoleSettings } from '../console-settings.js';
import { serveOidc } from './serve-oidc.js';
import { serveTokenLogin } from './serve-token-login.js';
import { openSessions } from './session.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who has logged in; null where nobody has to. */
    user: string | null;
  }
  interface FastifyContextConfig {
    /** Whether the route is served to people who have not logged in. */
    open?: boolean;
  }
}

/** Who has logged in; null where nobody has to. */
export const userOf = (request: FastifyRequest): string | null => request.user;

export function openLogin(app: FastifyInstance, { login }: Pick<ConsoleSettings, 'login'>): void {
  app.decorateRequest('user', null);
  if (login === null) return;
  const { consoleUrl } = login.kind === 'oidc' ? login.oidc : login;
  const secure = consoleUrl?.startsWith('https:') === true;
  const sessions = openSessions({ secure });
  app.addHook('onRequest', async (request, reply) => {
    request.user = await sessions.userOf(request.headers.cookie);
    if (request.user !== null || request.routeOptions.config.open === true) return;
    const next = request.method === 'GET' ? request.url : '/';
    await reply.redirect(`/login?next=${encodeURIComponent(next)}`, 303);
  });
  app.post('/logout', (_request, reply) => reply.header('set-cookie', sessions.end).redirect('/', 303));
  if (login.kind === 'oidc') serveOidc(app, login.oidc, sessions, { secure });
  else serveTokenLogin(app, login.token, sessions);
}
