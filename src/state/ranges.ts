/** Ranges: what a run reads of a mapping, how far each is settled, and who may work on it. */
import type { Knex } from 'knex';
import { PartnerSyncError } from '../domain/errors.js';
import { prepared } from './prepared.js';
import type { Position, ReadBounds, SourceKey } from '../domain/source.js';

export interface NewRange extends Omit<ReadBounds, 'after'> {
  readonly byCursor: boolean;
  readonly movesPosition: boolean;
  readonly afterKey: SourceKey | null;
  /** Instead of bounds: the external ids to read. */
  readonly externalIds: readonly string[] | null;
}

/** A range as an attempt has taken it over. */
export interface TakenRange {
  readonly id: string;
  readonly runId: string;
  readonly mappingId: number;
  readonly mappingVersion: string;
  /** Whether the ledger keeps what was sent of each record. */
  readonly keepsRecords: boolean;
  readonly byCursor: boolean;
  readonly bounds: ReadBounds;
  readonly externalIds: readonly string[] | null;
  /** Read for the first of two passes (deliver-ahead.ts). */
  readonly ahead: boolean;
  readonly done: boolean;
  readonly epoch: number;
}

export interface Ranges {
  /** Plans a mapping's ranges, unless an earlier call has. */
  plan(runId: string, mappingId: number, ranges: readonly NewRange[], ahead?: boolean): Promise<void>;
  planned(
    runId: string,
    mappingId: number,
    ahead?: boolean,
  ): Promise<readonly { readonly id: string; readonly done: boolean }[]>;
  /** Takes a range over: attempts that held it before are fenced off from now on. */
  take(rangeId: string): Promise<TakenRange>;
  position(mappingId: number): Promise<Position | null>;
  /** The run's range for records that are read again by key; it has no bounds and moves no position. */
  forFollowing(runId: string, mappingId: number): Promise<string>;
  /** The run's range for records whose rows are gone; its position is a key of the ledger. */
  forRemoving(runId: string, mappingId: number): Promise<string>;
}

/** Numbers of the ranges that belong to no plan: one each of a run and mapping. */
const FOLLOWING = -1;
export const REMOVING = -2;
/** Ranges of a first pass are numbered downwards from here, below all others; those of the plan upwards from 0. */
const FIRST_AHEAD = Math.min(FOLLOWING, REMOVING) - 1;

interface RangeRow {
  id: string;
  run_id: string;
  mapping_id: number;
  no: number;
  mapping_version: string;
  keeps_records: boolean;
  by_cursor: boolean;
  cursor_from: string | null;
  cursor_before: string | null;
  after_key: string[] | null;
  through_key: string[] | null;
  external_ids: string[] | null;
  position_cursor: string | null;
  position_key: string[] | null;
  done: boolean;
  epoch: number;
}

export function openRanges(knex: Knex): Ranges {
  const unplanned = async (runId: string, mappingId: number, no: number, done: boolean): Promise<string> => {
    const range = { run_id: runId, mapping_id: mappingId, no };
    await knex('ranges')
      .insert({ ...range, by_cursor: false, moves_position: false, done })
      .onConflict(['run_id', 'mapping_id', 'no'])
      .ignore();
    return (await knex('ranges').where(range).first<{ id: string }>('id')).id;
  };
  return {
    planned: (runId, mappingId, ahead = false) =>
      knex('ranges')
        .where({ run_id: runId, mapping_id: mappingId })
        .where('no', ...(ahead ? (['<=', FIRST_AHEAD] as const) : (['>=', 0] as const)))
        .orderBy('no', ahead ? 'desc' : 'asc')
        .select<{ id: string; done: boolean }[]>('id', 'done'),
    async plan(runId, mappingId, ranges, ahead = false) {
      await knex('ranges')
        .insert(
          ranges.map((r, i) => ({
            run_id: runId,
            mapping_id: mappingId,
            no: ahead ? FIRST_AHEAD - i : i,
            by_cursor: r.byCursor,
            moves_position: r.movesPosition && !ahead,
            cursor_from: r.cursorFrom,
            cursor_before: r.cursorBefore,
            after_key: r.afterKey,
            through_key: r.throughKey,
            external_ids: r.externalIds,
          })),
        )
        .onConflict(['run_id', 'mapping_id', 'no'])
        .ignore();
    },
    async take(rangeId) {
      const result = await knex.raw<{ rows: RangeRow[] }>(
        `UPDATE ranges SET epoch = epoch + 1, started_at = coalesce(started_at, now()) WHERE id = ?
         RETURNING *, (SELECT mapping_version FROM runs WHERE runs.id = ranges.run_id),
           (SELECT keeps_records FROM mappings WHERE mappings.id = ranges.mapping_id)`,
        [rangeId],
      );
      const row = result.rows[0];
      if (row === undefined) throw new PartnerSyncError('unexpected', `no range ${rangeId} in the ledger`);
      const key = row.position_key ?? row.after_key;
      return {
        id: row.id,
        runId: row.run_id,
        mappingId: row.mapping_id,
        mappingVersion: row.mapping_version,
        keepsRecords: row.keeps_records,
        byCursor: row.by_cursor,
        bounds: {
          after: key === null ? null : { cursor: row.position_cursor, key },
          cursorFrom: row.cursor_from,
          cursorBefore: row.cursor_before,
          throughKey: row.through_key,
        },
        externalIds: row.external_ids,
        ahead: row.no <= FIRST_AHEAD,
        done: row.done,
        epoch: row.epoch,
      };
    },
    forFollowing: (runId, mappingId) => unplanned(runId, mappingId, FOLLOWING, true),
    forRemoving: (runId, mappingId) => unplanned(runId, mappingId, REMOVING, false),
    async position(mappingId) {
      const row = await knex('positions').where({ mapping_id: mappingId }).first<Position | undefined>('cursor', 'key');
      return row ?? null;
    },
  };
}

/** Locks the range for this transaction; throws `fenced_off` when a newer attempt has taken it over. */
export async function holdRange(trx: Knex, range: TakenRange): Promise<void> {
  const { rowCount } = await prepared(
    trx,
    'hold_range',
    'UPDATE ranges SET updated_at = now() WHERE id = ? AND epoch = ?',
    [range.id, range.epoch],
  );
  if (rowCount !== 1)
    throw new PartnerSyncError('fenced_off', `range ${range.id} was taken over by a newer attempt`, {
      range: range.id,
    });
}
