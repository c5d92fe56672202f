/** Processes of a fleet, composed as workers and commands are, on one ledger: limits hold for all of them together. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { compose, composeView } from '../../src/composition/compose.js';
import type { CommonParts, Parts } from '../../src/composition/parts.js';
import type { RequestLimit } from '../../src/platform/request-limit.js';
import type { Reader } from '../../src/reading/reader.js';
import { copyDatabase, createDatabase, STATE, type Database } from '../databases.js';
import { ENV, syncFolder } from '../mapping/sync-on-disk.js';
import { eventually } from '../pipeline/shop.js';
import { type Answer, answer, DONE, errorOf, stubPlatform } from '../platform/stub-platform.js';

const NO_SOURCE = (): Reader => ({ source: { close: () => Promise.resolve() } }) as unknown as Reader;

/** A ledger, a platform that answers as told, and processes that share both. */
async function fleet(
  answers: readonly Answer[],
  upload = '{ requestsAtOnce: 8 }',
  more: Readonly<Record<string, string>> = {},
) {
  const state: Database = await copyDatabase(STATE);
  const { url, seen } = await stubPlatform(answers);
  const folder = syncFolder();
  appendFileSync(join(folder, 'shop', 'sync.yaml'), `upload: ${upload}\n`);
  const env = {
    ...ENV,
    PARTNER_SYNC_MAPPINGS: folder,
    PARTNER_SYNC_STATE_URL: state.url,
    PLATFORM_BASE_URL: url,
    PLATFORM_TOKEN: 'the-token',
    ...more,
  };
  const open: { close(): Promise<void> }[] = [];
  onTestFinished(async () => {
    await Promise.all(open.map((parts) => parts.close()));
    await state.drop();
  });
  const process = (): Parts => {
    const parts = compose(env, { read: NO_SOURCE });
    open.push(parts);
    return parts;
  };
  const command = () => {
    const parts = composeView(env);
    open.push(parts);
    return parts;
  };
  return { state, seen, process, command };
}

const limitOf = async (parts: CommonParts): Promise<RequestLimit> => (await parts.openSync('shop')).requestLimit;

/** A request that is under way until the test ends it: its process sends for the sync. */
async function send(limit: RequestLimit): Promise<() => void> {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  await new Promise<void>((begun) => {
    void limit.run({ queue: 'tenant-a' }, () => {
      begun();
      return ended;
    });
  });
  return end;
}

const becomes = (limit: RequestLimit, atOnce: number) =>
  eventually(`${atOnce} requests at once instead of ${limit.atOnce}`, () => Promise.resolve(limit.atOnce === atOnce));

it('share the requests of a sync evenly, and take over the share of one that ends', async () => {
  const { process } = await fleet([DONE], '{ requestsAtOnce: 7 }');
  const [first, second] = [process(), process()];
  const [one, two] = [await limitOf(first), await limitOf(second)];

  await send(one);
  expect(one.atOnce).toBe(7);
  await send(two);
  // Only once the first process has made room the second one sends anything.
  await becomes(one, 7 - two.atOnce);
  expect([one.atOnce, two.atOnce].sort()).toEqual([3, 4]);

  await second.close();
  await becomes(one, 7);
});

it('share the requests with a command that only reads, while it sends', async () => {
  const { process, command } = await fleet([DONE]);
  const one = await limitOf(process());
  await send(one);
  const reading = command();
  const two = await limitOf(reading);
  await send(two);
  await becomes(one, 4);
  expect(two.atOnce).toBe(4);

  await reading.close();
  await becomes(one, 8);
});

it('leave a command alone that may not write to the ledger', async () => {
  const { process, command, state } = await fleet([DONE]);
  const one = await limitOf(process());
  await send(one);
  await state.query(`ALTER DATABASE ${new URL(state.url).pathname.slice(1)} SET default_transaction_read_only = on`);
  const two = await limitOf(command());
  await send(two);
  expect(two.atOnce).toBe(8);
  expect(await state.query('SELECT FROM partner_sync.senders')).toHaveLength(1);
});

it('take turns where fewer requests at once are allowed than there are processes, and each gets on', async () => {
  const { process } = await fleet([DONE], '{ requestsAtOnce: 2 }');
  const limits = await Promise.all([process(), process(), process()].map(limitOf));
  let [underWay, most, stopped] = [0, 0, false];
  /** Which processes have begun requests, in this order. */
  const begun: number[] = [];
  const request = async (by: number): Promise<void> => {
    most = Math.max(most, ++underWay);
    if (begun.at(-1) !== by) begun.push(by);
    await new Promise((resolve) => setTimeout(resolve, 100));
    underWay--;
  };
  const sending = limits.flatMap((limit, by) =>
    Array.from({ length: 3 }, async () => {
      while (!stopped) await limit.run({ queue: 'tenant-a' }, () => request(by));
    }),
  );
  onTestFinished(() => Promise.all(sending).then(() => undefined));
  onTestFinished(() => void (stopped = true));

  await eventually('all send', () => Promise.resolve(new Set(begun).size === 3));
  const since = begun.length;
  await eventually('all send once more', () => Promise.resolve(new Set(begun.slice(since)).size === 3));
  expect(most).toBe(2);
});

it('take over the share of one that dies', async () => {
  const { process, state } = await fleet([DONE]);
  const one = await limitOf(process());
  await send(one);
  // A process that has been killed says nothing more.
  await state.query(
    `INSERT INTO partner_sync.senders (sync, process, account) SELECT sync, gen_random_uuid(), account FROM partner_sync.senders`,
  );
  await becomes(one, 4);

  await becomes(one, 8);
});

