/** The registry of the fleet: who sends for which sync, limits that were set, and the platform's Retry-After. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();

const ACCOUNT = 'https://platform.example.com/';
const [A, B, C] = ['a', 'b', 'c'].map((digit) => randomUUID().replace(/^./, digit)) as [string, string, string];

const NOTHING = new Map<string, number>();
const shareOf = async (process: string, sync: string, account = ACCOUNT, underWay = 0) =>
  (await the.ledger.fleet.heartbeat(process, account, new Map([[sync, underWay]]))).shares.get(sync)!;
const silentFor = (process: string, seconds: number) =>
  the.database.query(`UPDATE partner_sync.senders SET seen_at = now() - $2 * interval '1 second' WHERE process = $1`, [
    process,
    seconds,
  ]);

it('each process learns how many send for the sync with its account, and its own index', async () => {
  const [sync, another] = [randomUUID(), randomUUID()];
  expect(await shareOf(B, sync)).toMatchObject({ processes: 1, index: 0, set: {} });
  expect(await shareOf(A, sync)).toMatchObject({ processes: 2, index: 0 });
  expect(await shareOf(B, sync)).toMatchObject({ processes: 2, index: 1 });
  expect(await shareOf(C, another)).toMatchObject({ processes: 1 });
  expect(await shareOf(C, sync, 'https://another.example.com/')).toMatchObject({ processes: 1 });
});

it('a process learns how many requests the others have under way', async () => {
  const sync = randomUUID();
  await shareOf(A, sync, ACCOUNT, 3);
  await shareOf(B, sync, ACCOUNT, 1);
  expect(await shareOf(C, sync)).toMatchObject({ processes: 3, underWayOfOthers: 4 });
  expect(await shareOf(A, sync, ACCOUNT, 2)).toMatchObject({ underWayOfOthers: 1 });
  await silentFor(B, 11);
  expect(await shareOf(C, sync)).toMatchObject({ processes: 2, underWayOfOthers: 2 });
});

it('a process that is silent, leaves, or no longer sends for the sync has no share', async () => {
  const sync = randomUUID();
  for (const process of [A, B, C]) await shareOf(process, sync);
  expect((await shareOf(A, sync)).processes).toBe(3);

  await silentFor(B, 11);
  expect((await shareOf(A, sync)).processes).toBe(2);
  expect((await shareOf(B, sync)).processes).toBe(3);
  await the.ledger.fleet.heartbeat(B, ACCOUNT, NOTHING);
  expect((await shareOf(A, sync)).processes).toBe(2);
  await the.ledger.fleet.leave(C);
  expect((await shareOf(A, sync)).processes).toBe(1);
});

it('a process that was taken for dead joins anew', async () => {
  const sync = randomUUID();
  await shareOf(A, sync);
  const joined = () =>
    the.database.query(`UPDATE partner_sync.senders SET joined_at = now() - interval '1 minute' WHERE process = $1`, [
      A,
    ]);
  await joined();
  expect((await shareOf(A, sync)).joinedMs).toBeGreaterThan(50_000);

  await silentFor(A, 11);

  expect((await shareOf(A, sync)).joinedMs).toBeLessThan(50_000);
});

it('rows of dead processes are removed', async () => {
  const sync = randomUUID();
  await shareOf(A, sync);
  await shareOf(B, sync);
  await silentFor(A, 100);

  await shareOf(B, sync);

  expect(await the.database.query('SELECT process FROM partner_sync.senders WHERE sync = $1', [sync])).toEqual([
    { process: B },
  ]);
});

it('limits that are set are told to whoever sends for the sync, until they are taken back', async () => {
  const sync = randomUUID();
  await the.ledger.fleet.setRate(sync, { atOnce: 3, perSecond: 0.5 });
  expect((await shareOf(A, sync)).set).toEqual({ atOnce: 3, perSecond: 0.5 });
  await the.ledger.fleet.setRate(sync, { atOnce: 5 });
  expect((await shareOf(A, sync)).set).toEqual({ atOnce: 5 });
  await the.ledger.fleet.setRate(sync, null);
  expect((await shareOf(A, sync)).set).toEqual({});
});

it('the longest pause that the platform has named holds for everybody with the account', async () => {
  const account = `https://${randomUUID()}.example.com/`;
  expect(await the.ledger.fleet.retryAfterMs(account)).toBe(0);
  await the.ledger.fleet.setRetryAfter(account, 600_000);
  await the.ledger.fleet.setRetryAfter(account, 1000);

  expect(await the.ledger.fleet.retryAfterMs(account)).toBeGreaterThan(300_000);
  expect((await the.ledger.fleet.heartbeat(A, account, NOTHING)).retryAfterMs).toBeGreaterThan(300_000);
  expect((await the.ledger.fleet.heartbeat(A, ACCOUNT, new Map([['shop', 0]]))).retryAfterMs).toBe(0);
});
