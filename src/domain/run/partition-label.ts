/** What people see of a partition in Temporal's timeline. */
import { quantity } from '../values/quantity.js';
import type { ReadBounds } from '../source/source.js';

/** What a partition reads, as it was planned. */
export interface PartitionBounds extends Pick<ReadBounds, 'cursorFrom' | 'cursorBefore' | 'throughKey'> {
  readonly afterKey: ReadBounds['throughKey'];
  readonly externalIds: readonly string[] | null;
}

const INTEGER = /^-?\d{1,18}$/;
/** A point in time or a number: what cursors are, apart from texts that may say something about a person. */
const HARMLESS_CURSOR = /^(\d{4}-\d{2}-\d{2}([ T][\d:.]+(Z|[+-][\d:]+)?)?|\d{1,20}(\.\d+)?)$/;

/**
 * `all rows`, `keys 250001 to 500000`, or `changes since 2026-11-23 14:00:00`; null if the bounds cannot be shown: texts
 * may be names or e-mail addresses, which must not get into Temporal's history.
 */
export function partitionLabel(bounds: PartitionBounds): string | null {
  const { externalIds, afterKey, throughKey, cursorFrom, cursorBefore } = bounds;
  if (externalIds !== null) return quantity(externalIds.length, 'record');
  if (afterKey !== null || throughKey !== null) return keysLabel(afterKey, throughKey);
  if (cursorFrom === null && cursorBefore === null) return 'all rows';
  if ([cursorFrom, cursorBefore].some((cursor) => cursor !== null && !HARMLESS_CURSOR.test(cursor))) return null;
  if (cursorFrom === null) return `rows until ${cursorBefore}`;
  return cursorBefore === null ? `changes since ${cursorFrom}` : `changes from ${cursorFrom} to ${cursorBefore}`;
}

/** `keys 250001 to 500000`; null if the keys are not whole numbers. */
export function keysLabel(
  afterKey: PartitionBounds['afterKey'],
  throughKey: PartitionBounds['throughKey'],
): string | null {
  const shown = (key: PartitionBounds['afterKey']): boolean =>
    key === null || (key.length === 1 && INTEGER.test(key[0]!));
  if (!shown(afterKey) || !shown(throughKey)) return null;
  if (afterKey === null) return `keys up to ${throughKey![0]}`;
  const first = BigInt(afterKey[0]!) + 1n;
  return throughKey === null ? `keys from ${first}` : `keys ${first} to ${throughKey[0]}`;
}
