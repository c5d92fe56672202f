/** Partitions: what a run reads of a mapping, how far each one has come, and which attempt may work on it. */
import type { Knex } from 'knex';
import { PartnerSyncError } from '../../domain/errors.js';
import type { PartitionBounds } from '../../domain/run/partition-label.js';
import { beginLoad, endLoad } from '../changes/feeds.js';
import { takeLeftToLoad } from '../changes/left-to-load.js';
import { inTransaction, prepared } from '../database/statements.js';
import type { KeyRange, ReadBounds, SourceKey } from '../../domain/source/source.js';
import { workFrom, type PartitionKind, type PartitionWork, type StoredWork } from './resume-point.js';

export interface NewPartition extends Omit<ReadBounds, 'after'> {
  /** Whether it is read in the order of the cursor rather than the key. */
  readonly byCursor: boolean;
  /** Whether reading it moves the mapping's position, from which the next incremental run begins. */
  readonly movesPosition: boolean;
  /** What the position is one of, if the partition moves it ({@link Position.reads}). */
  readonly reads?: string;
  /** The key after which it begins; null: at the first key. */
  readonly afterKey: SourceKey | null;
  /** Instead of bounds: the external ids to read. */
  readonly externalIds: readonly string[] | null;
}

/** How far incremental runs have read a mapping. */
export interface Position {
  readonly cursor: string;
  /** What the cursor is a value of, as a hash; a position in anything else does not count (src/delivery/cursor-position.ts). */
  readonly reads: string;
}

/** A partition as one attempt has acquired it; the fencing token tells this attempt from later ones. */
export interface AcquiredPartition {
  readonly id: string;
  readonly runId: string;
  readonly mappingId: number;
  readonly mappingVersion: string;
  /** Whether the mapping's records are in the record index (ADR 0020). */
  readonly keepsRecords: boolean;
  readonly work: PartitionWork;
  /** Read for the first of two passes (first-pass.ts). */
  readonly firstPass: boolean;
  readonly done: boolean;
  readonly fencingToken: number;
}

/** A partition as it was planned, and whether it is read to its end. */
export interface PlannedPartition extends PartitionBounds {
  readonly id: string;
  readonly kind: PartitionKind;
  readonly done: boolean;
}

/** The partition of a run for rows of small tenants. It is done while no round of their delivery is in progress. */
export interface SmallTenantsPartition {
  readonly id: string;
  readonly done: boolean;
  /** The cursor value from which the next round reads; null before the first one has ended. */
  readonly from: string | null;
}

/** What is known of a run's partitions of a mapping together. */
export interface PlannedRead {
  /** About how many rows they have; null if nobody knows. */
  readonly expectedRows: number | null;
  /** Whether they are everything that has changed since the mapping was read last, or every row. */
  readonly isComplete: boolean;
  /** The moment that their high watermark stands for; null if they have none, or it is no time. */
  readonly highWatermarkAt: Date | null;
  /** Whether the mapping goes by a change feed, and is loaded once they are done ({@link beginLoad}). */
  readonly loads?: boolean;
}

/** A partition of the rows with keys in this range. */
export const ofKeyRange = ({ after, through }: KeyRange): NewPartition => ({
  byCursor: false,
  movesPosition: false,
  cursorFrom: null,
  cursorBefore: null,
  afterKey: after,
  throughKey: through,
  externalIds: null,
});

/** Some rows, as somebody has asked for them. */
const SOME_ROWS: PlannedRead = { expectedRows: null, isComplete: false, highWatermarkAt: null };

/** The greatest `seq` that a changed row can have. */
const LAST_SEQ = '9223372036854775807';

