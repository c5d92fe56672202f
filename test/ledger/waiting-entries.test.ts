/** What becomes of the waiting entry of a record when another one is written for it (src/ledger/checkpoint/write-waiting.ts). */
import { expect, it } from 'vitest';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { QueuedReason } from '../../src/ledger/undelivered/waiting-record.js';
import { ledgerForTests, record, type Reading } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome } = the;
const row = record('a', '1');

/** Writes an entry for the record: pending in this batch, or queued. */
async function write(
  partition: AcquiredPartition,
  batchId: string | null,
  read: Reading,
  isBusy = false,
): Promise<void> {
  const entry =
    batchId === null ? the.queued(row, { reason: isBusy ? 'busy' : 'lacks_parent' }) : the.pending(row, batchId);
  const again = { kind: 'reread', readSeqs: read } as const;
  await the.ledger.checkpoint(partition, await outcome(null, [row], 'waiting', { ...again, waiting: [entry] }));
}

it.each([
  ['pending', 'busy', 'in its batch', true],
  ['pending', 'queued', 'queued', false],
  ['pending', 'pending', 'in the new batch', false],
  ['pending, changed', 'queued', 'queued', false],
  ['pending, changed', 'pending', 'in the new batch', true],
  ['queued', 'busy', 'queued', false],
  ['queued', 'queued', 'queued', false],
  ['queued', 'pending', 'in the new batch', false],
  ['queued, from a newer reading', 'pending', 'in the new batch', true],
] as const)('%s, and now %s: it is %s, and `changed` is %s', async (before, now, expected, changed) => {
  const partition = await newPartition();
  const batchOf = async (id: string) => (await claim(partition, [record(id, '1')])).batches[0]!.id;
  const [its, another] = [await batchOf('x'), await batchOf('y')];
  const early = await reading();
  const late = await reading();
  const [first, second] = before === 'queued, from a newer reading' ? [late, early] : [early, late];
  await write(partition, before.startsWith('pending') ? its : null, first);
  if (before === 'pending, changed') await write(partition, null, first, true);

  await write(partition, now === 'pending' ? another : null, second, now === 'busy');

  const written = await the.database.query<{ batch: string | null; changed: boolean }>(
    'SELECT batch_id::text AS batch, changed FROM partner_sync.waiting WHERE mapping_id = $1',
    [the.mappingId],
  );
  const batch = { 'in its batch': its, 'in the new batch': another, queued: null }[expected];
  expect(written).toEqual([{ batch, changed }]);
});

const entryOf = (reason: QueuedReason) => the.queued(row, { reason });

it.each([
  ['unknown', 1],
  ['lacks_parent', 0],
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
  const waiting = [entryOf('lacks_parent'), entryOf('unknown')];

  await the.ledger.checkpoint(partition, await outcome(null, [row], 'waiting', { waiting }));

  const written = await the.database.query<{ reason: string }>(
    'SELECT reason FROM partner_sync.waiting WHERE mapping_id = $1',
    [the.mappingId],
  );
  expect(written).toEqual([{ reason: 'unknown' }]);
});
