/** What to do with a record that the platform has not taken for want of a parent: send it again, wait, or give it up. */
import { isParentCode, type ParentCode } from '../src/domain/parent.js';
import type { WaitingRow } from '../src/state/waiting.js';
import type { ParentFate } from './parent-graph.js';
import { parentKey, type MissedParent } from './parents.js';
import { patience, TRIES } from './patience.js';

export type Advice =
  | { readonly kind: 'send' }
  /** `dueIn`: seconds until it is worth looking again. */
  | { readonly kind: 'wait'; readonly dueIn: number }
  /** `because`: the parent that will not come for the reason that `code` names. */
  | { readonly kind: 'give_up'; readonly because: MissedParent; readonly code: ParentCode };

/** Seconds until a record is looked at again whose parent is on its way. */
const PARENT_COMES_IN = 2;

/** @param holdFor seconds for which the platform is asked to hold the record */
export function adviseOrphan(
  { tries, refusal }: Pick<WaitingRow, 'tries' | 'refusal'>,
  parents: readonly MissedParent[],
  fates: ReadonlyMap<string, ParentFate>,
  holdFor: number,
): Advice {
  const fateOf = (parent: MissedParent): ParentFate => fates.get(parentKey(parent)) ?? 'unknown';
  for (const parent of parents) {
    const fate = fateOf(parent);
    if (isParentCode(fate)) return { kind: 'give_up', because: parent, code: fate };
  }
  if (parents.every((parent) => fateOf(parent) === 'there')) return { kind: 'send' };
  const isOften = tries >= TRIES;
  const unknown = parents.find((parent) => fateOf(parent) === 'unknown');
  // The platform accuses it of something else, or has refused it for as long as there was hope.
  if (unknown !== undefined && (isOften || refusal !== null))
    return { kind: 'give_up', because: unknown, code: 'parent_unknown' };
  const isComing = parents.some((parent) => fateOf(parent) === 'coming');
  // Where the platform does not wait for it, it would only be refused once more.
  if (isComing && (isOften || holdFor === 0))
    return { kind: 'wait', dueIn: isOften ? patience(tries) : PARENT_COMES_IN };
  return { kind: 'send' };
}
