/**
 * The one place that moves a position: outcomes, waiting records, dead letters, books and position of a
 * group of rows are written in one transaction, so that a position never passes a row without an outcome.
 */
import type { Knex } from 'knex';
import { EMPTY_BOOKS, type Books } from '../domain/run.js';
import { closeDeadLetters, writeDeadLetters } from './dead-letters.js';
import type { BooksEntry, Column, GroupOutcome, Reading, RowEnd } from './group-outcome.js';
import { prepared } from './prepared.js';
import { writeOutcomes } from './record-outcomes.js';
import { holdRange, type TakenRange } from './ranges.js';
import { endWaiting, writeWaiting } from './waiting-rows.js';
import { inTransaction } from './transaction.js';

/** Any constant; the second number of the lock is the mapping's. */
const WAITING_LOCK = 7_160_345;

export async function checkpoint(knex: Knex, range: TakenRange, group: GroupOutcome): Promise<void> {
  await inTransaction(knex, async (trx) => {
    await holdRange(trx, range);
    // Two runs that meet the same busy records must see each other's entries, or the books of one keep them for ever.
    if (group.waiting.length > 0) await trx.raw('SELECT pg_advisory_xact_lock(?, ?)', [WAITING_LOCK, range.mappingId]);
    if (!(await isHeldStill(trx, group.reading))) return;
    if (range.keepsRecords) await writeOutcomes(trx, range, group.reading.after, group.records, group.bulk);
    await closeBatches(trx, group);
    const open = await openEntries(trx, range.mappingId);
    if (open.letters) await closeDeadLetters(trx, range.mappingId, group);
    const { moved, gone } = await endWaiting(trx, range, group, open.waiting);
    await writeWaiting(trx, range, group);
    await writeDeadLetters(trx, range, group);
    await addToBooks(trx, [...booksOf(range, group, gone), ...moved]);
    await movePosition(trx, range, group);
  });
}

/** Two runs may follow one batch: what the one has written, the other need not. */
async function isHeldStill(trx: Knex, reading: Reading): Promise<boolean> {
  if (reading.kind !== 'held') return true;
  const { rows } = await trx.raw<{ rows: object[] }>(
    `SELECT FROM batches WHERE id = ? AND state = 'waiting' AND json_array_length(external_ids) = ? FOR UPDATE`,
    [reading.batchId, reading.seen],
  );
  return rows.length === 1;
}

/** Whether the mapping has waiting records and dead letters. Nearly always there are none, and asking costs next to nothing. */
async function openEntries(trx: Knex, mappingId: number): Promise<{ waiting: boolean; letters: boolean }> {
  const { rows } = await prepared<{ waiting: boolean; letters: boolean }>(
    trx,
    'open_entries',
    `SELECT EXISTS (SELECT FROM waiting WHERE mapping_id = :mapping) AS waiting,
       EXISTS (SELECT FROM dead_letters WHERE mapping_id = :mapping) AS letters`,
    { mapping: mappingId },
  );
  return rows[0]!;
}

async function closeBatches(trx: Knex, group: GroupOutcome): Promise<void> {
  if (group.settled.length > 0)
    await prepared(
      trx,
      'close_batches',
      `UPDATE batches SET external_ids = NULL, content_hashes = NULL, low = NULL, high = NULL, state = 'settled',
         settled_at = now()
       WHERE id = ANY (CAST(? AS bigint[]))`,
      [[...group.settled]],
    );
  for (const { id, externalIds } of group.held)
    await trx('batches')
      .where({ id })
      .update({ state: 'waiting', external_ids: JSON.stringify(externalIds) });
}

/**
 * What the reading of a group adds to the books of its range, tenant by tenant. A row that was held when it was
 * claimed, and is `gone` from the waiting records by now, has arrived meanwhile: it counts as unchanged.
 */
function booksOf(
  range: TakenRange,
  { reading, bulk, ends, unmapped, readTwice }: GroupOutcome,
  gone: ReadonlySet<RowEnd>,
): BooksEntry[] {
  if (reading.kind !== 'first') return [];
  const byTenant = new Map<number, { -readonly [K in keyof BooksEntry]: BooksEntry[K] }>();
  const count = (tenantId: number, column: Column, rows: number): void => {
    let books = byTenant.get(tenantId);
    if (books === undefined) byTenant.set(tenantId, (books = { ...EMPTY_BOOKS, rangeId: range.id, tenantId }));
    books.read += rows;
    books[column] += rows;
  };
  for (const { tenantId, column, records } of bulk) count(tenantId, column, records.length);
  for (const end of ends) count(end.tenantId, gone.has(end) ? 'unchanged' : end.column, 1);
  for (let i = 0; i < (unmapped?.letters.length ?? 0); i++)
    count(unmapped!.tenantIdOf(unmapped!.letters.tenantAt(i)), 'deadLettered', 1);
  const [first] = byTenant.values();
  if (first !== undefined) {
    first.read += readTwice;
    first.unchanged += readTwice;
  }
  return [...byTenant.values()];
}

async function addToBooks(trx: Knex, entries: readonly BooksEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const column = (name: keyof Books) => entries.map((e) => e[name]);
  await prepared(
    trx,
    'add_to_books',
    `INSERT INTO books AS b (range_id, tenant_id, read, accepted, unchanged, waiting, dead_lettered)
     SELECT range_id, tenant_id, sum(read), sum(accepted), sum(unchanged), sum(waiting), sum(dead_lettered)
     FROM unnest(?::bigint[], ?::int[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
       AS e(range_id, tenant_id, read, accepted, unchanged, waiting, dead_lettered)
     GROUP BY range_id, tenant_id
     ORDER BY range_id, tenant_id -- one order for all, so that checkpoints cannot deadlock here
     ON CONFLICT (range_id, tenant_id) DO UPDATE SET
       read = b.read + excluded.read, accepted = b.accepted + excluded.accepted, unchanged = b.unchanged + excluded.unchanged,
       waiting = b.waiting + excluded.waiting, dead_lettered = b.dead_lettered + excluded.dead_lettered`,
    [
      entries.map((e) => e.rangeId),
      entries.map((e) => e.tenantId),
      column('read'),
      column('accepted'),
      column('unchanged'),
      column('waiting'),
      column('deadLettered'),
    ],
  );
}

async function movePosition(trx: Knex, range: TakenRange, { position, done }: GroupOutcome): Promise<void> {
  await prepared(
    trx,
    'move_position',
    `UPDATE ranges SET updated_at = now(), done = done OR :done,
       position_cursor = CASE WHEN :moved THEN :cursor ELSE position_cursor END,
       position_key = CASE WHEN :moved THEN CAST(:key AS text[]) ELSE position_key END
     WHERE id = :id`,
    {
      done,
      moved: position !== null,
      cursor: position?.cursor ?? null,
      key: position === null ? null : [...position.key],
      id: range.id,
    },
  );
  if (position !== null && position.cursor !== null)
    await trx.raw(
      `INSERT INTO positions (mapping_id, cursor, key, run_id)
       SELECT mapping_id, :cursor, CAST(:key AS text[]), run_id FROM ranges WHERE id = :id AND moves_position
       ON CONFLICT (mapping_id) DO UPDATE SET cursor = excluded.cursor, key = excluded.key, run_id = excluded.run_id, moved_at = now()`,
      { cursor: position.cursor, key: [...position.key], id: range.id },
    );
}
