/** Whether records may still be as files made them that were changed since. */
import { expect, it } from 'vitest';
import { ledgerForTests, record } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const the = ledgerForTests();

const BOUNDS = { cursorBefore: null, afterKey: null, throughKey: null, externalIds: null, byCursor: true };

/** A run with these files that has read from a cursor on, or everything, and has ended. */
async function ended(mappingVersion: string, cursorFrom: string | null, input: object = {}, mode = 'incremental') {
  const run = await newRun(the.ledger, { kind: 'sync', mode, mappingVersion, input: { sync: 'shop', ...input } });
  const mappingId = await the.ledger.ids.mappingId('shop', 'customers');
  const { partitions, runs } = the.ledger;
  await partitions.plan(run, mappingId, [{ ...BOUNDS, cursorFrom, movesPosition: true }]);
  for (const { id } of await partitions.planned(run, mappingId)) await partitions.finish(await partitions.acquire(id));
  await runs.end(run, 'complete');
}

it('is so from the first run with changed files on, until a run with these files has read all rows', async () => {
  const hasEarlier = (version: string): Promise<boolean> => the.ledger.runs.hasRecordsOfEarlierFiles('shop', version);

  expect(await hasEarlier('v1')).toBe(false);
  await ended('v1', null);
  expect(await hasEarlier('v1')).toBe(false);
  expect(await hasEarlier('v2')).toBe(true);

  await ended('v2', '2030-01-01');
  await ended('v2', null, { mappings: ['customers'] }, 'full');
  await ended('v2', null, { limit: 10 }, 'sample');
  expect(await hasEarlier('v2')).toBe(true);

  await ended('v2', null, {}, 'full');
  expect(await hasEarlier('v2')).toBe(false);

  // The files are changed back: all records are as those in between made them.
  expect(await hasEarlier('v1')).toBe(true);
  await ended('v1', '2030-01-01');
  expect(await hasEarlier('v1')).toBe(true);
  await ended('v1', null, {}, 'full');
  expect(await hasEarlier('v1')).toBe(false);
});

it('is so after a run in mode live that was stopped while it read every row', async () => {
  await ended('v1', null);
  const run = await newRun(the.ledger, { kind: 'sync', mode: 'live', mappingVersion: 'v4', input: { sync: 'shop' } });
  const mappingId = await the.ledger.ids.mappingId('shop', 'customers');
  const whole = { ...BOUNDS, byCursor: false, cursorFrom: null, movesPosition: false };
  await the.ledger.partitions.plan(run, mappingId, [whole]);
  await the.ledger.runs.end(run, 'incomplete');
  expect(await the.ledger.runs.hasRecordsOfEarlierFiles('shop', 'v4')).toBe(true);
});

it('is so after a run with other files that has failed, if it had sent records by then', async () => {
  const { partitions, runs } = the.ledger;
  await ended('v6', null, {}, 'full');
  const failed = async (work: (partition: string) => Promise<unknown>): Promise<void> => {
    const run = await newRun(the.ledger, { kind: 'sync', mode: 'full', mappingVersion: 'v7', input: { sync: 'shop' } });
    const mappingId = await the.ledger.ids.mappingId('shop', 'customers');
    await partitions.plan(run, mappingId, [{ ...BOUNDS, cursorFrom: null, movesPosition: true }]);
    await work((await partitions.planned(run, mappingId))[0]!.id);
    await runs.end(run, 'failed');
  };

  await failed(async () => {});
  expect(await runs.hasRecordsOfEarlierFiles('shop', 'v6')).toBe(false);

  await failed(async (partition) => the.claim(await partitions.acquire(partition), [record('a', '1')]));
  expect(await runs.hasRecordsOfEarlierFiles('shop', 'v6')).toBe(true);
  await ended('v6', null, {}, 'full');
  expect(await runs.hasRecordsOfEarlierFiles('shop', 'v6')).toBe(false);

  // Its batches are removed long before its counts.
  await failed((partition) =>
    the.database.query(
      'INSERT INTO partner_sync.partition_counts (partition_id, tenant_id, accepted) VALUES ($1, 1, 2)',
      [partition],
    ),
  );
  expect(await runs.hasRecordsOfEarlierFiles('shop', 'v6')).toBe(true);
});

it('is so until a run has read all rows of every mapping, and skipped none', async () => {
  await ended('v8', null);
  const skipping = await newRun(the.ledger, {
    kind: 'sync',
    mode: 'full',
    mappingVersion: 'v9',
    input: { sync: 'shop' },
  });
  await the.ledger.runs.noteSkipped(skipping, [{ mapping: 'orders', code: 'source_changed', message: 'skipped' }]);
  await the.ledger.runs.end(skipping, 'incomplete');
  expect(await the.ledger.runs.hasRecordsOfEarlierFiles('shop', 'v9')).toBe(true);

  const whole = await newRun(the.ledger, { kind: 'sync', mode: 'full', mappingVersion: 'v9', input: { sync: 'shop' } });
  await the.ledger.runs.noteSkipped(whole, []);
  await the.ledger.runs.end(whole, 'complete');
  expect(await the.ledger.runs.hasRecordsOfEarlierFiles('shop', 'v9')).toBe(false);
});

const newIncrementalRun = (mappingVersion: string): Promise<string> =>
  newRun(the.ledger, { kind: 'sync', mode: 'incremental', mappingVersion, input: { sync: 'shop' } });

it('is so after runs of changed rows alone, also once retention has removed their partitions', async () => {
  await ended('v1', null);
  const run = await newIncrementalRun('v5');
  await the.ledger.runs.end(run, 'complete');
  expect(await the.ledger.runs.hasRecordsOfEarlierFiles('shop', 'v5')).toBe(true);
});

it('is so until a run that goes on with a load has read what was left', async () => {
  await ended('v1', null);
  const run = await newIncrementalRun('v3');
  const mappingId = await the.ledger.ids.mappingId('shop', 'customers');
  const { partitions, runs } = the.ledger;
  await partitions.plan(run, mappingId, [{ ...BOUNDS, byCursor: false, cursorFrom: null, movesPosition: false }]);
  await partitions.planChangedRows(run, mappingId, '7', {
    expectedRows: null,
    isComplete: true,
    highWatermarkAt: null,
  });
  await runs.end(run, 'incomplete');
  expect(await runs.hasRecordsOfEarlierFiles('shop', 'v3')).toBe(true);

  await the.database.query('UPDATE partner_sync.partitions SET done = true WHERE run_id = $1', [run]);
  expect(await runs.hasRecordsOfEarlierFiles('shop', 'v3')).toBe(false);
});
