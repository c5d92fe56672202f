/** A TCP proxy that can be cut, as a network between two machines can. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TcpProxy {
  /** `127.0.0.1:<port>`. */
  readonly address: string;
  /** Closes all connections, and each new one at once. */
  cut(): void;
  /** Closes all connections, and lets new ones wait for ever, as a firewall does that drops packets. */
  silence(): void;
  restore(): void;
}

/** Forwards to `target` (`host:port`) until the test ends. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const [host = '', port = ''] = target.split(':');
  const open = new Set<Socket>();
  let state: 'open' | 'cut' | 'silent' = 'open';
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy();
    if (state === 'silent') return void open.add(client.on('error', () => undefined));
    const upstream = connect(Number(port), host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  const closeAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    closeAll();
    server.close();
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      state = 'cut';
      closeAll();
    },
    silence() {
      state = 'silent';
      closeAll();
    },
    restore() {
      state = 'open';
    },
  };
}
