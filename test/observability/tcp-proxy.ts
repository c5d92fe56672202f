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
  /** Closes all connections, and listens no more, so that new ones are refused, as by a server that was stopped. */
  stop(): void;
  restore(): Promise<void>;
  close(): void;
}

/** Forwards to `target` (`host:port`) until the test ends, or until it is closed in a hook of the file if `untilTold`. */
export async function startTcpProxy(target: string, untilTold = false): Promise<TcpProxy> {
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
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const close = (): void => {
    server.close();
    closeAll();
  };
  if (!untilTold) onTestFinished(close);
  return {
    address: `127.0.0.1:${own}`,
    cut() {
      state = 'cut';
      closeAll();
    },
    silence() {
      state = 'silent';
      closeAll();
    },
    stop: close,
    close,
    async restore() {
      if (!server.listening) await listen(own);
      // What was accepted in silence is never answered.
      if (state === 'silent') closeAll();
      state = 'open';
    },
  };
}
