/** The console's HTTP server: pages, the actions that people confirm on them, and what makes both safe. */
import Fastify, { type FastifyInstance } from 'fastify';
import type { ViewParts } from '../composition/parts.js';
import { PartnerSyncError } from '../domain/errors.js';
import { milliseconds } from '../domain/timeouts.js';
import { cachedFor } from '../observability/cached-for.js';
import { renderDocument } from '../report/html-document.js';
import { serveAssets } from './assets.js';
import type { ConsoleSettings } from './console-settings.js';
import { errorPage } from './error-page.js';
import { Layout } from './layout.js';
import { openLogin, userOf } from './login/open-login.js';
import { PAGES } from './pages.js';
import { readOverview } from './pages/overview.js';
import type { SendPage } from './send-page.js';
import { secure } from './security.js';
import { serveActions, type ActionParts } from './actions/serve-actions.js';

/** A running console. */
export interface Console {
  /** Base URL without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** What a console works with. */
export interface ConsoleParts {
  readonly views: ViewParts;
  readonly actions: ActionParts;
}

/** Starts a console. Throws `config_invalid` if it cannot listen at the address. */
export async function serveConsole(settings: ConsoleSettings, parts: ConsoleParts): Promise<Console> {
  const app = Fastify({ logger: false, bodyLimit: 64 * 1024, trustProxy: false });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
  secure(app, settings);
  const send: SendPage = (request, reply, content, status = 200) =>
    reply
      .status(status)
      .type('text/html; charset=utf-8')
      .send(renderDocument(Layout({ content, settings, path: request.url.split('?')[0]!, user: userOf(request) })));
  await serveAssets(app);
  openLogin(app, settings);
  servePages(app, settings, parts.views, send);
  if (settings.allowActions) serveActions(app, parts.actions, send);
  app.setNotFoundHandler((request, reply) =>
    send(request, reply, errorPage(new PartnerSyncError('input_invalid', 'there is no such page')).content, 404),
  );
  app.setErrorHandler((error, request, reply) => {
    const { status, content } = errorPage(error);
    return send(request, reply, content, status);
  });
  app.addHook('onClose', () => parts.actions.jobs.close());
  try {
    await app.listen({ host: settings.host, port: settings.port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new PartnerSyncError(
      'config_invalid',
      `the console cannot listen on ${settings.host}, port ${settings.port} (${code ?? 'unknown'}); choose another with --port`,
      {},
      { cause },
    );
  }
  return { url: urlOf(app, settings.host), close: () => app.close() };
}

function servePages(app: FastifyInstance, settings: ConsoleSettings, views: ViewParts, send: SendPage): void {
  const overview = cachedFor(milliseconds('consoleOverview') / 2, () => readOverview(views));
  // The first page comes as fast as the others. If it fails, whoever asks for it sees why.
  overview().catch(() => undefined);
  for (const { path, load } of PAGES)
    app.get<{ Params: Record<string, string>; Querystring: Record<string, string | string[]> }>(
      path,
      async (request, reply) => {
        const query = Object.fromEntries(
          Object.entries(request.query).map(([name, value]) => [name, Array.isArray(value) ? value[0]! : value]),
        );
        return send(request, reply, await load({ parts: views, overview, settings, params: request.params, query }));
      },
    );
}

function urlOf(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
