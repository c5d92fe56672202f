/** What a worker serves for monitoring stays up whatever is sent to it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../src/embedded/ports.js';
import { serveMonitoring } from '../../src/worker/monitoring-server.js';

/** The first line of the answer to a request for `target`, exactly as it is written here: clients would tidy it up. */
async function statusLine(port: number, target: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.end(`GET ${target} HTTP/1.1\r\nHost: worker\r\nConnection: close\r\n\r\n`);
  return (await text(socket)).split('\r\n')[0]!;
}

it('answers whatever is asked for, and goes on', async () => {
  const port = await freePort();
  const metrics = { text: () => Promise.resolve(''), contentType: 'text/plain' };
  const server = await serveMonitoring({ host: '127.0.0.1', port }, metrics, () => Promise.resolve(null));
  onTestFinished(() => server.close());
  for (const target of ['//', '///', '//?', '/%', '/%zz', '/\\', '/__proto__', '*', '?', 'http://', 'http://[/live'])
    expect(await statusLine(port, target), target).toMatch(/^HTTP\/1\.1 (404 Not Found|400 Bad Request)$/);
  expect(await statusLine(port, '/live?from=a%20scraper')).toBe('HTTP/1.1 200 OK');
});