export interface Partitions {
  /** Writes the run's partitions of a mapping, in this order, unless another attempt has written some already. */
  plan(runId: string, mappingId: number, partitions: readonly NewPartition[], read?: PlannedRead): Promise<void>;
  /** Writes the partitions of {@link plan} a second time, for the first of two passes; they move no position. */
  planFirstPass(runId: string, mappingId: number): Promise<void>;
  /**
   * Writes partitions for what a load that was stopped has left ({@link takeLeftToLoad}), if there is such a load. `changed`: the
   * run also reads changed rows up to that `seq`, of which there are so many, and has read everything up to `readAt` then; null: it
   * reads them in another way. Returns whether there is anything to go on with.
   */
  planLeftToLoad(
    runId: string,
    mappingId: number,
    changed: { readonly seq: string; readonly rows: number; readonly readAt: Date } | null,
  ): Promise<boolean>;
  /**
   * Writes the run's partition for the dead letters that it replays: those with ids up to `through`, since later ones
   * are left to the next replay.
   */
  planDeadLetters(runId: string, mappingId: number, through: string): Promise<void>;
  /** Writes the run's partition for the changed rows with a `seq` up to `through`: later ones are left to the next run. */
  planChangedRows(runId: string, mappingId: number, through: string, read: PlannedRead): Promise<void>;
  /** Id of the run's partition for changed rows that are delivered as they are named: it has no end. */
  forChangedRows(runId: string, mappingId: number): Promise<string>;
  /** The partitions that were planned, in the same order: those of the first pass, or the others. */
  planned(runId: string, mappingId: number, firstPass?: boolean): Promise<readonly PlannedPartition[]>;
  /** Acquires a partition: from now on all earlier attempts at it are fenced off. Throws `run_stopped` if its run has ended. */
  acquire(partitionId: string): Promise<AcquiredPartition>;
  /** Records that the partition is read to its end. Throws `fenced_off`. */
  finish(partition: AcquiredPartition): Promise<void>;
  /** Up to where incremental runs have read the mapping; null before the first one. */
  position(mappingId: number): Promise<Position | null>;
  /**
   * Id of the run's partition for rows that are read by their keys, again or as parents; it has no bounds and no resume point. From
   * now on the run counts as one that reads the mapping.
   */
  forRowsByKey(runId: string, mappingId: number): Promise<string>;
  /** The run's partition for rows of small tenants. */
  forSmallTenants(runId: string, mappingId: number): Promise<SmallTenantsPartition>;
  /** Records up to which cursor value the rows of small tenants were delivered, or left to the reading in order. */
  passSmallTenants(partitionId: string, until: string): Promise<void>;
  /** Id of the run's partition for records whose rows have vanished. */
  forRemovals(runId: string, mappingId: number): Promise<string>;
}

interface PartitionRow extends StoredWork {
  id: string;
  run_id: string;
  mapping_id: number;
  mapping_version: string;
  keeps_records: boolean;
  done: boolean;
  fencing_token: number;
  run_has_ended: boolean;
}

