/** The network of a campaign: what passes, what does not, and what a request meets. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';

interface Proxy {
  readonly port: number;
  cut(): void;
  hamper(way: 'up' | 'down' | 'both', how: { held?: boolean; delayMs?: number; bytesPerSecond?: number }): void;
  meddle(decide: (() => 'lost request' | 'lost response' | 'slow' | undefined) | undefined): void;
  heal(): void;
  close(): void;
}

const { startProxy } = (await import(new URL('../../scripts/campaign/proxy.mjs', import.meta.url).href)) as {
  readonly startProxy: (target: number) => Promise<Proxy>;
};

/** A server that counts its requests, behind a proxy. */
async function behindProxy(): Promise<{ proxy: Proxy; received: () => number; get: () => Promise<string> }> {
  let received = 0;
  const server = createServer((_request, response) => {
    received++;
    response.setHeader('connection', 'close').end('here');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startProxy((server.address() as AddressInfo).port);
  onTestFinished(() => {
    proxy.close();
    server.close();
  });
  const get = async (): Promise<string> => {
    const socket: Socket = connect(proxy.port, '127.0.0.1').setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
    let answer = '';
    socket.on('data', (text: string) => (answer += text));
    await once(socket, 'close');
    return answer.endsWith('here\r\n0\r\n\r\n') || answer.endsWith('here') ? 'here' : 'nothing';
  };
  return { proxy, received: () => received, get };
}

it('lets requests and responses pass', async () => {
  const { get, received } = await behindProxy();

  expect(await get()).toBe('here');
  expect(received()).toBe(1);
});

it('refuses all while it is cut, and none once it is healed', async () => {
  const { proxy, get, received } = await behindProxy();
  proxy.cut();

  expect(await get()).toBe('nothing');
  expect(received()).toBe(0);
  proxy.heal();
  expect(await get()).toBe('here');
});

it.each([
  ['up', 0],
  ['down', 1],
] as const)('holds up what goes %s, until it is healed', async (way, reached) => {
  const { proxy, get, received } = await behindProxy();
  proxy.hamper(way, { held: true });
  let answer: string | undefined;
  const asked = get().then((text) => (answer = text));
  // Another request to a proxy in good order is answered meanwhile, so this one has had its time.
  const other = await behindProxy();
  for (let i = 0; i < 5; i++) await other.get();

  expect({ answer, received: received() }).toEqual({ answer: undefined, received: reached });
  proxy.heal();
  await asked;
  expect({ answer, received: received() }).toEqual({ answer: 'here', received: 1 });
});

it.each([
  ['lost request', 0],
  ['lost response', 1],
] as const)('loses the connection of a request: %s', async (fault, reached) => {
  const { proxy, get, received } = await behindProxy();
  let decided = 0;
  proxy.meddle(() => (decided++ === 0 ? fault : undefined));

  expect(await get()).toBe('nothing');
  expect(received()).toBe(reached);
  expect(await get()).toBe('here');
});
