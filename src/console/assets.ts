/** The files that pages refer to. Browsers ask again only whether they have changed. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';

const FILES = {
  'console.css': 'text/css; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

export async function serveAssets(app: FastifyInstance): Promise<void> {
  for (const [name, type] of Object.entries(FILES)) {
    const content = await readFile(new URL(`./assets/${name}`, import.meta.url));
    const etag = `"${createHash('sha256').update(content).digest('base64url')}"`;
    app.get(`/assets/${name}`, { config: { open: true } }, (request, reply) => {
      void reply.headers({ 'cache-control': 'no-cache', etag });
      return request.headers['if-none-match'] === etag ? reply.status(304).send() : reply.type(type).send(content);
    });
  }
}
