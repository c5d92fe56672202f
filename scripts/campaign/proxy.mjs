/**
 * A network between two parts of a campaign: a TCP proxy whose two directions can each be cut, held up or slowed down.
 * `up` is what a worker sends, `down` is what it receives.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const WELL = { held: false, delayMs: 0, bytesPerSecond: Infinity };

/**
 * @param {number} target port on this machine
 * @returns a proxy that lets everything pass until it is told otherwise
 */
export async function startProxy(target) {
  const open = new Set();
  const ways = { up: { ...WELL }, down: { ...WELL } };
  let isCut = false;
  /** Decides about each request that passes; see `meddle`. */
  let meddler;
  // Half-open: what one side has sent before it ended is still carried, as it would be on its way through a network.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isCut) return void client.destroy();
    const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    for (const [way, from, to] of [
      ['up', client, upstream],
      ['down', upstream, client],
    ]) {
      open.add(from);
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('close', () => open.delete(from));
      // Nobody receives it any more.
      to.on('close', () => from.destroy());
      void carry(way, from, to);
    }
  });

  async function carry(way, from, to) {
    try {
      for await (const bytes of from) {
        const { delayMs, bytesPerSecond } = ways[way];
        const ms = delayMs + (bytes.length / bytesPerSecond) * 1000;
        if (ms > 0) await sleep(ms);
        while (ways[way].held) await sleep(50);
        const fault = way === 'up' && isRequest(bytes) ? meddler?.() : undefined;
        if (fault === 'lost request') return void from.destroy();
        if (fault === 'slow') await sleep(1000);
        if (!to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
        if (fault === 'lost response') return void setTimeout(() => from.destroy(), 5);
      }
      to.end();
    } catch {
      // The connection of one of the two was lost.
      to.destroy();
    }
  }

  const closeAll = () => {
    for (const socket of open) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: server.address().port,
    /** Closes all connections, and each new one at once. */
    cut() {
      isCut = true;
      closeAll();
    },
    /** Changes one direction, or both: `{ held: true }` lets nothing pass and closes nothing, as a lost route does. */
    hamper(way, how) {
      for (const each of way === 'both' ? ['up', 'down'] : [way]) Object.assign(ways[each], how);
    },
    /** `decide` returns what happens to the next HTTP request: `lost request`, `lost response`, `slow`, or undefined. */
    meddle(decide) {
      meddler = decide;
    },
    heal() {
      isCut = false;
      for (const way of Object.values(ways)) Object.assign(way, WELL);
    },
    close() {
      server.close();
      closeAll();
    },
  };
}

/** Whether these bytes begin a request of HTTP: clients send its head in one piece. */
const isRequest = (bytes) => /^(GET|POST) \//.test(bytes.subarray(0, 6).toString('latin1'));