export function openPartitions(knex: Knex): Partitions {
  return {
    planned: (runId, mappingId, firstPass = false) =>
      knex('partitions')
        .where({ run_id: runId, mapping_id: mappingId })
        .whereIn('kind', firstPass ? ['first_pass'] : ['planned', 'dead_letters', 'changed_rows'])
        .orderBy('no')
        .select<PlannedPartition[]>(
          'id',
          'kind',
          'done',
          'cursor_from as cursorFrom',
          'cursor_before as cursorBefore',
          'after_key as afterKey',
          'through_key as throughKey',
          'external_ids as externalIds',
        ),
    plan: (runId, mappingId, partitions, read = SOME_ROWS) =>
      inTransaction(knex, async (trx) => {
        if (await isPlanned(trx, runId, mappingId)) return;
        if (read.loads === true) await beginLoad(trx, mappingId, runId);
        await insertPlanned(trx, runId, mappingId, partitions, read);
      }),
    planLeftToLoad: (runId, mappingId, changed) =>
      inTransaction(knex, async (trx) => {
        if (await isPlanned(trx, runId, mappingId)) return true;
        const left = await takeLeftToLoad(trx, mappingId, runId);
        if (left === null) return false;
        const { ranges, expectedRows } = left;
        const read = { isComplete: changed !== null, highWatermarkAt: changed?.readAt ?? null, expectedRows };
        await insertPlanned(trx, runId, mappingId, ranges.map(ofKeyRange), read);
        if (changed === null) return true;
        const rows = expectedRows === null ? null : changed.rows;
        await planChanged(trx, runId, mappingId, changed.seq, { ...read, expectedRows: rows });
        return true;
      }),
    async planFirstPass(runId, mappingId) {
      await knex.raw(
        `INSERT INTO partitions (run_id, mapping_id, kind, no, by_cursor, moves_position, cursor_from, cursor_before,
           after_key, through_key, external_ids)
         SELECT run_id, mapping_id, 'first_pass', no, by_cursor, false, cursor_from, cursor_before, after_key, through_key,
           external_ids
         FROM partitions WHERE run_id = ? AND mapping_id = ? AND kind = 'planned'
         ON CONFLICT (run_id, mapping_id, kind, no) DO NOTHING`,
        [runId, mappingId],
      );
    },
    async acquire(partitionId) {
      const result = await knex.raw<{ rows: PartitionRow[] }>(
        `UPDATE partitions SET fencing_token = fencing_token + 1, started_at = coalesce(started_at, now()),
           done = done AND kind <> 'small_tenants'
         WHERE id = ?
         RETURNING *, (SELECT mapping_version FROM runs WHERE runs.id = partitions.run_id),
           (SELECT ended_at IS NOT NULL FROM runs WHERE runs.id = partitions.run_id) AS run_has_ended,
           (SELECT keeps_records FROM mappings WHERE mappings.id = partitions.mapping_id)`,
        [partitionId],
      );
      const row = result.rows[0];
      if (row === undefined) throw new PartnerSyncError('unexpected', `no partition ${partitionId} in the ledger`);
      if (row.run_has_ended)
        throw new PartnerSyncError(
          'run_stopped',
          `run ${row.run_id} has ended already, and does not go on if it is reset in Temporal; start a new run`,
        );
      return {
        id: row.id,
        runId: row.run_id,
        mappingId: row.mapping_id,
        mappingVersion: row.mapping_version,
        keepsRecords: row.keeps_records,
        work: workFrom(row),
        firstPass: row.kind === 'first_pass',
        done: row.done,
        fencingToken: row.fencing_token,
      };
    },
    finish: (partition) =>
      inTransaction(knex, async (trx) => {
        await lockPartition(trx, partition);
        await trx('partitions').where({ id: partition.id }).update({ done: true });
        await endLoad(trx, partition);
      }),
    async planDeadLetters(runId, mappingId, through) {
      await onlyOne(knex, runId, mappingId, 'dead_letters', { done: false, through_key: [through] });
    },
    planChangedRows: (runId, mappingId, through, read) => planChanged(knex, runId, mappingId, through, read),
    forChangedRows: (runId, mappingId) =>
      onlyOne(knex, runId, mappingId, 'changed_rows', { done: false, through_key: [LAST_SEQ] }),
    forRowsByKey: (runId, mappingId) => onlyOne(knex, runId, mappingId, 'by_key', { done: true, fencing_token: 1 }),
    async forSmallTenants(runId, mappingId) {
      const id = await onlyOne(knex, runId, mappingId, 'small_tenants', { done: true });
      return await knex('partitions').where({ id }).first<SmallTenantsPartition>('id', 'done', 'cursor_from as from');
    },
    async passSmallTenants(partitionId, until) {
      await knex('partitions').where({ id: partitionId }).update({ cursor_from: until });
    },
    forRemovals: (runId, mappingId) => onlyOne(knex, runId, mappingId, 'removals', { done: false }),
    async position(mappingId) {
      const row = await knex('positions')
        .where({ mapping_id: mappingId })
        .first<Position | undefined>('cursor', 'reads');
      return row ?? null;
    },
  };
}

