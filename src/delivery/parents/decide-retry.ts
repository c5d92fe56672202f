/** Decides about a record that the platform did not accept without its parent: send it again, wait, or give it up. */
import { isParentCode, type ParentCode } from '../../domain/records/parent.js';
import type { WaitingRow } from '../../ledger/waiting/index.js';
import type { ParentStatus } from './parent-graph.js';
import { parentKey, type ParentReference } from './parents.js';
import { retryDelay } from './retry-delay.js';
import { seconds, times } from '../../domain/timeouts.js';

export type RetryDecision =
  | { readonly kind: 'send' }
  /** `dueIn`: seconds until the next decision. */
  | { readonly kind: 'wait'; readonly dueIn: number }
  | GivenUp;

/** `because`: the parent that will not come; `code`: why. */
export interface GivenUp {
  readonly kind: 'give_up';
  readonly because: ParentReference;
  readonly code: ParentCode;
}

/**
 * @param parents all parents that the record refers to
 * @param statuses by {@link parentKey}, of all of them
 * @param dependencyWait seconds for which the platform is asked to keep the record pending
 */
export function decideRetry(
  { tries, waits, rejection }: Pick<WaitingRow, 'tries' | 'waits' | 'rejection'>,
  parents: readonly ParentReference[],
  statuses: ReadonlyMap<string, ParentStatus>,
  dependencyWait: number,
): RetryDecision {
  const statusOf = (parent: ParentReference): ParentStatus => statuses.get(parentKey(parent)) ?? 'unknown';
  for (const parent of parents) {
    const status = statusOf(parent);
    if (isParentCode(status)) return { kind: 'give_up', because: parent, code: status };
  }
  const isOften = tries >= times('childAttempts');
  const unknown = parents.find((parent) => statusOf(parent) === 'unknown');
  // The platform blames something else, or the record has been sent as often as any is.
  if (unknown !== undefined && (isOften || rejection !== null))
    return { kind: 'give_up', because: unknown, code: 'parent_unknown' };
  const isComing = parents.some((parent) => statusOf(parent) === 'coming');
  // If the platform does not wait for the parent, the record would only be rejected once more.
  if (isComing && (isOften || dependencyWait === 0))
    return { kind: 'wait', dueIn: waits >= times('childAttempts') ? retryDelay(waits) : seconds('parentComing') };
  return { kind: 'send' };
}
