/**
 * External ids of neighbouring records as one text. In the ledger's order (record-key.ts) ids of one length stand
 * together, so a few numbers tell where each one ends; and one comparison tells whether two lists are the same.
 */

export interface JoinedIds {
  readonly text: string;
  /** How many ids in a row have so many UTF-16 units. */
  readonly lengths: readonly (readonly [count: number, length: number])[];
}

export function joinIds(ids: readonly string[]): JoinedIds {
  const lengths: [count: number, length: number][] = [];
  let last: [number, number] | undefined;
  for (const { length } of ids) {
    if (last?.[1] === length) last[0]++;
    else lengths.push((last = [1, length]));
  }
  return { text: ids.join(''), lengths };
}

export function splitIds({ text, lengths }: JoinedIds): string[] {
  const ids: string[] = [];
  let at = 0;
  for (const [count, length] of lengths)
    for (const end = at + count * length; at < end; at += length) ids.push(text.substring(at, at + length));
  return ids;
}

export const areSameIds = (a: JoinedIds, b: JoinedIds): boolean =>
  a.text === b.text &&
  a.lengths.length === b.lengths.length &&
  a.lengths.every(([count, length], i) => count === b.lengths[i]![0] && length === b.lengths[i]![1]);