it('hold no share of a sync for which they no longer send', async () => {
  const { process } = await fleet([DONE]);
  const [one, two] = [await limitOf(process()), await limitOf(process())];
  await send(one);
  const end = await send(two);
  await becomes(one, 4);

  end();

  await becomes(one, 8);
});

it('follow limits that are set while they send', async () => {
  const { process } = await fleet([DONE]);
  const parts = process();
  const limit = await limitOf(parts);
  await send(limit);
  const { fleet: registry } = await parts.ledger();

  await registry.setRate('shop', { atOnce: 2 });
  await becomes(limit, 2);
  await registry.setRate('shop', null);
  await becomes(limit, 8);
});

it('keep to the limits of the account with all requests together, whatever they are for', async () => {
  let [underWay, most] = [0, 0];
  const slowly: Answer = (response, request) => {
    most = Math.max(most, ++underWay);
    setTimeout(() => {
      underWay--;
      DONE(response, request);
    }, 50);
  };
  const { process, seen } = await fleet([slowly], '{ requestsAtOnce: 8 }', {
    PLATFORM_REQUESTS_AT_ONCE: '2',
    PLATFORM_REQUESTS_PER_SECOND: '20',
  });
  const [first, second] = [process(), process()];
  await Promise.all([first.ledger(), second.ledger()]);
  const send = async (parts: Parts, count: number) => {
    const platform = await parts.platform();
    await Promise.all(Array.from({ length: count }, () => platform.findBatch('b1', OF_TENANT)));
  };
  await send(first, 1);

  await Promise.all([send(first, 60), send(second, 15)]);

  expect(most).toBe(2);
  // On a busy machine a request of each process may come somewhat late, and so with the next second's.
  for (const { at } of seen)
    expect(seen.filter((other) => other.at >= at && other.at < at + 1000).length).toBeLessThanOrEqual(22);
});

const LATER = answer(429, { message: 'slow down' }, { 'retry-after': '3600' });
const OF_TENANT = { tenant: 'tenant-a' };

it.each<[string, 'process' | 'command']>([
  ['a worker that has sent nothing yet', 'process'],
  ['a command that only reads', 'command'],
])('send nothing while the platform wants a pause that another one was told of: %s', async (_, kind) => {
  const { process, command, seen, state } = await fleet([LATER, DONE]);
  const first = process();
  await first.ledger();
  await errorOf((await first.platform()).findBatch('b1', OF_TENANT));
  await eventually('the pause is in the ledger', async () => {
    const rows = await state.query('SELECT FROM partner_sync.platform_retry_after');
    return rows.length === 1;
  });

  const other = kind === 'process' ? process() : command();
  const error = await errorOf((await other.platform()).findBatch('b1', OF_TENANT));

  expect(error).toMatchObject({ code: 'platform_busy', details: { unsent: true } });
  expect(error.message).toContain('was not sent: the platform asks to wait until');
  expect(seen).toHaveLength(1);
});

it('learn of a pause from a command that only reads, even if that ends at once', async () => {
  const { process, command, seen } = await fleet([LATER, DONE]);
  const reading = command();
  await errorOf((await reading.platform()).findBatch('b1', OF_TENANT));
  await reading.close();

  const error = await errorOf((await process().platform()).findBatch('b1', OF_TENANT));

  expect(error).toMatchObject({ code: 'platform_busy', details: { unsent: true } });
  expect(seen).toHaveLength(1);
});

it('create no ledger to tell of a pause', async () => {
  const { url } = await stubPlatform([LATER]);
  const empty = await createDatabase();
  onTestFinished(() => empty.drop());
  const parts = composeView({ PLATFORM_BASE_URL: url, PLATFORM_TOKEN: 'the-token', PARTNER_SYNC_STATE_URL: empty.url });

  await errorOf((await parts.platform()).findBatch('b1', OF_TENANT));
  await parts.close();

  expect(await empty.query(`SELECT FROM pg_namespace WHERE nspname = 'partner_sync'`)).toEqual([]);
});

it('hear of a pause while they send', async () => {
  const { process, seen } = await fleet([DONE, LATER, DONE]);
  const [first, second] = [process(), process()];
  await Promise.all([first.ledger(), second.ledger()]);
  const [one, two] = [await first.platform(), await second.platform()];
  expect(await two.findBatch('b1', OF_TENANT)).not.toBeNull();
  await errorOf(one.findBatch('b1', OF_TENANT));

  // A second at most passes before it hears; until then the platform answers.
  const held = await eventually('the second process is held', async () => {
    const asked = two.findBatch('b1', OF_TENANT);
    return asked.then(
      () => false as const,
      (error: unknown) => error,
    );
  });

  expect(held).toMatchObject({ code: 'platform_busy', details: { unsent: true } });
  const before = seen.length;
  await errorOf(two.findBatch('b1', OF_TENANT));
  expect(seen).toHaveLength(before);
});

it('go by what they hear themselves where there is no ledger', async () => {
  const { url, seen } = await stubPlatform([DONE]);
  const parts = composeView({ PLATFORM_BASE_URL: url, PLATFORM_TOKEN: 'the-token' });
  onTestFinished(() => parts.close());

  await (await parts.platform()).findBatch('b1', OF_TENANT);

  expect(seen).toHaveLength(1);
});
