/** Guards: how much of a mapping's records each run has changed, and which runs are on hold until somebody approves. */
import type { Knex } from 'knex';
import { PartnerSyncError } from '../../domain/errors.js';
import {
  holdLine,
  holdOf,
  type GuardedCounts,
  type GuardLimits,
  type Hold,
  type HoldCause,
} from '../../domain/sync/guard.js';
import type { NewAuditEntry } from '../../domain/run/audit.js';
import { writeAudit } from '../audit.js';
import { inTransaction } from '../database/statements.js';
import type { RecordEntry } from '../record-index/index.js';
import type { AcquiredPartition } from './partitions.js';

/** A mapping that a run which has not ended holds. */
export interface MappingOnHold extends Hold {
  readonly run: string;
  readonly since: Date;
  /** Keys of some of the rows concerned, as in the source. */
  readonly examples: readonly string[];
}

export interface Guards {
  /**
   * Guards the mapping in this run; the first call records how many of its records the platform has accepted by then.
   * Returns that number, and for which causes somebody has let the run go on.
   */
  begin(
    runId: string,
    mappingId: number,
  ): Promise<{ readonly accepted: number; readonly approved: readonly HoldCause[] }>;
  /** Records that the mapping is on hold; an earlier hold stays as it is. */
  putOnHold(runId: string, mappingId: number, hold: Hold, examples: readonly string[]): Promise<void>;
  /**
   * Lets the run go on with this mapping for this cause: beyond the limit, without any row, or with its removal plan. All
   * other limits stay. The audit tells who did so.
   */
  approve(runId: string, mappingId: number, cause: HoldCause, by: Omit<NewAuditEntry, 'action'>): Promise<void>;
  /**
   * The mappings that runs of the sync hold now, the first one first, without those that are on hold for
   * their removal plan.
   */
  onHold(sync: string): Promise<readonly MappingOnHold[]>;
}

/** What a claim needs to know of its chunk to be guarded. */
export interface ChunkGuard {
  readonly mapping: string;
  readonly limits: GuardLimits;
  /** Rows of the chunk, and those of them that are dead letters before anything is sent. */
  readonly rows: number;
  readonly deadLettered: number;
  /** Whether an earlier run has left the record like this after the first of two passes: to complete it changes nothing. */
  readonly isIncomplete: (index: number, contentHash: string) => boolean;
}

/** Thrown by a claim that would go beyond a limit: nothing of the chunk is claimed. */
export class GuardExceeded extends PartnerSyncError {
  /** @param changed the records of the request that would change, by index */
  constructor(
    readonly hold: Hold,
    readonly changed: readonly number[],
  ) {
    super('guard_exceeded', holdLine(hold));
  }
}

/**
 * Adds the records of a chunk that would change, by their indexes in the claim's request, to what the run has changed of
 * the mapping. Throws {@link GuardExceeded} if that is more than a limit.
 */
export type GuardCheck = (trx: Knex, changed: readonly number[]) => Promise<void>;

/**
 * Prepares the check of a chunk. What the finished chunks have read is summed here, as these sums grow with partitions
 * and tenants: the check itself runs under the claim's lock, for which the other chunks of the mapping wait.
 *
 * @returns a check that does nothing if the run is not guarded
 */
export async function guardCheck(
  knex: Knex,
  { runId, mappingId }: AcquiredPartition,
  guard: ChunkGuard | undefined,
): Promise<GuardCheck> {
  if (guard === undefined) return () => Promise.resolve();
  const { mapping, limits, rows, deadLettered } = guard;
  const finished = await finishedCounts(knex, runId, mappingId);
  const read = { read: finished.read + rows, deadLettered: finished.deadLettered + deadLettered };
  return async (trx, changed) => {
    // The row is locked until the claim commits, so partitions of one mapping add up. Nothing is locked after it.
    const { rows: found } = await trx.raw<{
      rows: (Pick<GuardedCounts, 'accepted' | 'changed'> & {
        readonly onHold: Hold | null;
        readonly approved: readonly HoldCause[];
      })[];
    }>(
      `UPDATE guards SET changed = changed + :changed WHERE run_id = :run AND mapping_id = :mapping
       RETURNING accepted::float8 AS accepted, changed::float8 AS changed, hold AS "onHold", approved`,
      { run: runId, mapping: mappingId, changed: changed.length },
    );
    const [guarded] = found;
    if (guarded === undefined) return;
    // Once the mapping is on hold, no other chunk of it is sent, however small it is. One may pass before the hold is written.
    const hold = guarded.onHold ?? holdOf(mapping, { ...guarded, ...read }, limits, guarded.approved);
    if (hold !== null) throw new GuardExceeded(hold, changed);
  };
}

