/** The lease of a sync: one run at a time holds it, or one beside a run in mode live, and no run that has ended. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();

const begin = async (sync: string, mode = 'full'): Promise<string> => {
  const run = {
    sync,
    kind: 'sync',
    mode,
    input: { sync },
    mappingVersion: 'v1',
    files: null,
    workflowId: 'w',
    start: { trigger: 'other', by: null },
  } as const;
  return (await the.ledger.runs.begin({ ...run, firstExecutionRunId: randomUUID() })).id;
};

it('gives the lease to one run at a time', async () => {
  const sync = randomUUID();
  const [first, second] = [await begin(sync), await begin(sync)];

  expect((await the.ledger.runs.takeLease(sync, first))?.id).toBe(first);
  expect((await the.ledger.runs.takeLease(sync, second))?.id).toBe(first);
  await the.ledger.runs.end(first, 'complete');
  expect((await the.ledger.runs.takeLease(sync, second))?.id).toBe(second);
});

it.each([
  ['live', 'mirror', 'both'],
  ['live', 'full', 'both'],
  ['mirror', 'live', 'both'],
  ['full', 'live', 'both'],
  ['live', 'incremental', 'one'],
  ['incremental', 'live', 'one'],
  ['live', 'sample', 'one'],
  ['live', 'live', 'one'],
  ['full', 'mirror', 'one'],
  ['incremental', 'incremental', 'one'],
])(
  'while a run in mode %s has it, gives one in mode %s its own if they may work side by side',
  async (first, second, who) => {
    const sync = randomUUID();
    const [holder, other] = [await begin(sync, first), await begin(sync, second)];

    expect((await the.ledger.runs.takeLease(sync, holder))?.id).toBe(holder);
    expect((await the.ledger.runs.takeLease(sync, other))?.id).toBe(who === 'both' ? other : holder);
    await the.ledger.runs.end(holder, 'complete');
    expect((await the.ledger.runs.takeLease(sync, other))?.id).toBe(other);
  },
);

it('lets no third run work beside two', async () => {
  const sync = randomUUID();
  const [live, mirror] = [await begin(sync, 'live'), await begin(sync, 'mirror')];
  for (const run of [live, mirror]) expect((await the.ledger.runs.takeLease(sync, run))?.id).toBe(run);

  for (const mode of ['full', 'mirror', 'live', 'incremental'])
    expect([live, mirror]).toContain((await the.ledger.runs.takeLease(sync, await begin(sync, mode)))?.id);
});

it('gives the lease to one of those that ask for it at the same time and may not work side by side', async () => {
  const sync = randomUUID();
  const modes = ['live', 'incremental', 'live', 'incremental', 'live', 'incremental'];
  const runs = await Promise.all(modes.map((mode) => begin(sync, mode)));

  const holders = await Promise.all(runs.map(async (run) => (await the.ledger.runs.takeLease(sync, run))?.id));

  expect(new Set(holders).size).toBe(1);
  expect(await the.database.query(`SELECT FROM partner_sync.sync_leases WHERE sync = $1`, [sync])).toHaveLength(1);
});

it('forgets a run that is withdrawn', async () => {
  const run = await begin(randomUUID(), 'live');
  await the.ledger.runs.withdraw(run);
  expect(await the.ledger.runs.find(run)).toBeUndefined();
});

it('gives no lease to a run that has ended, as a frozen attempt at opening it would ask for', async () => {
  const sync = randomUUID();
  const ended = await begin(sync);
  await the.ledger.runs.end(ended, 'failed', { code: 'run_stopped', message: 'cancelled' });

  expect(await the.ledger.runs.takeLease(sync, ended)).toBeUndefined();

  const next = await begin(sync);
  expect((await the.ledger.runs.takeLease(sync, next))?.id).toBe(next);
});

it('always names a holder that a run can be told of, however many runs end meanwhile', async () => {
  const sync = randomUUID();
  const runs = await Promise.all(Array.from({ length: 24 }, () => begin(sync)));

  const holders = await Promise.all(
    runs.map(async (run) => {
      const holder = await the.ledger.runs.takeLease(sync, run);
      await the.ledger.runs.end(run, 'complete');
      return holder?.id;
    }),
  );

  expect(holders).not.toContain(undefined);
  expect(await the.database.query(`SELECT FROM partner_sync.sync_leases WHERE sync = $1`, [sync])).toEqual([]);
});
