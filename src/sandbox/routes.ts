/** Registers a route for every operation of the contract that has a handler. */
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../platform/contract/operation.js';
import { operations } from '../platform/contract/operations.js';
import type { Authenticate } from './authentication.js';
import type { Answer, Services } from './handlers/handler.js';
import { handlers } from './handlers/table.js';
import { requestValidator } from './request-validation.js';
import { answerNames } from './twin-names.js';

/** A handler whose own types {@link requestValidator} and {@link Authenticate} have established at run time. */
type AnyHandler = (call: object, services: Services) => Promise<Answer>;

export function registerOperations(app: FastifyInstance, authenticate: Authenticate, services: Services): void {
  for (const name of Object.keys(handlers) as (keyof typeof handlers)[]) {
    const operation: Operation = operations[name];
    const validate = requestValidator(operation, services.settings.parameterNames);
    const handle = handlers[name] as unknown as AnyHandler;
    const named = answerNames(operation, services.settings.fieldNames);
    app.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { alternativeErrors: operation.alternativeErrors === true },
      // Before the body is read: a stranger cannot make the server parse megabytes.
      onRequest: async (request) => {
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
        return reply
          .status(operation.status)
          .send(operation.flat ? named(data) : { success: true, message, data: named(data) });
      },
    });
  }
}
