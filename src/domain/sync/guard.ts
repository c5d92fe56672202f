/**
 * The guard of a sync: limits on what one run may do to the records of a mapping before a person has approved it. A run
 * that would exceed one is put on hold: it sends no more of the mapping.
 */
import { quantity } from '../values/quantity.js';

/** The key `guard` of sync.yaml. */
export interface GuardLimits {
  /** Percentages of a mapping's records: those that get other content, become dead letters, or vanish. */
  readonly changed: number;
  readonly deadLettered: number;
  readonly gone: number;
  /** So many records may be concerned in any case, however small the mapping is. */
  readonly records: number;
  /** Seconds for which a run on hold waits for approval. */
  readonly wait: number;
}

/**
 * Why a run is on hold. `changed`, `deadLettered`, `gone`: more records than the limit of that name; `empty`: the source
 * has no row of a mapping whose records the platform has.
 */
export const HOLD_CAUSES = ['changed', 'deadLettered', 'gone', 'empty'] as const;
export type HoldCause = (typeof HOLD_CAUSES)[number];

/** A limit that would be exceeded, and by how many records. */
export interface Exceeded {
  /** How many records are concerned, as far as the run has read; 0 for `empty`. */
  readonly records: number;
  /** Of how many: the records that the platform has accepted, or the rows that were read if those are more. */
  readonly of: number;
  /** The limit's key in the files of the sync; null for `empty`. */
  readonly limit: { readonly key: string; readonly percent: number } | null;
  /** Whether these are the records of one tenant; absent if they are those of all. */
  readonly ofOneTenant?: true;
}

/** A mapping that a run holds. Counts and names only: Temporal's history keeps it. */
export interface Hold extends Exceeded {
  readonly mapping: string;
  readonly cause: HoldCause;
}

/** Whether so many records are more than both parts of a limit: a number, and a percentage of all. */
export const exceeds = (
  records: number,
  of: number,
  limit: { readonly records: number; readonly percent: number },
): boolean => records > limit.records && records > (of * limit.percent) / 100;

/** How far a run has come with a mapping, and what it has done to its records. */
export interface GuardedCounts {
  /** Records of the mapping that the platform had accepted when the run began with it. */
  readonly accepted: number;
  readonly read: number;
  readonly changed: number;
  readonly deadLettered: number;
}

/** The first limit that the counts exceed, apart from those that somebody has approved; null if they exceed none. */
export function holdOf(
  mapping: string,
  counts: GuardedCounts,
  limits: GuardLimits,
  approved: readonly HoldCause[],
): Hold | null {
  const of = Math.max(counts.accepted, counts.read);
  for (const cause of ['changed', 'deadLettered'] as const) {
    const percent = limits[cause];
    if (!approved.includes(cause) && exceeds(counts[cause], of, { records: limits.records, percent }))
      return { mapping, cause, records: counts[cause], of, limit: { key: `guard.${cause}`, percent } };
  }
  return null;
}

const WHAT: Record<HoldCause, (hold: Hold) => string> = {
  changed: ({ records }) => `${quantity(records, 'record')} would change`,
  deadLettered: ({ records }) => `${quantity(records, 'row')} would become dead letters`,
  gone: ({ records, ofOneTenant }) =>
    `${quantity(records, 'record')}${ofOneTenant ? ' of one tenant' : ''} would be removed`,
  empty: ({ of }) => `the source has no row, and the platform ${quantity(of, 'record')}`,
};

/** `orders: 4120 records would change, of 10000 (guard.changed: 30 %)`. */
export function holdLine(hold: Hold): string {
  const { mapping, cause, of, limit } = hold;
  const exceeded = limit === null ? '' : `, of ${of} (${limit.key}: ${limit.percent} %)`;
  return `${mapping}: ${WHAT[cause](hold)}${exceeded}`;
}

/** The same, with how long the run waits: `on hold: ...; waits for approval until 2026-11-23 14:05 UTC`. */
export const holdUntilLine = (hold: Hold & { readonly until: string }): string =>
  `on hold: ${holdLine(hold)}; waits for approval until ${hold.until.slice(0, 16).replace('T', ' ')} UTC`;
