/** Guards: what a run may claim of a mapping before somebody has approved it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { GuardLimits } from '../../src/domain/sync/guard.js';
import type { MappedRecord } from '../../src/domain/records/record.js';
import { RecordList } from '../../src/records/record-list.js';
import type { IntendedBatch } from '../../src/ledger/batches/batch-intents.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const LIMITS: GuardLimits = { changed: 30, deadLettered: 5, gone: 1, records: 2, wait: 60 };
const versions = (content: string, count = 10): MappedRecord[] =>
  Array.from({ length: count }, (_, i) => record(`r${i}`, content));

/** Whether an earlier run has left the record with this content after the first of two passes. */
const isIncomplete = (_: number, hash: string): boolean => hash === record('r0', 'first pass').contentHash;

const claim = async (
  partition: AcquiredPartition,
  records: readonly MappedRecord[],
  deadLettered = 0,
): Promise<number> => (await claimed(partition, records, deadLettered)).length;

const claimed = async (
  partition: AcquiredPartition,
  records: readonly MappedRecord[],
  deadLettered = 0,
): Promise<readonly IntendedBatch[]> => {
  const { batches } = await the.ledger.claim(partition, {
    ...(await the.reading()),
    records: RecordList.of(records),
    tenantIds: await the.ledger.ids.tenantIds(['north']),
    cut: (all) => (all.length === 0 ? [] : [all]),
    guard: { mapping: 'orders', limits: LIMITS, rows: records.length + deadLettered, deadLettered, isIncomplete },
  });
  return batches;
};

/** A guarded run of a mapping of which ten records are on the platform, with two partitions. */
async function guardedRun(): Promise<[AcquiredPartition, AcquiredPartition]> {
  const first = await the.newPartition();
  await the.deliver(first, versions('1'));
  await the.ledger.runs.end(first.runId, 'complete');
  const one = await the.newPartition();
  const other = await the.ledger.partitions.acquire(await the.ledger.partitions.forRowsByKey(one.runId, the.mappingId));
  expect(await the.ledger.guards.begin(one.runId, the.mappingId)).toEqual({ accepted: 10, approved: [] });
  return [one, other];
}

let one: AcquiredPartition;
let other: AcquiredPartition;
beforeEach(async () => ([one, other] = await guardedRun()));
afterEach(() => the.ledger.runs.end(one.runId, 'complete'));

const exceeded = expect.objectContaining({ code: 'guard_exceeded' }) as Error;

it('adds up what the partitions of a mapping change, and claims nothing beyond the limit', async () => {
  expect(await claim(one, versions('2', 3))).toBe(1);
  await expect(claim(other, versions('2', 4).slice(3))).rejects.toEqual(exceeded);
  const batches = await the.database.query(
    `SELECT records FROM partner_sync.batches WHERE mapping_id = $1 AND state = 'intended'`,
    [the.mappingId],
  );
  expect(batches).toEqual([{ records: 3 }]);
});

it('lets nothing of the mapping through once it is on hold, until somebody approves', async () => {
  await expect(claim(one, versions('2'))).rejects.toEqual(exceeded);
  const hold = {
    mapping: 'orders',
    cause: 'changed',
    records: 10,
    of: 10,
    limit: { key: 'guard.changed', percent: 30 },
  } as const;
  await the.ledger.guards.putOnHold(one.runId, the.mappingId, hold, ['r1']);

  const isNew = [record('new', '1')];
  await expect(claim(other, isNew)).rejects.toEqual(exceeded);
  expect(await the.ledger.guards.onHold('shop')).toMatchObject([{ ...hold, run: one.runId, examples: ['r1'] }]);

  const actor = { who: 'ana@ops', origin: 'cli' } as const;
  await the.ledger.guards.approve(one.runId, the.mappingId, 'changed', { sync: 'shop', actor, subject: {} });
  expect(await the.ledger.guards.onHold('shop')).toEqual([]);
  expect(await claim(other, isNew)).toBe(1);
  expect(await claim(one, versions('2'))).toBe(1);
});

it('keeps to every other limit when somebody has approved one', async () => {
  const { guards } = the.ledger;
  const by = { sync: 'shop', actor: { who: 'ana@ops', origin: 'cli' }, subject: {} } as const;
  const hold = { mapping: 'orders', cause: 'changed', records: 10, of: 10, limit: null } as const;
  await guards.approve(one.runId, the.mappingId, 'empty', by);
  await expect(claim(one, versions('2'))).rejects.toMatchObject({ hold: { cause: 'changed' } });
  await guards.putOnHold(one.runId, the.mappingId, hold, []);
  await guards.approve(one.runId, the.mappingId, 'changed', by);
  // Of a claim that began before.
  await guards.putOnHold(one.runId, the.mappingId, hold, []);
  expect(await guards.onHold('shop')).toEqual([]);
  await expect(claim(one, versions('2'), 9)).rejects.toMatchObject({ hold: { cause: 'deadLettered' } });
  expect(await claim(one, versions('2'))).toBe(1);
});

it('does not count new records', async () => {
  const added = Array.from({ length: 20 }, (_, i) => record(`n${i}`, '1'));
  expect(await claim(one, added)).toBe(1);
});

it('does not count records that an earlier run has sent without some of their references', async () => {
  await the.deliver(one, [record('r0', 'first pass'), record('r1', 'other')]);
  await the.ledger.runs.end(one.runId, 'complete');
  one = await the.newPartition();
  await the.ledger.guards.begin(one.runId, the.mappingId);
  await claim(one, versions('2', 2));
  const [guard] = await the.database.query('SELECT changed FROM partner_sync.guards WHERE run_id = $1', [one.runId]);
  expect(guard).toEqual({ changed: '1' });
});

it('counts changes once, however often their batches are released unsent and claimed again', async () => {
  for (let attempt = 0; attempt < 5; attempt++) {
    const [whole] = await claimed(one, versions('2', 3));
    const halves = [whole!.records.pick((i) => i === 0), whole!.records.pick((i) => i > 0)];
    await the.ledger.batches.release(one, await the.ledger.batches.split(one, whole!, halves), { guarded: true });
  }
  expect(await claim(one, versions('2', 3))).toBe(1);
  await expect(claim(other, versions('2', 4).slice(3))).rejects.toMatchObject({ hold: { records: 4 } });
});

it('keeps the count of what a recovered batch may have changed', async () => {
  const [batch] = await claimed(one, versions('2', 3));
  const [leftBehind] = await the.ledger.batches.takeOverLeftBehind(one);
  const outcomes = versions('2', 3).map((r) => the.sent(r, 'unknown'));
  await the.ledger.batches.recover(one, leftBehind!, { outcomes, pending: [], dependencyWait: 0 });
  // The attempt that was taken for dead finds out only now that it has not sent the batch.
  await the.ledger.batches.release(one, [batch!], { guarded: true });
  expect(await claim(one, versions('2', 3))).toBe(1);
  await expect(claim(other, versions('2', 4).slice(3))).rejects.toMatchObject({ hold: { records: 4 } });
});

it('takes nothing back for batches of rows that are read again, which it has not counted', async () => {
  await claim(one, versions('2', 3));
  const again = await the.claim(other, versions('2', 5).slice(3));
  await the.ledger.batches.release(other, again.batches, { guarded: false });
  await expect(claim(other, versions('2', 4).slice(3))).rejects.toMatchObject({ hold: { records: 4 } });
});
