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
  /** Of the records, once the plan is carried out: those of which the platform has accepted that their rows are gone. */
  readonly marked: number;
  /** Those that wait, and those that the platform has refused; of the rest the rows were back. */
  readonly waiting: number;
  readonly deadLettered: number;
}

/** Whether nothing happens until a person has looked. */
export const needsAttention = ({ state }: Pick<RemovalPlan, 'state'>): boolean => state === 'held' || state === 'empty';