/** Whether the run changes this record by sending other content: the platform has accepted it from an earlier run. */
export const isChangedBy = (runId: number, { runId: sentBy, contentHash }: RecordEntry): boolean =>
  sentBy !== runId && contentHash !== null;

/** What the finished chunks of the mapping have read, and how many of these rows are dead letters. */
async function finishedCounts(
  knex: Knex,
  runId: string,
  mappingId: number,
): Promise<Pick<GuardedCounts, 'read' | 'deadLettered'>> {
  const { rows } = await knex.raw<{ rows: Pick<GuardedCounts, 'read' | 'deadLettered'>[] }>(
    `SELECT coalesce(sum(c.read), 0)::float8 AS read, coalesce(sum(c.dead_lettered), 0)::float8 AS "deadLettered"
     FROM partitions p JOIN partition_counts c ON c.partition_id = p.id
     WHERE p.run_id = :run AND p.mapping_id = :mapping AND p.kind IN ('planned', 'changed_rows')`,
    { run: runId, mapping: mappingId },
  );
  return rows[0]!;
}

export function openGuards(knex: Knex): Guards {
  return {
    async begin(runId, mappingId) {
      await knex.raw(
        `INSERT INTO guards (run_id, mapping_id, accepted)
         SELECT :run, :mapping, coalesce((SELECT sum(accepted) FROM record_blocks WHERE mapping_id = :mapping), 0)
         ON CONFLICT (run_id, mapping_id) DO NOTHING`,
        { run: runId, mapping: mappingId },
      );
      const { rows } = await knex.raw<{ rows: { accepted: number; approved: HoldCause[] }[] }>(
        'SELECT accepted::float8 AS accepted, approved FROM guards WHERE run_id = ? AND mapping_id = ?',
        [runId, mappingId],
      );
      return rows[0]!;
    },
    async putOnHold(runId, mappingId, hold, examples) {
      await knex.raw(
        `UPDATE guards SET hold_at = now(), hold = CAST(:hold AS json), examples = CAST(:examples AS text[])
         WHERE run_id = :run AND mapping_id = :mapping AND hold_at IS NULL AND :cause <> ALL (approved)`,
        {
          run: runId,
          mapping: mappingId,
          hold: JSON.stringify(hold),
          cause: hold.cause,
          examples: [...examples],
        },
      );
    },
    approve: (runId, mappingId, cause, by) =>
      inTransaction(knex, async (trx) => {
        const of = { run_id: runId, mapping_id: mappingId };
        const approved =
          cause === 'gone'
            ? await trx('removal_plans')
                .where({ ...of, state: 'awaiting_approval' })
                .update({ state: 'due', approved_at: knex.fn.now() })
            : await trx('guards')
                .where(of)
                .whereRaw('? <> ALL (approved)', [cause])
                .update({ approved: knex.raw('array_append(approved, ?)', [cause]) });
        // A second attempt finds it approved.
        if (approved === 0) return;
        // Another cause may be what keeps the mapping on hold by now.
        await trx('guards')
          .where(of)
          .whereRaw(`hold ->> 'cause' = ?`, [cause])
          .update({ hold: null, examples: null, hold_at: null });
        await writeAudit(trx, { ...by, action: 'hold_approved' });
      }),
    async onHold(sync) {
      const { rows } = await knex.raw<{ rows: { run: string; since: Date; hold: Hold; examples: string[] }[] }>(
        `SELECT g.run_id AS run, g.hold_at AS since, g.hold, g.examples FROM guards g JOIN runs ON runs.id = g.run_id
         WHERE ${IS_ON_HOLD} AND runs.sync = ? ORDER BY g.hold_at, g.mapping_id`,
        [sync],
      );
      return rows.map(({ hold, ...rest }) => ({ ...hold, ...rest }));
    },
  };
}

/** Whether the guard `g` of the run `runs` holds a mapping. */
export const IS_ON_HOLD = 'runs.ended_at IS NULL AND g.hold_at IS NOT NULL';
