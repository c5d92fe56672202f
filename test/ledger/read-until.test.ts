/** Up to which moment a mapping counts as read: only a run that has ended moves it, and only if it has read everything. */
import { expect, it } from 'vitest';
import type { PlannedRead } from '../../src/ledger/runs/partitions.js';
import { ledgerForTests } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const the = ledgerForTests();

const ANY = { cursorFrom: null, cursorBefore: null, afterKey: null, throughKey: null, externalIds: null };
const EVERYTHING: PlannedRead = { expectedRows: null, isComplete: true, highWatermarkAt: null };
const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1000);

/** A run that has planned two partitions of the mapping. */
async function planned(read?: PlannedRead) {
  const id = await newRun(the.ledger, { kind: 'sync', mode: 'incremental' });
  const { partitions } = the.ledger;
  const partition = { ...ANY, byCursor: true, movesPosition: false };
  await partitions.plan(id, the.mappingId, [partition, partition], read);
  const [one, two] = await partitions.planned(id, the.mappingId);
  const finish = async (partitionId: string) => partitions.finish(await partitions.acquire(partitionId));
  return { id, one: () => finish(one!.id), two: () => finish(two!.id) };
}

const name = async (): Promise<string> => {
  const [row] = await the.database.query<{ name: string }>('SELECT name FROM partner_sync.mappings WHERE id = $1', [
    the.mappingId,
  ]);
  return row!.name;
};
/** Seconds since then; null if the mapping has not been read to the end yet. */
const lag = async (): Promise<number | null> => {
  const mapping = await name();
  const { readUntil } = (await the.ledger.counts.statuses('shop')).find((status) => status.mapping === mapping)!;
  const samples = await the.ledger.gauges.read(['shop']);
  const gauge = samples.find((s) => s.metric === 'read_until_timestamp_seconds' && s.labels['mapping'] === mapping);
  expect(gauge?.value ?? null).toEqual(readUntil && expect.closeTo(readUntil.getTime() / 1000, 1));
  return readUntil && (Date.now() - readUntil.getTime()) / 1000;
};

it('moves when a run ends that has read all of its partitions, though they had no rows', async () => {
  const { id, one, two } = await planned(EVERYTHING);
  await one();
  await two();
  expect(await lag()).toBeNull();

  await the.ledger.runs.end(id, 'complete');
  expect(await lag()).toBeLessThan(60);
});

it('moves to the high watermark if open transactions hold that back, but not beyond the clock of the ledger, nor back', async () => {
  const end = async (highWatermarkAt: Date): Promise<void> => {
    const { id, one, two } = await planned({ ...EVERYTHING, highWatermarkAt });
    await one();
    await two();
    await the.ledger.runs.end(id, 'incomplete');
  };
  await end(ago(3600));
  expect(await lag()).toBeCloseTo(3600, -2);
  await end(ago(7200));
  expect(await lag()).toBeCloseTo(3600, -2);
  await end(ago(-3600));
  expect(await lag()).toBeGreaterThanOrEqual(0);
  expect(await lag()).toBeLessThan(60);
});

it.each<[string, PlannedRead | undefined, boolean, 'complete' | 'failed']>([
  ['fails', EVERYTHING, true, 'failed'],
  ['has not read all of its partitions', EVERYTHING, false, 'complete'],
  ['was asked for some rows only', undefined, true, 'complete'],
])('stays as it is if the run %s', async (_, read, all, outcome) => {
  const { id, one, two } = await planned(read);
  await one();
  if (all) await two();
  await the.ledger.runs.end(id, outcome);
  expect(await lag()).toBeNull();
});

it('is forgotten of a mapping that the sync no longer has', async () => {
  const { id, one, two } = await planned(EVERYTHING);
  await one();
  await two();
  await the.ledger.runs.end(id, 'complete');
  await the.ledger.ids.keepMappings('shop', [await name(), 'another']);
  expect(await lag()).toBeLessThan(60);
  const [state] = await the.ledger.syncStates.of('shop');
  expect(state!.mostLagging).toMatchObject({ mapping: await name() });

  await the.ledger.ids.keepMappings('shop', ['another']);
  expect(await lag()).toBeNull();
});
