/**
 * The platform's words about a record, kept in a dead letter: they may quote the record, and a letter holds no value.
 * What they quote is replaced by its masked shape. docs/adr/0009-masked-words.md says why in this way.
 */
import type { JsonValue } from '../src/domain/json.js';
import type { MappedRecord } from '../src/domain/record.js';
import { maskedShape } from '../src/mapping/mask.js';

/** Words of which refusals are made; that one of them is also in the row tells nothing about it. */
const HARMLESS = new Set(
  (
    'a additional all allowed already an and any are array as at be boolean but by cannot characters const date ' +
    'date-time dependency did does duplicate email empty enum error exceed exceeds exist exists expected external ' +
    'externalid failed fewer field for format from has have id in integer invalid is it items length longer ' +
    'match maximum minimum missing more must no not null number object of on one only or parent pattern pending ' +
    'properties property record reference reject required resource schema shorter string than the this time to ' +
    'too type unique unknown upsert uri uuid valid value values was with'
  ).split(' '),
);

/** In this order: what stands in quotes, addresses, numbers in any spelling, words. */
const PIECES =
  /"(?:[^"\\]|\\.)*"|(?<![\p{L}\p{N}])'[^']*'|[^\s"'<>(),;]*@[^\s"'<>(),;]*|\+?\d[\d .:+-]*\d|[\p{L}\p{N}_-]+/gu;
const WORDS = /[\p{L}\p{N}_-]+/gu;

/**
 * `words` with what may come from the record masked: each word that is in one of its values, anything in quotes,
 * anything with an @ and any number of three digits or more, since a platform may spell a value in its own way.
 * Names of the record's fields, and those given in `names`, stay.
 */
export function maskedWords(words: string, record: MappedRecord, names: readonly string[]): string {
  const known = new Set([...names, ...Object.keys(record.data)]);
  const secret = new Set<string>();
  for (const text of [record.externalId, ...Object.values(record.data).flatMap(textsOf)])
    for (const [word] of text.toLowerCase().matchAll(WORDS)) secret.add(word);
  return words.replace(/^externalId "(?:[^"\\]|\\.)*": /, '').replace(PIECES, (piece) => {
    const bare = /^["']/.test(piece) ? piece.slice(1, -1) : piece;
    if (known.has(bare) || HARMLESS.has(bare.toLowerCase())) return piece;
    const isWord = /^[\p{L}\p{N}_-]+$/u.test(piece) && (piece.match(/\d/g) ?? []).length < 3;
    return isWord && !secret.has(piece.toLowerCase()) ? piece : `<${maskedShape(bare)}>`;
  });
}

function textsOf(value: JsonValue): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap((v: JsonValue) => textsOf(v)) : [];
}
