/** What becomes of the waiting entry of a record when another one is written for it (src/ledger/write-waiting.ts). */
import { expect, it } from 'vitest';
import type { WaitingRecord } from '../../src/ledger/checkpoint-input.js';
import type { AcquiredPartition } from '../../src/ledger/partitions.js';
import { ledgerForTests, record, type Reading } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome } = the;
const row = record('a', '1');

/** Writes an entry for the record: pending in this batch, or due. */
async function write(
  partition: AcquiredPartition,
  batchId: string | null,
  read: Reading,
  isBusy = false,
): Promise<void> {
  const of = { tenantId: the.tenantIds.get('north')!, externalId: 'a', sourceKey: ['a'], contentHash: row.contentHash };
  const reason = batchId !== null ? 'dependency' : isBusy ? 'busy' : 'expired';
  const entry: WaitingRecord = { ...of, reason, batchId, missing: [], expiresAt: null, dueIn: 60 };
  const again = { reading: { kind: 'reread', ...read } as const };
  await the.ledger.checkpoint(partition, await outcome(null, [row], 'waiting', { ...again, waiting: [entry] }));
}

it.each([
  ['pending', 'busy', 'in its batch', true],
  ['pending', 'due', 'due', false],
  ['pending', 'pending', 'in the new batch', false],
  ['pending, changed', 'due', 'due', false],
  ['pending, changed', 'pending', 'in the new batch', true],
  ['due', 'busy', 'due', false],
  ['due', 'due', 'due', false],
  ['due', 'pending', 'in the new batch', false],
  ['due, from a newer reading', 'pending', 'in the new batch', true],
] as const)('%s, and now %s: it is %s, and `changed` is %s', async (before, now, expected, changed) => {
  const partition = await newPartition();
  const batchOf = async (id: string) => (await claim(partition, [record(id, '1')])).batches[0]!.id;
  const [its, another] = [await batchOf('x'), await batchOf('y')];
  const early = await reading();
  const late = await reading();
  const [first, second] = before === 'due, from a newer reading' ? [late, early] : [early, late];
  await write(partition, before.startsWith('pending') ? its : null, first);
  if (before === 'pending, changed') await write(partition, null, first, true);

  await write(partition, now === 'pending' ? another : null, second, now === 'busy');

  const written = await the.database.query<{ batch: string | null; changed: boolean }>(
    'SELECT batch_id::text AS batch, changed FROM partner_sync.waiting WHERE mapping_id = $1',
    [the.mappingId],
  );
  const batch = { 'in its batch': its, 'in the new batch': another, due: null }[expected];
  expect(written).toEqual([{ batch, changed }]);
});

const entryOf = (reason: WaitingRecord['reason'], dueIn = 60): WaitingRecord => ({
  ...{ tenantId: the.tenantIds.get('north')!, externalId: 'a', sourceKey: ['a'], reason, batchId: null },
  ...{ contentHash: null, missing: [], expiresAt: null, dueIn },
});

it.each([
  ['unknown', 1],
  ['expired', 0],
  ['busy', 0],
] as const)('counts the first sending of a record that waits as %s: %i', async (reason, tries) => {
  const partition = await newPartition();

  await the.ledger.checkpoint(partition, await outcome(null, [row], 'waiting', { waiting: [entryOf(reason)] }));

  const written = await the.database.query<{ tries: number }>(
    'SELECT tries FROM partner_sync.waiting WHERE mapping_id = $1',
    [the.mappingId],
  );
  expect(written).toEqual([{ tries }]);
});

it('takes the later of two entries of one record, as when two rows map to it now', async () => {
  const partition = await newPartition();
  const waiting = [entryOf('expired'), entryOf('unknown')];

  await the.ledger.checkpoint(partition, await outcome(null, [row], 'waiting', { waiting }));

  const written = await the.database.query<{ reason: string }>(
    'SELECT reason FROM partner_sync.waiting WHERE mapping_id = $1',
    [the.mappingId],
  );
  expect(written).toEqual([{ reason: 'unknown' }]);
});
