/**
 * External ids of neighbouring records as one text. The ledger's order (../record-key.ts) puts ids of one length side
 * by side, so a few numbers tell where each id ends, and one comparison of texts tells whether two lists are equal.
 */

export interface JoinedIds {
  readonly text: string;
  /** So many ids in a row are so many UTF-16 code units long. */
  readonly lengths: readonly (readonly [count: number, length: number])[];
}

export function joinIds(ids: readonly string[]): JoinedIds {
  const lengths: [count: number, length: number][] = [];
  let last: [count: number, length: number] | undefined;
  for (const { length } of ids)
    if (last?.[1] === length) last[0]++;
    else lengths.push((last = [1, length]));
  return { text: ids.join(''), lengths };
}

export function splitIds({ text, lengths }: JoinedIds): string[] {
  const ids: string[] = [];
  let at = 0;
  for (const [count, length] of lengths)
    for (let i = 0; i < count; i++) {
      ids.push(text.substring(at, at + length));
      at += length;
    }
  return ids;
}

export const areSameIds = (a: JoinedIds, b: JoinedIds): boolean =>
  a.text === b.text &&
  a.lengths.length === b.lengths.length &&
  a.lengths.every(([count, length], i) => count === b.lengths[i]![0] && length === b.lengths[i]![1]);
