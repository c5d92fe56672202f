/**
 * Which code points a piece of a pattern matches. V8 itself is asked, once a piece: so there is one reading of `\s`, `\p{L}`
 * and all else, whatever tables another engine has.
 */

type Range = readonly [first: number, last: number];

const textOf = (first: number, last: number): string => {
  let text = '';
  for (let point = first; point <= last; point++) text += String.fromCodePoint(point);
  return text;
};
/** All code points in order. Halves of surrogate pairs are apart, or two would be read as one. */
let parts: readonly string[] | undefined;
const allCodePoints = (): readonly string[] =>
  (parts ??= [textOf(0, 0xd7ff), textOf(0xd800, 0xdbff), textOf(0xdc00, 0xdfff), textOf(0xe000, 0x10ffff)]);

const known = new Map<string, readonly Range[]>();

/** In order. `source` matches one code point, under the flag `u`. */
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

function lastOf(run: string): number {
  const last = run.codePointAt(run.length - 2);
  return last !== undefined && last > 0xffff ? last : run.charCodeAt(run.length - 1);
}
