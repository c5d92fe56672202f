/** The faults of a campaign beside kills of workers. Each lasts some seconds, and is over when its promise resolves. */
import { setTimeout as sleep } from 'node:timers/promises';
import { oneOf } from './random.mjs';

/** A frozen worker misses heartbeats for longer than their timeout of ten seconds. */
const freeze = async ({ workers, random }) => {
  const living = workers.living();
  if (living.length === 0) return;
  const { process } = oneOf(random, living);
  process.signal('SIGSTOP');
  await sleep(11_000 + random(8000));
  process.signal('SIGCONT');
};

/** PostgreSQL gets its immediate shutdown as often as a kill of its first process. */
const crash =
  (name, signals = ['SIGKILL']) =>
  ({ servers, random }) =>
    servers.crash(name, oneOf(random, signals), random(4000));

/** Upload requests that are held up reach the platform later: never later than `upload.inDoubtDelay` allows. */
const LONGEST_HOLD_MS = 8000;

const network =
  (name, begin) =>
  async ({ servers, random }) => {
    const proxy = servers.proxies[name];
    begin(proxy, random);
    await sleep(2000 + random(LONGEST_HOLD_MS - 2000));
    proxy.heal();
  };

const cut = (proxy) => proxy.cut();
const hold = (way) => (proxy) => proxy.hamper(way, { held: true });
const slow = (way) => (proxy, random) =>
  proxy.hamper(way, { delayMs: 20 + random(200), bytesPerSecond: 100_000 + random(400_000) });

const HARD = ['SIGKILL', 'SIGQUIT'];
const PARTS = ['sandbox', 'ledger', 'source', 'temporal'];

/** By what the report calls them. Those of the source need one that is a server. */
export const FAULTS = {
  'worker frozen past its heartbeats': freeze,
  'Temporal killed': crash('temporal'),
  'ledger stopped hard': crash('ledger', HARD),
  'source stopped hard': crash('source', HARD),
  'sandbox killed': crash('sandbox'),
  ...Object.fromEntries(
    PARTS.flatMap((part) => [
      [`network to the ${part} cut`, network(part, cut)],
      [`network to the ${part} held up`, network(part, hold('up'))],
      [`network from the ${part} held up`, network(part, hold('down'))],
      [`network to and from the ${part} slow`, network(part, slow('both'))],
    ]),
  ),
};

/** The names of those that this source can have. */
export const faultsWith = ({ proxies }) =>
  Object.keys(FAULTS).filter((name) => proxies.source !== undefined || !/\bsource\b/.test(name));