/** Id of the run's only partition of this kind for the mapping; it is written if there is none yet. */
async function onlyOne(
  knex: Knex,
  runId: string,
  mappingId: number,
  kind: PartitionKind,
  columns: {
    readonly done: boolean;
    readonly fencing_token?: number;
    readonly through_key?: readonly string[];
    readonly expected_rows?: number | null;
    readonly read_until?: Date | null;
  },
): Promise<string> {
  const partition = { run_id: runId, mapping_id: mappingId, kind };
  await knex('partitions')
    .insert({ ...partition, by_cursor: false, moves_position: false, ...columns })
    .onConflict(['run_id', 'mapping_id', 'kind', 'no'])
    .ignore();
  return (await knex('partitions').where(partition).first<{ id: string }>('id')).id;
}

/** Attempts may divide the keys differently, so one must see the whole plan of the other, or write its own. */
async function isPlanned(trx: Knex, runId: string, mappingId: number): Promise<boolean> {
  await trx('runs').where({ id: runId }).forNoKeyUpdate().select('id');
  const planned = { run_id: runId, mapping_id: mappingId, kind: 'planned' };
  return (await trx('partitions').where(planned).first<object | undefined>('id')) !== undefined;
}

async function insertPlanned(
  trx: Knex,
  runId: string,
  mappingId: number,
  partitions: readonly NewPartition[],
  { expectedRows, isComplete, highWatermarkAt }: PlannedRead,
): Promise<void> {
  await trx('partitions').insert(
    partitions.map((p, no) => ({
      run_id: runId,
      mapping_id: mappingId,
      kind: 'planned',
      no,
      by_cursor: p.byCursor,
      moves_position: p.movesPosition,
      reads: p.reads ?? null,
      cursor_from: p.cursorFrom,
      cursor_before: p.cursorBefore,
      after_key: p.afterKey,
      through_key: p.throughKey,
      external_ids: p.externalIds,
      expected_rows: no === 0 ? expectedRows : null,
      // The clock of a source may be ahead of this one.
      read_until: isComplete ? trx.raw('least(now(), ?::timestamptz)', [highWatermarkAt]) : null,
    })),
  );
}

async function planChanged(
  knex: Knex,
  runId: string,
  mappingId: number,
  through: string,
  { expectedRows, isComplete, highWatermarkAt }: PlannedRead,
): Promise<void> {
  await onlyOne(knex, runId, mappingId, 'changed_rows', {
    done: false,
    through_key: [through],
    expected_rows: expectedRows,
    read_until: isComplete ? highWatermarkAt : null,
  });
}

/** What is left to do in a partition of this kind. Asked for another kind it throws, for that is a mistake of ours. */
export function workOf<K extends PartitionWork['kind']>(
  { id, work }: AcquiredPartition,
  kind: K,
): Extract<PartitionWork, { kind: K }> {
  if (work.kind === kind) return work as Extract<PartitionWork, { kind: K }>;
  throw new PartnerSyncError('unexpected', `partition ${id} has ${work.kind} to do, not ${kind}`);
}

/**
 * Locks the partition for this transaction; throws `fenced_off` when a newer attempt has taken it over, or its run has
 * ended: then nobody might come to take over an attempt that has outlived it. The run cannot end meanwhile.
 */
export async function lockPartition(trx: Knex, partition: AcquiredPartition): Promise<void> {
  const { rowCount } = await prepared(
    trx,
    'lock_partition',
    `WITH run AS (SELECT FROM runs WHERE id = ? AND ended_at IS NULL FOR KEY SHARE)
     UPDATE partitions SET updated_at = now() FROM run WHERE id = ? AND fencing_token = ?`,
    [partition.runId, partition.id, partition.fencingToken],
  );
  if (rowCount !== 1)
    throw new PartnerSyncError(
      'fenced_off',
      `partition ${partition.id} was taken over by a newer attempt, or its run has ended`,
      {
        partition: partition.id,
      },
    );
}
