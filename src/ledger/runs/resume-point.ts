/** What a partition has left to do: resume points, and how a partition stores them. Only a checkpoint moves one. */
import type { RowPosition, ReadBounds, SourceKey } from '../../domain/source/source.js';
import type { SettledChangedRows } from '../changes/changed-rows.js';
import type { RecordPlace } from '../record-key.js';

/** Where the next attempt at a partition goes on. Its kind follows from what the partition reads. */
export type ResumePoint =
  /** After the row at this place in the reading order. */
  | { readonly kind: 'row'; readonly row: RowPosition }
  /** So many of the partition's external ids are done. */
  | { readonly kind: 'external_ids'; readonly done: number }
  /** After the dead letter with this id. */
  | { readonly kind: 'dead_letter'; readonly id: string }
  /** After this record of a removal plan. */
  | { readonly kind: 'record'; readonly place: RecordPlace }
  /** After the changed row with this `seq`. */
  | ({ readonly kind: 'changed_rows'; readonly after: string } & SettledChangedRows);

/** A resume point as the columns of a partition. */
export interface StoredResumePoint {
  readonly cursor: string | null;
  readonly key: SourceKey;
}

export function storedResumePoint(point: ResumePoint): StoredResumePoint {
  switch (point.kind) {
    case 'row':
      return point.row;
    case 'external_ids':
      return { cursor: null, key: [String(point.done)] };
    case 'dead_letter':
      return { cursor: null, key: [point.id] };
    case 'changed_rows':
      return { cursor: null, key: [point.after] };
    case 'record':
      return { cursor: null, key: [String(point.place.tenantId), point.place.externalId] };
  }
}

/** What a partition has left to do, from its resume point on. */
export type PartitionWork =
  /** Rows in their reading order; `bounds.after` is the last one that has its outcome, or where the partition begins. */
  | { readonly kind: 'rows'; readonly byCursor: boolean; readonly bounds: ReadBounds }
  /** The rows of these external ids, without the first `done` of them. */
  | { readonly kind: 'external_ids'; readonly externalIds: readonly string[]; readonly done: number }
  /** The rows of dead letters with greater ids than `after`, up to `through`. */
  | { readonly kind: 'dead_letters'; readonly after: string; readonly through: string }
  /** The changed rows with a greater `seq` than `after`, up to `through`. */
  | { readonly kind: 'changed_rows'; readonly after: string; readonly through: string }
  /** The records of a removal plan behind `after`; null: all of them. */
  | { readonly kind: 'removals'; readonly after: RecordPlace | null }
  /** Rows that are read by their keys: again, whenever their records are due, or as parents of others. */
  | { readonly kind: 'by_key' }
  /** New rows of small tenants, each time somebody looks for them. */
  | { readonly kind: 'small_tenants' };

/**
 * What a partition reads.
 * - `planned`: rows that the run reads in order;
 * - `first_pass`: the same rows, in the first of two passes;
 * - `dead_letters`: the rows of the dead letters that a run replays;
 * - `changed_rows`: the rows that a change feed has named;
 * - `small_tenants`: rows of small tenants, ahead of their turn;
 * - `by_key`: rows that are read by their keys, again or as parents;
 * - `removals`: records whose rows have vanished.
 *
 * Of the last five, a run has one each for a mapping.
 */
export type PartitionKind =
  | 'planned'
  | 'first_pass'
  | 'dead_letters'
  | 'changed_rows'
  | 'small_tenants'
  | 'by_key'
  | 'removals';

/** The columns of a partition that say what it has left to do. */
export interface StoredWork {
  kind: PartitionKind;
  by_cursor: boolean;
  cursor_from: string | null;
  cursor_before: string | null;
  after_key: string[] | null;
  /** The last key; of dead letters the id of the last one, of changed rows its `seq`. */
  through_key: string[] | null;
  external_ids: string[] | null;
  resume_cursor: string | null;
  resume_key: string[] | null;
}

/** Reverses {@link storedResumePoint}: an id that is stored as a key is the first of its values. */
export function workFrom(row: StoredWork): PartitionWork {
  const { kind, external_ids: externalIds, resume_key: resumeKey, resume_cursor: cursor } = row;
  if (kind === 'by_key' || kind === 'small_tenants') return { kind };
  if (kind === 'removals')
    return { kind, after: resumeKey && { tenantId: Number(resumeKey[0]), externalId: resumeKey[1]! } };
  if (kind === 'dead_letters' || kind === 'changed_rows')
    return { kind, after: resumeKey?.[0] ?? '0', through: row.through_key![0]! };
  if (externalIds !== null) return { kind: 'external_ids', externalIds, done: Number(resumeKey?.[0] ?? 0) };
  const key = resumeKey ?? row.after_key;
  const { cursor_from: cursorFrom, cursor_before: cursorBefore, through_key: throughKey } = row;
  const after = key === null ? null : { cursor, key };
  return { kind: 'rows', byCursor: row.by_cursor, bounds: { after, cursorFrom, cursorBefore, throughKey } };
}
