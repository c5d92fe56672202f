/** The files that pages refer to. Browsers ask again only whether they have changed. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { STYLESHEET } from '../report/stylesheet.js';

const FILES = {
  'console.css': 'text/css; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

/** How reports look, as in the file that `partner-sync report` writes. */
const REPORT_STYLES = ['report.css', FILES['console.css'], Buffer.from(STYLESHEET)] as const;

export async function serveAssets(app: FastifyInstance): Promise<void> {
  const files = Object.entries(FILES).map(
    async ([name, type]) => [name, type, await readFile(new URL(`./assets/${name}`, import.meta.url))] as const,
  );
  for (const [name, type, content] of [...(await Promise.all(files)), REPORT_STYLES]) {
    const etag = `"${createHash('sha256').update(content).digest('base64url')}"`;
    app.get(`/assets/${name}`, { config: { open: true } }, (request, reply) => {
      void reply.headers({ 'cache-control': 'no-cache', etag });
      return request.headers['if-none-match'] === etag ? reply.status(304).send() : reply.type(type).send(content);
    });
  }
}
