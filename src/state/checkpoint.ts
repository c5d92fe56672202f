/**
 * The one place that moves a position: outcomes, waiting records, dead letters, books and position of a
 * group of rows are written in one transaction, so that a position never passes a row without an outcome.
 */
import type { Knex } from 'knex';
import { EMPTY_BOOKS, type Books } from '../domain/run.js';
import type { UnmappableRow } from '../domain/record.js';
import type { Position, SourceKey } from '../domain/source.js';
import { freeRecords, type RecordOutcome } from './open-batches.js';
import { holdRange, type TakenRange } from './ranges.js';

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

/** Books of one tenant in one range; a resolved waiting record moves from one column to another. */
export interface BooksEntry extends Books {
  readonly rangeId: string;
  readonly tenantId: number;
}

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

export interface GroupOutcome {
  /**
   * `first`: rows read in a range's order; an earlier reading that still waits is superseded by this one.
   * `again`: waiting records looked after; they move from waiting to where they ended.
   */
  readonly reading: 'first' | 'again';
  /** The claim of {@link RecordOutcome}s; null when the group sent nothing. */
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

export async function checkpoint(knex: Knex, range: TakenRange, group: GroupOutcome): Promise<void> {
  await knex.transaction(async (trx) => {
    await holdRange(trx, range);
    if (group.claim !== null) await freeRecords(trx, range, group.claim, group.records);
    await closeBatches(trx, group);
    await closeDeadLetters(trx, range.mappingId, group.ends);
    const moved = await endWaiting(trx, range, group);
    await writeWaiting(trx, range, group.waiting);
    await writeDeadLetters(trx, range, group.deadLetters);
    await addToBooks(trx, [...booksOf(range, group), ...moved]);
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

/** A row whose record is on the platform now has no dead letter any more. */
async function closeDeadLetters(trx: Knex, mappingId: number, ends: readonly RowEnd[]): Promise<void> {
  // Nearly always there are none, and the existence check costs next to nothing.
  const { rows } = await trx.raw<{ rows: object[] }>('SELECT FROM dead_letters WHERE mapping_id = ? LIMIT 1', [
    mappingId,
  ]);
  if (rows.length === 0) return;
  const keys = ends.filter((e) => e.column === 'accepted' || e.column === 'unchanged').map((e) => e.sourceKey);
  await trx.raw(
    `DELETE FROM dead_letters WHERE mapping_id = ? AND source_key IN
       (SELECT ARRAY(SELECT jsonb_array_elements_text(k)) FROM jsonb_array_elements(CAST(? AS jsonb)) AS k)`,
    [mappingId, JSON.stringify(keys)],
  );
}

/**
 * Ends the waiting of records that have an outcome now, and answers how the books of the runs in which they
 * were waiting move: a run that is over keeps its books.
 */
async function endWaiting(trx: Knex, range: TakenRange, { reading, ends }: GroupOutcome): Promise<BooksEntry[]> {
  const any = await trx.raw<{ rows: object[] }>('SELECT FROM waiting WHERE mapping_id = ? LIMIT 1', [range.mappingId]);
  if (any.rows.length === 0) return [];
  const named = ends.filter((e) => e.externalId !== null);
  const { rows } = await trx.raw<{ rows: { index: number; range_id: string; open: boolean }[] }>(
    `SELECT i.ord::int - 1 AS index, w.range_id, runs.ended_at IS NULL AS open
     FROM unnest(CAST(? AS int[]), CAST(? AS text[])) WITH ORDINALITY AS i(tenant_id, external_id, ord)
     JOIN waiting w ON w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
     JOIN ranges ON ranges.id = w.range_id JOIN runs ON runs.id = ranges.run_id`,
    [named.map((e) => e.tenantId), named.map((e) => e.externalId!), range.mappingId],
  );
  const moved: BooksEntry[] = [];
  const still: RowEnd[] = [];
  const over: RowEnd[] = [];
  for (const { index, range_id, open } of rows) {
    const end = named[index]!;
    (end.column === 'waiting' ? still : over).push(end);
    const column = reading === 'first' ? 'unchanged' : end.column;
    if (open && column !== 'waiting')
      moved.push({ ...EMPTY_BOOKS, rangeId: range_id, tenantId: end.tenantId, waiting: -1, [column]: 1 });
  }
  const each = (sql: string, concerned: readonly RowEnd[], bindings: readonly string[]) =>
    concerned.length === 0
      ? Promise.resolve()
      : trx.raw(sql, [
          ...bindings,
          concerned.map((e) => e.tenantId),
          concerned.map((e) => e.externalId!),
          range.mappingId,
        ]);
  const matching = `unnest(CAST(? AS int[]), CAST(? AS text[])) AS i(tenant_id, external_id)
     WHERE w.mapping_id = ? AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`;
  await each(`DELETE FROM waiting w USING ${matching}`, over, []);
  if (reading === 'first') await each(`UPDATE waiting w SET range_id = ? FROM ${matching}`, still, [range.id]);
  return moved;
}

/** What the reading of a group adds to the books of its range, tenant by tenant. */
function booksOf(range: TakenRange, { reading, ends, readTwice }: GroupOutcome): BooksEntry[] {
  if (reading === 'again') return [];
  const byTenant = new Map<number, { -readonly [K in keyof BooksEntry]: BooksEntry[K] }>();
  for (const { tenantId, column } of ends) {
    let books = byTenant.get(tenantId);
    if (books === undefined) byTenant.set(tenantId, (books = { ...EMPTY_BOOKS, rangeId: range.id, tenantId }));
    books.read++;
    books[column]++;
  }
  const [first] = byTenant.values();
  if (first !== undefined) {
    first.read += readTwice;
    first.unchanged += readTwice;
  }
  return [...byTenant.values()];
}

async function writeWaiting(trx: Knex, range: TakenRange, waiting: readonly WaitingRecord[]): Promise<void> {
  for (const w of waiting)
    await trx.raw(
      `INSERT INTO waiting (mapping_id, tenant_id, external_id, source_key, reason, batch_id, range_id, missing, expires_at, due_at)
       VALUES (:mapping, :tenant, :id, :key, :reason, :batch, :range, :missing, :expires, now() + :due * interval '1 second')
       ON CONFLICT (mapping_id, tenant_id, external_id) DO UPDATE SET
         source_key = excluded.source_key, reason = excluded.reason, batch_id = excluded.batch_id,
         missing = excluded.missing, expires_at = excluded.expires_at, due_at = excluded.due_at, changed = false,
         tries = waiting.tries + 1`,
      {
        mapping: range.mappingId,
        tenant: w.tenantId,
        id: w.externalId,
        key: w.sourceKey,
        reason: w.reason,
        batch: w.batchId,
        range: range.id,
        missing: JSON.stringify(w.missing),
        expires: w.expiresAt,
        due: w.dueIn,
      },
    );
}

async function writeDeadLetters(trx: Knex, range: TakenRange, letters: readonly DeadLetter[]): Promise<void> {
  for (const d of letters)
    await trx('dead_letters')
      .insert({
        mapping_id: range.mappingId,
        tenant_id: d.tenantId,
        source_key: d.sourceKey,
        external_id: d.externalId,
        mapping_version: range.mappingVersion,
        code: d.code,
        pointer: d.pointer,
        rule: d.rule,
        reason: d.reason,
        shape: d.shape,
        run_id: range.runId,
      })
      .onConflict(['mapping_id', 'source_key'])
      .merge({
        tenant_id: d.tenantId,
        external_id: d.externalId,
        mapping_version: range.mappingVersion,
        code: d.code,
        pointer: d.pointer,
        rule: d.rule,
        reason: d.reason,
        shape: d.shape,
        run_id: range.runId,
        times: trx.raw('dead_letters.times + 1'),
        last_seen: trx.fn.now(),
      });
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

async function movePosition(trx: Knex, range: TakenRange, group: GroupOutcome): Promise<void> {
  const { position, done } = group;
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
