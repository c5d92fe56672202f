/**
 * The order in which the ledger keeps records: by tenant, then by the external id's length, then by its characters.
 *
 * Length first puts numbers into their order, and ids of one shape beside each other: what is read together
 * lies together. The order is ours alone; the source's order of keys plays no part.
 */

/** Keys of many records, column by column: an object each would cost more than all that is done with it. */
export interface RecordKeys {
  readonly tenantIds: readonly number[];
  readonly externalIds: readonly string[];
}

/** Less than any external id. */
export const LOWEST = '';

/** Compares two of the keys by their indexes. */
export function compareKeys({ tenantIds, externalIds }: RecordKeys, a: number, b: number): number {
  return tenantIds[a]! - tenantIds[b]! || compareIds(externalIds[a]!, externalIds[b]!);
}

/** By length, then by UTF-16 code units. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** The least and the greatest of some external ids. */
export interface IdSpan {
  readonly first: string;
  readonly last: string;
}

/** Of one id at least. */
export function spanOf(externalIds: readonly string[]): IdSpan {
  const [least, greatest] = extremes(externalIds.length, (a, b) => compareIds(externalIds[a]!, externalIds[b]!));
  return { first: externalIds[least]!, last: externalIds[greatest]! };
}

/** Indexes of the least and the greatest of the keys, of which there is one at least. */
export const outermost = (keys: RecordKeys): readonly [least: number, greatest: number] =>
  extremes(keys.externalIds.length, (a, b) => compareKeys(keys, a, b));

function extremes(count: number, compare: (a: number, b: number) => number): [least: number, greatest: number] {
  let least = 0;
  let greatest = 0;
  for (let i = 1; i < count; i++) {
    if (compare(greatest, i) < 0) greatest = i;
    else if (compare(i, least) < 0) least = i;
  }
  return [least, greatest];
}

/**
 * Bytes, in hex digits, that PostgreSQL compares as {@link compareIds} does: the length, then the code units, most
 * significant first.
 */
export function idHex(externalId: string): string {
  const length = externalId.length.toString(16).padStart(8, '0');
  return length + Buffer.from(externalId, 'utf16le').swap16().toString('hex');
}

/** The external id of {@link idHex}. */
export const idOfHex = (hex: string): string => Buffer.from(hex.slice(8), 'hex').swap16().toString('utf16le');
