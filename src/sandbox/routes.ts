/** Registers a route for every operation of the contract. */
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../platform/contract/operation.js';
import { operations, type OperationName } from '../platform/contract/operations.js';
import type { Authenticate } from './authentication.js';
import type { Answer, Services } from './handlers/handler.js';
import { handlers } from './handlers/table.js';
import { requestValidator } from './request-validation.js';

/** "Resource and batch-upload operations" (section 1): those whose sections list the alternative error shape. */
const ALTERNATIVE_ERRORS: readonly string[] = ['4.5', '4.8', '4.10'];

/** A handler whose own types {@link requestValidator} and {@link Authenticate} have established at run time. */
type AnyHandler = (call: object, services: Services) => Promise<Answer>;

export function registerOperations(app: FastifyInstance, authenticate: Authenticate, services: Services): void {
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
    const validate = requestValidator(operation, services.settings.parameterNames);
    const handle = handlers[name] as unknown as AnyHandler;
    app.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { alternativeErrors: ALTERNATIVE_ERRORS.includes(operation.section) },
      // Before the body is read: a stranger cannot make the server parse megabytes.
      onRequest: async (request) => {
        request.tenant = await authenticate(request, operation.scope);
      },
      handler: async (request, reply) => {
        const valid = validate({
          params: request.params,
          query: request.query as Record<string, unknown>,
          body: request.body,
        });
        const { bodyText, tenant } = request;
        const { message, data } = await handle({ ...valid, bodyText, tenant }, services);
        return reply.status(operation.status).send({ success: true, message, data });
      },
    });
  }
}
