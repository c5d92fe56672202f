/**
 * The ledger's order of records: by tenant, then by the length of the external id, then by its characters.
 *
 * Length first sorts numbers by value and puts ids of one shape side by side, so what a run reads together is stored
 * together. Only the ledger uses this order; it has nothing to do with the order of the source's keys.
 */

/** A record, or the place in the order where it would be if it existed. */
export interface RecordPlace {
  readonly tenantId: number;
  readonly externalId: string;
}

/** One text for a record, by which maps and sets know it; that of a row without an external id is no record's. */
export const recordKey = ({
  tenantId,
  externalId,
}: {
  readonly tenantId: number;
  readonly externalId: string | null;
}): string => `${tenantId}/${externalId ?? ''}`;

/** Sorts before every external id. */
export const LOWEST = '';

/** Sorts before every record. */
export const FIRST_PLACE: RecordPlace = { tenantId: 0, externalId: LOWEST };

/** Many records, column by column: an object for each would cost more than everything that is done with them. */
export interface RecordKeys {
  readonly tenantIds: readonly number[];
  readonly externalIds: readonly string[];
}

/** Compares two of the keys, given by their indexes. */
export function compareKeys({ tenantIds, externalIds }: RecordKeys, a: number, b: number): number {
  return tenantIds[a]! - tenantIds[b]! || compareIds(externalIds[a]!, externalIds[b]!);
}

/** Compares by length, then by UTF-16 code units. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** The lowest and the highest of some external ids; both belong to the range. */
export interface IdRange {
  readonly first: string;
  readonly last: string;
}

/** The range of a list that is not empty. */
export function rangeOf(externalIds: readonly string[]): IdRange {
  const [lowest, highest] = extremes(externalIds.length, (a, b) => compareIds(externalIds[a]!, externalIds[b]!));
  return { first: externalIds[lowest]!, last: externalIds[highest]! };
}

export const intersect = (a: IdRange, b: IdRange): boolean =>
  compareIds(a.first, b.last) <= 0 && compareIds(b.first, a.last) <= 0;

/** Indexes of the lowest and the highest key of a list that is not empty. */
export const outermost = (keys: RecordKeys): readonly [lowest: number, highest: number] =>
  extremes(keys.externalIds.length, (a, b) => compareKeys(keys, a, b));

function extremes(count: number, compare: (a: number, b: number) => number): [lowest: number, highest: number] {
  let lowest = 0;
  let highest = 0;
  for (let i = 1; i < count; i++) {
    if (compare(highest, i) < 0) highest = i;
    else if (compare(i, lowest) < 0) lowest = i;
  }
  return [lowest, highest];
}

/**
 * The external id as bytes, in hex digits, that PostgreSQL sorts as {@link compareIds} does: four bytes of length, then
 * the code units, most significant byte first.
 */
export function idHex(externalId: string): string {
  const length = externalId.length.toString(16).padStart(8, '0');
  return length + Buffer.from(externalId, 'utf16le').swap16().toString('hex');
}

/** Reverses {@link idHex}. */
export const idOfHex = (hex: string): string => Buffer.from(hex.slice(8), 'hex').swap16().toString('utf16le');
