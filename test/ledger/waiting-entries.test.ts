/** What becomes of the waiting entry of a record when another one is written for it (src/ledger/waiting). */
import { expect, it } from 'vitest';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { QueuedReason } from '../../src/ledger/waiting/index.js';
import { ledgerForTests, record, type Read } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome } = the;
const row = record('a', '1');

/** Writes an entry for the record: pending in this batch, or queued. */
async function write(
  partition: AcquiredPartition,
  batchId: string | null,
  read: Read,
  isContended = false,
): Promise<void> {
  const entry =
    batchId === null
      ? the.queued(row, { reason: isContended ? 'contended' : 'lacks_parent' })
      : the.pending(row, batchId);
  const again = { kind: 'retry', readSeqs: read } as const;
  await the.ledger.checkpoint(partition, await outcome(null, [row], 'waiting', { ...again, waiting: [entry] }));
}

it.each([
  ['pending', 'contended', 'in its batch', true],
  ['pending', 'queued', 'queued', false],
  ['pending', 'pending', 'in the new batch', false],
  ['pending, read again', 'queued', 'queued', false],
  ['pending, read again', 'pending', 'in the new batch', true],
  ['queued', 'contended', 'queued', false],
  ['queued', 'queued', 'queued', false],
  ['queued', 'pending', 'in the new batch', false],
  ['queued, from a newer reading', 'pending', 'in the new batch', true],
] as const)('%s, and now %s: it is %s, and `read_again` is %s', async (before, now, expected, readAgain) => {
  const partition = await newPartition();
  const batchOf = async (id: string) => (await claim(partition, [record(id, '1')])).batches[0]!.id;
  const [its, another] = [await batchOf('x'), await batchOf('y')];
  const early = await reading();
  const late = await reading();
  const [first, second] = before === 'queued, from a newer reading' ? [late, early] : [early, late];
  await write(partition, before.startsWith('pending') ? its : null, first);
  if (before === 'pending, read again') await write(partition, null, first, true);

  await write(partition, now === 'pending' ? another : null, second, now === 'contended');

  const written = await the.database.query<{ batch: string | null; readAgain: boolean }>(
    'SELECT batch_id::text AS batch, read_again AS "readAgain" FROM partner_sync.waiting WHERE mapping_id = $1',
    [the.mappingId],
  );
  const batch = { 'in its batch': its, 'in the new batch': another, queued: null }[expected];
  expect(written).toEqual([{ batch, readAgain }]);
});

const entryOf = (reason: QueuedReason) => the.queued(row, { reason });

it.each([
  ['unknown', 1],
  ['lacks_parent', 0],
  ['contended', 0],
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

it('takes the key of the later entry, unless that has none', async () => {
  const partition = await newPartition();
  const keyAfter = async (sourceKey: readonly string[]): Promise<unknown> => {
    const waiting = [{ ...entryOf('unknown'), sourceKey }];
    await the.ledger.checkpoint(partition, await outcome(null, [row], 'waiting', { waiting }));
    const [written] = await the.database.query<{ key: string[] }>(
      'SELECT source_key AS key FROM partner_sync.waiting WHERE mapping_id = $1',
      [the.mappingId],
    );
    return written!.key;
  };
  expect(await keyAfter(['1'])).toEqual(['1']);
  expect(await keyAfter(['2'])).toEqual(['2']);
  expect(await keyAfter([])).toEqual(['2']);
});
