/** The HTTP side: Fastify with the sandbox's own body parser, host check and error envelopes. */
import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { hostCheck } from './host-check.js';
import type { Operation } from '../platform/contract/operation.js';
import { refusalStatus, type RefusalKind } from '../platform/contract/refusals.js';
import { errorBody, Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';
import type { Tenant } from './tenants.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for storing it unchanged. */
    bodyText: string;
    tenant: Tenant | null;
  }
  interface FastifyContextConfig {
    /** What the route serves; undefined for documents and the like. */
    operation?: Operation;
  }
}

/** Longer than the longest external id (512 characters) once it is percent-encoded; Fastify's default is 100. */
const MAX_PATH_PARAMETER = 8_192;

export function createHttpServer(host: string, settings: SandboxSettings, logger: Logger): FastifyInstance {
  const { statuses, longest } = settings;
  const app = Fastify({
    logger: false,
    bodyLimit: settings.maxBodyBytes,
    exposeHeadRoutes: false,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER },
    frameworkErrors: (error, _request, reply) => {
      const answer = reply as unknown as FastifyReply; // its own type knows no bodies
      void answer.status(error.statusCode ?? 400).send(errorBody('standard', error.message, [], longest.errors));
    },
  });
  app.decorateRequest('bodyText', '');
  app.decorateRequest('tenant', null);
  parseJsonBodies(app);

  const checkHost = hostCheck(host, settings.allowedHosts);
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
      // Without PostgreSQL's detail, which quotes values of rows.
      logger.error({ ...place, reason: error.message, stack: error.stack }, 'a request failed');
      return reply
        .status(status)
        .send(errorBody(shape, 'the sandbox failed; its log has the reason', [], longest.errors));
    }
    // Only words of our own: a parser quotes the body, and the 404 of a resource names its external id.
    const reason = error instanceof Refusal && error.kind !== 'notFound' ? { reason: error.message } : {};
    logger.info({ ...place, ...reason }, 'a request was refused');
    const { errors, headers } = error instanceof Refusal ? error : { errors: [], headers: {} };
    if (status === 401) void reply.header('www-authenticate', settings.authScheme || 'Token');
    const message = error instanceof Refusal ? error.message : wordsOf(error, settings);
    return reply
      .status(status)
      .headers(headers)
      .send(errorBody(shape, message, errors, longest.errors));
  });
  app.get('/health', () => ({ status: 'ok' }));
  // For whoever opens its address in a browser.
  app.get('/', (_request, reply) => reply.redirect('/reference'));
  return app;
}

/** Kinds of refusals that Fastify itself throws. */
const KINDS: Readonly<Record<number, RefusalKind>> = { 400: 'invalid', 413: 'tooLarge', 415: 'notJson' };

/** What Fastify says too briefly, with what to do about it. */
function wordsOf(error: FastifyError, { maxBodyBytes }: SandboxSettings): string {
  if (error.statusCode === 413) return `the body is larger than ${maxBodyBytes} bytes`;
  return error.statusCode === 415 ? 'the body must be JSON, with the content-type application/json' : error.message;
}

function statusOf(
  error: FastifyError | Refusal,
  operation: Operation | undefined,
  { statuses }: SandboxSettings,
): number {
  const kind = error instanceof Refusal ? error.kind : KINDS[error.statusCode ?? 500];
  if (kind === undefined) return (error as FastifyError).statusCode ?? 500;
  return kind === 'notUnderstood' ? statuses.notUnderstood : refusalStatus(operation ?? {}, kind, statuses);
}

/** Bodies are JSON in UTF-8. What is not is a 400 rather than text with replacement characters in it. */
function parseJsonBodies(app: FastifyInstance): void {
  // Refuses "__proto__" as a name: merged into an object it would not be a field.
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
