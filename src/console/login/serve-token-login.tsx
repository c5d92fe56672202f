/** Logs people in who know the console's token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { renderDocument } from '../../report/html-document.js';
import { Document } from '../layout.js';
import { nextPage } from './next-page.js';
import type { Sessions } from './session.js';

/** The name of whoever logs in: nobody knows more of them. */
const USER = 'somebody with the token';

const OPEN = { config: { open: true } };

export function serveTokenLogin(app: FastifyInstance, token: string, sessions: Sessions): void {
  const show = (reply: FastifyReply, next: unknown, wrong: boolean) =>
    reply
      .status(wrong ? 401 : 200)
      .type('text/html; charset=utf-8')
      .send(renderDocument(<LoginForm next={nextPage(next)} wrong={wrong} />));
  app.get<{ Querystring: { next?: unknown } }>('/login', OPEN, (request, reply) =>
    show(reply, request.query.next, false),
  );
  app.post<{ Body: { token?: string; next?: string } | undefined }>('/login', OPEN, async (request, reply) => {
    const { token: given = '', next } = request.body ?? {};
    if (!isEqual(given, token)) return show(reply, next, true);
    return reply.header('set-cookie', await sessions.begin(USER)).redirect(nextPage(next), 303);
  });
}

/** Compares without telling by its time how much is equal. */
function isEqual(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

const LoginForm = ({ next, wrong }: { readonly next: string; readonly wrong: boolean }) => (
  <Document title="Log in">
    <main id="main" tabIndex={-1}>
      <h1>Log in</h1>
      <form method="post" action="/login">
        {wrong ? (
          <div class="notice bad" role="alert">
            <p>This is not the console's token.</p>
          </div>
        ) : null}
        <input type="hidden" name="next" value={next} />
        <label for="token">Token (PARTNER_SYNC_CONSOLE_TOKEN)</label>
        <input id="token" name="token" type="password" autoComplete="current-password" required />
        <div class="actions">
          <button type="submit" class="primary">
            Log in
          </button>
        </div>
      </form>
    </main>
  </Document>
);
