/**
 * The one place that moves a position: outcomes, waiting records, dead letters, books and position of a
 * group of rows are written in one transaction, so that a position never passes a row without an outcome.
 */
import type { Knex } from 'knex';
import type { UnmappableRow } from '../domain/record.js';
import { EMPTY_BOOKS, type Books } from '../domain/run.js';
import type { Position, SourceKey } from '../domain/source.js';
import { closeDeadLetters, writeDeadLetters } from './dead-letters.js';
import { freeRecords, type RecordOutcome } from './open-batches.js';
import { holdRange, type TakenRange } from './ranges.js';
import { endWaiting, writeWaiting } from './waiting-rows.js';

/** The column of the books in which a row ended. */
export type Column = Exclude<keyof Books, 'read'>;

/** Where one row ended. */
export interface RowEnd {
  readonly tenantId: number;
  /** null where the row has none that could be told. */
  readonly externalId: string | null;
  readonly sourceKey: SourceKey;
  readonly column: Column;
}

export interface WaitingRecord {
  readonly tenantId: number;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  readonly reason: 'dependency' | 'busy' | 'expired' | 'unclear';
  /** The batch in which the platform holds the record; null when it is to be read and sent again. */
  readonly batchId: string | null;
  readonly missing: readonly { readonly schemaName: string; readonly externalId: string }[];
  readonly expiresAt: string | null;
  /** Seconds until it is worth looking again. */
  readonly dueIn: number;
}

export interface DeadLetter extends Omit<UnmappableRow, 'kind' | 'tenant'> {
  /** 0 where the row named no known tenant. */
  readonly tenantId: number;
}

/**
 * How the rows of a group came to be looked at.
 * - `first`: read in a range's order; they count in its books, and an earlier reading that waits is superseded.
 * - `again`: waiting records, read again by their keys; they move in the books from waiting to where they ended.
 * - `held`: not read, but followed on the platform in the batch that holds them.
 */
export type Reading =
  | { readonly kind: 'first' | 'again'; readonly before: string; readonly after: string }
  | { readonly kind: 'held'; readonly batchId: string; readonly before: string; readonly after: string };

export interface GroupOutcome {
  readonly reading: Reading;
  /** The claim of the records; null when the group sent nothing. */
  readonly claim: string | null;
  readonly records: readonly RecordOutcome[];
  /** Batches that are through, and batches of which only waiting records are open (with their ids). */
  readonly settled: readonly string[];
  readonly held: readonly { readonly id: string; readonly externalIds: readonly string[] }[];
  readonly waiting: readonly WaitingRecord[];
  readonly deadLetters: readonly DeadLetter[];
  /** Every row of the group, once. */
  readonly ends: readonly RowEnd[];
  /** Rows that were read, beyond those in `ends`: read twice in one group, they count as unchanged. */
  readonly readTwice: number;
  /** Where the group ends; null leaves the range's position alone. */
  readonly position: Position | null;
  readonly done: boolean;
}

/** What is added to the books of one tenant in one range; a resolved waiting record moves between columns. */
export interface BooksEntry extends Books {
  readonly rangeId: string;
  readonly tenantId: number;
}

export async function checkpoint(knex: Knex, range: TakenRange, group: GroupOutcome): Promise<void> {
  await knex.transaction(async (trx) => {
    await holdRange(trx, range);
    if (group.claim !== null) await freeRecords(trx, range, group.claim, group.records);
    await closeBatches(trx, group);
    await closeDeadLetters(trx, range.mappingId, group);
    const { moved, gone } = await endWaiting(trx, range, group);
    await writeWaiting(trx, range, group);
    await writeDeadLetters(trx, range, group);
    await addToBooks(trx, [...booksOf(range, group, gone), ...moved]);
    await movePosition(trx, range, group);
  });
}

async function closeBatches(trx: Knex, group: GroupOutcome): Promise<void> {
  if (group.settled.length > 0)
    await trx('batches')
      .whereIn('id', [...group.settled])
      .update({ state: 'settled', external_ids: null, settled_at: trx.fn.now() });
  for (const { id, externalIds } of group.held)
    await trx('batches').where({ id }).update({ state: 'waiting', external_ids: externalIds });
}

/**
 * What the reading of a group adds to the books of its range, tenant by tenant. A row that was held when it was
 * claimed, and is `gone` from the waiting records by now, has arrived meanwhile: it counts as unchanged.
 */
function booksOf(
  range: TakenRange,
  { reading, ends, readTwice }: GroupOutcome,
  gone: ReadonlySet<RowEnd>,
): BooksEntry[] {
  if (reading.kind !== 'first') return [];
  const byTenant = new Map<number, { -readonly [K in keyof BooksEntry]: BooksEntry[K] }>();
  for (const end of ends) {
    let books = byTenant.get(end.tenantId);
    if (books === undefined)
      byTenant.set(end.tenantId, (books = { ...EMPTY_BOOKS, rangeId: range.id, tenantId: end.tenantId }));
    books.read++;
    books[gone.has(end) ? 'unchanged' : end.column]++;
  }
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
  await trx.raw(
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
  await trx.raw(
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
