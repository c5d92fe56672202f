/** Where a text stops being JSON: YAML is parsed for .json files too, and takes much that every other tool refuses. */
import jsonc, { type ParseErrorCode } from 'jsonc-parser';
import type { Place } from './place.js';

/** What was expected, by the parser's names of what it found. */
const WORDS: Readonly<Partial<Record<ParseErrorCode, string>>> = {
  1: 'a name or value that is not in double quotes',
  2: 'a number that is not written as JSON writes them',
  3: 'a name in double quotes is missing, perhaps after a comma too many',
  4: 'a value is missing, perhaps after a comma too many',
  5: 'a colon is missing after a name',
  6: 'a comma is missing before this',
  7: 'a } is missing',
  8: 'a ] is missing',
  9: 'something follows after the end',
  10: 'a comment, which JSON does not have',
  12: 'a text without its closing "',
};

/** The first fault and its place, without a word of the text; undefined for valid JSON. */
export function jsonFault(text: string): (Place & { readonly message: string }) | undefined {
  const faults: (Place & { readonly message: string })[] = [];
  const onError: jsonc.JSONVisitor['onError'] = (code, _at, _length, line, column) => {
    const words = WORDS[code] ?? 'a character or escape that JSON does not have';
    const message = `is not JSON, although its name ends in .json: ${words}`;
    faults.push({ line: line + 1, column: column + 1, message });
  };
  jsonc.visit(text, { onError }, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  return faults[0];
}
