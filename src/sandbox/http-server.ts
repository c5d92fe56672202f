/** The HTTP layer: Fastify with the sandbox's JSON parser, host check and error envelopes (section 7). */
import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { createHostCheck } from './host-check.js';
import type { Operation } from '../platform/contract/operation.js';
import { refusalStatus, type RefusalKind } from '../platform/contract/refusals.js';
import { errorBody, Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';
import type { Tenant } from './tenants.js';
import { milliseconds } from '../domain/timeouts.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body exactly as received: batches store it unchanged. */
    bodyText: string;
    /** The tenant that the call acts for; set by authentication. */
    tenant: Tenant | null;
  }
  interface FastifyContextConfig {
    /** The operation that the route serves; undefined for the documentation and health routes. */
    operation?: Operation;
  }
}

/** Characters. Fits the longest external id (512 characters) when it is percent-encoded; Fastify's default is 100. */
const MAX_PATH_PARAMETER = 8_192;

/**
 * Creates a server without operations that sends every error in an envelope of section 7, also for an unknown path or a
 * malformed body. It does not listen yet, and logs neither bodies nor values of rows.
 */
export function createHttpServer(host: string, settings: SandboxSettings, logger: Logger): FastifyInstance {
  const { statuses, longest } = settings;
  const app = Fastify({
    logger: false,
    bodyLimit: settings.maxBodyBytes,
    requestTimeout: milliseconds('sandboxRequest'),
    exposeHeadRoutes: false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER },
    frameworkErrors: (error, _request, reply) => {
      const withBody = reply as unknown as FastifyReply; // this reply's type does not allow a body
      void withBody.status(error.statusCode ?? 400).send(errorBody('standard', error.message, [], longest.errors));
    },
  });
  app.decorateRequest('bodyText', '');
  app.decorateRequest('tenant', null);
  parseJsonBodies(app);

  const checkHost = createHostCheck(host, settings.allowedHosts);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    checkHost(request.headers.host);
    done();
  });

  app.setNotFoundHandler((request, reply) => {
    const message = `no operation ${request.method} ${pathOf(request)}; /reference lists them all`;
    void reply.status(statuses.notFound).send(errorBody('standard', message, [], longest.errors));
  });
  app.setErrorHandler((error: FastifyError | Refusal, request, reply) => {
    const { operation } = request.routeOptions.config;
    const shape = operation?.alternativeErrors === true ? settings.errorShape : 'standard';
    const status = statusOf(error, operation, settings);
    const place = { requestId: request.id, method: request.method, route: request.routeOptions.url ?? null, status };
    if (status >= 500) {
      // The message only: PostgreSQL's detail quotes values of rows.
      logger.error({ ...place, reason: error.message, stack: error.stack }, 'a request failed');
      return reply
        .status(status)
        .send(errorBody(shape, 'the sandbox failed; its log has the reason', [], longest.errors));
    }
    // Only messages that hold no tenant data are logged: a parser quotes the body, and a 404 names the external id.
    const reason = error instanceof Refusal && error.kind !== 'notFound' ? { reason: error.message } : {};
    logger.info({ ...place, ...reason }, 'a request was refused');
    const { errors, headers } = error instanceof Refusal ? error : { errors: [], headers: {} };
    if (status === 401) void reply.header('www-authenticate', settings.authScheme || 'Token');
    const message = error instanceof Refusal ? error.message : messageOf(error, settings);
    return reply
      .status(status)
      .headers(headers)
      .send(errorBody(shape, message, errors, longest.errors));
  });
  app.get('/health', () => ({ status: 'ok' }));
  // Opened in a browser, the bare address leads to the documentation.
  app.get('/', (_request, reply) => reply.redirect('/reference'));
  return app;
}

/** The errors that Fastify itself raises, by status, as kinds of refusal. */
const KINDS: Readonly<Record<number, RefusalKind>> = { 400: 'invalid', 413: 'tooLarge', 415: 'notJson' };

/** The message of an error of Fastify, replaced if it is too terse to act on. */
function messageOf(error: FastifyError, { maxBodyBytes }: SandboxSettings): string {
  if (error.statusCode === 413) return `the body is larger than ${maxBodyBytes} bytes`;
  return error.statusCode === 415 ? 'the body must be JSON, with the content-type application/json' : error.message;
}

/** The HTTP status of an error. Kinds of refusal map to the statuses of the settings; anything unexpected is a 500. */
function statusOf(
  error: FastifyError | Refusal,
  operation: Operation | undefined,
  { statuses }: SandboxSettings,
): number {
  const kind = error instanceof Refusal ? error.kind : KINDS[error.statusCode ?? 500];
  if (kind === undefined) return (error as FastifyError).statusCode ?? 500;
  return kind === 'notUnderstood' ? statuses.notUnderstood : refusalStatus(operation ?? {}, kind, statuses);
}

/**
 * Installs a parser for JSON in strict UTF-8. Invalid UTF-8 is refused instead of being stored with replacement
 * characters.
 */
function parseJsonBodies(app: FastifyInstance): void {
  // Refuses the name "__proto__", which would change an object's prototype instead of adding a field.
  const parseJson = app.getDefaultJsonParser('error', 'ignore');
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      request.bodyText = utf8.decode(body);
    } catch {
      done(new Refusal('invalid', 'the body is not UTF-8 text'));
      return;
    }
    // The parser's own errors have status 400.
    void parseJson(request, request.bodyText, done);
  });
}

const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? '';
