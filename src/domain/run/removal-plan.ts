/** Removal plans: the records whose rows a mirror run found vanished, and what is done with them. */

/**
 * - `finding`: vanished rows are being determined;
 * - `awaiting_approval`: so many that a person has to approve; `empty`: the source has no rows at all, so nothing is done;
 * - `due`: to be carried out; `done`: carried out; `replaced`: superseded by a later plan.
 */
export type RemovalState = 'finding' | 'awaiting_approval' | 'empty' | 'due' | 'done' | 'replaced';

/** One mapping's plan. */
export interface RemovalPlan {
  readonly plan: string;
  readonly run: string;
  readonly mapping: string;
  readonly state: RemovalState;
  /** Records of vanished rows that the platform does not know to be gone; not counted for an `empty` source. */
  readonly records: number;
  /** All records of the mapping that the platform has accepted, except those that were marked as deleted before. */
  readonly accepted: number;
  /** Since when the mapping has made its external ids in another way, ISO 8601; null if no records with earlier ids are left. */
  readonly idsChangedAt: string | null;
  /** Once the plan is carried out: records whose removal the platform has accepted. */
  readonly marked: number;
  /** Records that wait, and those that the platform rejected; the rows of all others had come back. */
  readonly waiting: number;
  readonly deadLettered: number;
}

/** Whether a person has to act. */
export const needsAttention = ({ state }: Pick<RemovalPlan, 'state'>): boolean =>
  state === 'awaiting_approval' || state === 'empty';
