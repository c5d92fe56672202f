/** The lease of a sync: one run at a time holds it, and no run that has ended. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();

const begin = async (sync: string): Promise<string> => {
  const run = {
    sync,
    kind: 'sync',
    mode: 'full',
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
