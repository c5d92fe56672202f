/** Removal plans: the records whose rows a mirror run found gone, and what is done about them. */

/**
 * - `finding`: the ledger is being looked through;
 * - `held`: so many that a person has to approve it first; `empty`: the source has no row at all, so nothing is done;
 * - `due`: to be carried out; `done`: carried out; `replaced`: a later plan took its place.
 */
export type RemovalState = 'finding' | 'held' | 'empty' | 'due' | 'done' | 'replaced';

/** One mapping's plan. */
export interface RemovalPlan {
  readonly plan: string;
  readonly run: string;
  readonly mapping: string;
  readonly state: RemovalState;
  /** Records whose rows are gone and to which nothing has been done yet; of an `empty` source they are not counted. */
  readonly records: number;
  /** All records of the mapping that the platform has accepted. */
  readonly accepted: number;
}

/** Whether nothing happens until a person has looked. */
export const needsAttention = ({ state }: Pick<RemovalPlan, 'state'>): boolean => state === 'held' || state === 'empty';
