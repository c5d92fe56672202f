/** The registry of the fleet: who sends for which sync, limits that were set, and the platform's Retry-After. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
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
  expect(await shareOf(B, sync)).toEqual({ underWay: [0], index: 0, joinedMs: expect.any(Number) as number, set: {} });
  expect(await shareOf(A, sync)).toMatchObject({ underWay: [0, 0], index: 0 });
  expect(await shareOf(B, sync)).toMatchObject({ underWay: [0, 0], index: 1 });
  expect(await shareOf(C, another)).toMatchObject({ underWay: [0] });
  expect(await shareOf(C, sync, 'https://another.example.com/')).toMatchObject({ underWay: [0] });
});

it('a process learns how many requests the others have under way', async () => {
  const sync = randomUUID();
  await shareOf(A, sync, ACCOUNT, 3);
  await shareOf(B, sync, ACCOUNT, 1);
  expect(await shareOf(C, sync)).toMatchObject({ underWay: [3, 1, 0], index: 2 });
  expect(await shareOf(A, sync, ACCOUNT, 2)).toMatchObject({ underWay: [2, 1, 0], index: 0 });
  await silentFor(B, 11);
  expect(await shareOf(C, sync)).toMatchObject({ underWay: [2, 0], index: 1 });
});

it('a process that is silent, leaves, or no longer sends for the sync has no share', async () => {
  const sync = randomUUID();
  for (const process of [A, B, C]) await shareOf(process, sync);
  expect((await shareOf(A, sync)).underWay).toHaveLength(3);

  await silentFor(B, 11);
  expect((await shareOf(A, sync)).underWay).toHaveLength(2);
  expect((await shareOf(B, sync)).underWay).toHaveLength(3);
  await the.ledger.fleet.heartbeat(B, ACCOUNT, NOTHING);
  expect((await shareOf(A, sync)).underWay).toHaveLength(2);
  await the.ledger.fleet.leave(C);
  expect((await shareOf(A, sync)).underWay).toHaveLength(1);
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

describe('of a limit below the number of processes', () => {
  /** Three processes that send for a sync. */
  async function three() {
    const sync = randomUUID();
    for (const process of [A, B, C]) await shareOf(process, sync);
    const turn = (process: string, { limit = 1, underWay = 0, wants = true, sends = false } = {}): Promise<boolean> =>
      the.ledger.fleet.takeTurn(process, ACCOUNT, sync, { limit, underWay, wants, sends });
    /** As if so many seconds had passed for everybody. */
    const pass = (seconds: number) =>
      the.database.query(
        `UPDATE partner_sync.senders SET turn_since = turn_since - $2 * interval '1 second',
           waiting_since = waiting_since - $2 * interval '1 second' WHERE sync = $1`,
        [sync, seconds],
      );
    return { sync, turn, pass };
  }

  it('it is the turn of as many as the limit allows, however many ask at once', async () => {
    const { turn } = await three();
    const taken = await Promise.all([A, B, C].map((process) => turn(process, { limit: 2 })));
    expect(taken.filter(Boolean)).toHaveLength(2);
  });

  it('a turn lasts while nobody waits, and passes on to those that wait, in their order', async () => {
    const { turn, pass } = await three();
    expect(await turn(A)).toBe(true);
    await pass(60);
    expect(await turn(A, { sends: true, underWay: 1 })).toBe(true);
    expect(await turn(C)).toBe(false);
    await pass(1);
    expect(await turn(B)).toBe(false);

    // It stops to send, ends what is under way, and only then gives its turn up.
    expect(await turn(A, { sends: true, underWay: 1 })).toBe(false);
    expect(await turn(A, { underWay: 1 })).toBe(false);
    expect(await turn(C)).toBe(false);
    expect(await turn(A)).toBe(false);

    expect(await turn(B)).toBe(false);
    expect(await turn(A)).toBe(false);
    expect(await turn(C)).toBe(true);
    expect(await turn(A)).toBe(false);
    expect(await turn(C, { sends: true })).toBe(true);
    await pass(6);
    expect(await turn(C, { sends: true })).toBe(false);
    expect(await turn(C)).toBe(false);
    expect(await turn(A)).toBe(false);
    expect(await turn(B)).toBe(true);
  });

  it('only as many turns end as processes wait, those that have lasted longest first', async () => {
    const { turn, pass } = await three();
    await turn(A, { limit: 2 });
    await pass(1);
    await turn(B, { limit: 2 });
    await turn(C, { limit: 2 });
    await pass(6);
    expect(await turn(B, { limit: 2, sends: true })).toBe(true);
    expect(await turn(A, { limit: 2, sends: true })).toBe(false);
  });

  it('a process waits for what others still have under way from a time without turns', async () => {
    const { sync, turn } = await three();
    await shareOf(A, sync, ACCOUNT, 2);
    expect(await turn(B, { limit: 2 })).toBe(false);
    expect(await turn(A, { limit: 2, underWay: 1, wants: false })).toBe(false);
    expect(await turn(B, { limit: 2 })).toBe(true);
  });

  it('neither the turn nor the wait of a dead process holds the others up', async () => {
    const { turn } = await three();
    expect(await turn(A)).toBe(true);
    expect(await turn(B)).toBe(false);
    expect(await turn(C)).toBe(false);
    await silentFor(A, 11);
    expect(await turn(C)).toBe(false);
    await silentFor(B, 11);
    expect(await turn(C)).toBe(true);
  });
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
