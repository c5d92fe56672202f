/** Registers a route for every operation of the contract. */
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../platform/contract/operation.js';
import { operations } from '../platform/contract/operations.js';
import { successStatus } from '../platform/contract/refusals.js';
import type { Authenticate } from './authentication.js';
import type { OperationResponse, Services } from './handlers/handler.js';
import { handlers } from './handlers/table.js';
import { requestValidator } from './request-validation.js';
import { createRateLimit } from './rate-limit.js';
import { responseForm } from './response-form.js';

/**
 * A handler without its specific types, which {@link requestValidator} and {@link Authenticate} check at run time.
 */
type AnyHandler = (call: object, services: Services) => Promise<OperationResponse>;

/**
 * Registers the routes. A request is rate-limited, authenticated and validated, in that order, before its handler runs;
 * the response is wrapped in the envelope of section 1 unless the operation is flat.
 */
export function registerOperations(app: FastifyInstance, authenticate: Authenticate, services: Services): void {
  const { settings } = services;
  const limitRate = createRateLimit(settings.rateLimit);
  for (const name of Object.keys(handlers) as (keyof typeof handlers)[]) {
    const operation: Operation = operations[name];
    const validate = requestValidator(name, operation, settings);
    const handle = handlers[name] as unknown as AnyHandler;
    const show = responseForm(operation, settings);
    const status = successStatus(operation, settings.statuses);
    app.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { operation },
      // Runs before the body is read, so that unauthenticated callers cannot make the server parse megabytes.
      onRequest: async (request) => {
        limitRate(String(request.headers[settings.authHeader.toLowerCase()]));
        request.tenant = await authenticate(request, operation);
      },
      handler: async (request, reply) => {
        const valid = validate({
          params: request.params,
          query: request.query as Record<string, unknown>,
          body: request.body,
        });
        const { bodyText, tenant } = request;
        const { message = operation.summary, data } = await handle({ ...valid, bodyText, tenant }, services);
        return reply.status(status).send(operation.flat ? show(data) : { success: true, message, data: show(data) });
      },
    });
  }
}
