/**
 * Which code points a piece of a pattern such as `\s` or `\p{L}` matches. V8 itself determines them, once per piece, so
 * that every engine matches the same ones, whatever version of the Unicode tables it has.
 */

/** First and last code point, both inclusive. */
type Range = readonly [first: number, last: number];

const textOf = (first: number, last: number): string => {
  let text = '';
  for (let point = first; point <= last; point++) text += String.fromCodePoint(point);
  return text;
};
/** All code points in order. High and low surrogates are in separate texts: adjacent, two would be read as one pair. */
let parts: readonly string[] | undefined;
const allCodePoints = (): readonly string[] =>
  (parts ??= [textOf(0, 0xd7ff), textOf(0xd800, 0xdbff), textOf(0xdc00, 0xdfff), textOf(0xe000, 0x10ffff)]);

const known = new Map<string, readonly Range[]>();

/** The code points that `source` matches, as ranges in ascending order. `source` is one atom in the syntax of the flag `u`. */
export function codePointsOf(source: string): readonly Range[] {
  let found = known.get(source);
  if (found === undefined) {
    const runs = new RegExp(`(?:${source})+`, 'gu');
    found = allCodePoints().flatMap((part) =>
      [...part.matchAll(runs)].map(([run]): Range => [run.codePointAt(0)!, lastOf(run)]),
    );
    known.set(source, found);
  }
  return found;
}

/** The last code point of a text that is not empty. */
function lastOf(run: string): number {
  const last = run.codePointAt(run.length - 2);
  return last !== undefined && last > 0xffff ? last : run.charCodeAt(run.length - 1);
}
