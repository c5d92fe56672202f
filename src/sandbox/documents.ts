/**
 * Serves the sandbox's documentation: `/openapi.json`, and `/reference`, a page for reading about and trying the
 * operations.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../platform/contract/openapi.js';
import type { SandboxSettings } from './settings.js';

/**
 * Restricts the page to this server. It needs nothing from the internet, and the policy makes the browser enforce that.
 */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Messaging platform: reference</title>
    <link rel="stylesheet" href="/reference/swagger-ui.css" />
    <link rel="icon" href="/reference/swagger-ui-favicon.png" />
  </head>
  <body>
    <div id="reference"></div>
    <script src="/reference/swagger-ui-bundle.js"></script>
    <script src="/reference/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  displayOperationId: true,
});
`;

/** The files of Swagger UI that the page loads, as the build has copied them, with their content types. */
const ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-favicon.png': 'image/png',
} as const;

/**
 * Registers both documents as routes that need no token, since they contain no tenant's data. The settings determine
 * parameter names and statuses in the OpenAPI document.
 */
export function registerDocuments(app: FastifyInstance, settings: SandboxSettings): void {
  const document = openApiDocument(settings);
  app.get('/openapi.json', () => document);
  const html = { type: 'text/html; charset=utf-8', text: PAGE };
  const start = { type: 'text/javascript; charset=utf-8', text: START };
  for (const [path, { type, text }] of Object.entries({ '/reference': html, '/reference/start.js': start }))
    app.get(path, (_request, reply) => reply.header('content-security-policy', CONTENT_POLICY).type(type).send(text));
  const { resolve } = createRequire(import.meta.url);
  for (const [file, type] of Object.entries(ASSETS))
    app.get(`/reference/${file}`, async (_request, reply) =>
      reply.type(type).send(await readFile(resolve(`#third-party/${file}`))),
    );
}
