/**
 * The platform's messages about a record, as a dead letter may keep them. They may quote the record, and a dead letter
 * holds no value: what they quote is replaced by its masked shape (docs/adr/0009-masked-words.md).
 */
import type { JsonValue } from '../../domain/values/json.js';
import type { ParentName } from '../../domain/records/parent.js';
import type { MappedRecord } from '../../domain/records/record.js';
import { maskedShape } from '../../mapping/encode/masked-shape.js';

/** Words that rejections consist of: one that is also in the row tells nothing about the row. */
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

/**
 * What is masked as a whole: quoted texts, up to the end of the message if the quote has none, and words with an @. Each
 * begins at one place only, so that a long message is not searched anew from every character.
 */
const QUOTED_OR_ADDRESS =
  /("(?:[^"\\]|\\[^])*(?:"|\\?$)|(?<![\p{L}\p{N}])'[^']*(?:'|$)|(?:(?<![^\s"'<>(),;])[^\s"'<>(),;@]+)?@[^\s"'<>(),;]*)/u;
/** In the rest: numbers in any spelling, words. */
const NUMBER_OR_WORD = /\+?\d[\d .:+-]*\d|[\p{L}\p{N}_-]+/gu;
const WORDS = /[\p{L}\p{N}_-]+/gu;

/**
 * `message` with what may come from the record masked: each word that is in one of its values, anything in quotes,
 * anything with an @ and any number of three digits or more, since a platform may spell a value in its own way.
 * Names of the record's fields, and those given in `names`, stay.
 */
export function maskedMessage(message: string, record: MappedRecord, names: readonly string[]): string {
  const known = new Set([...names, ...Object.keys(record.data)]);
  const secret = new Set<string>();
  for (const text of [record.externalId, ...Object.values(record.data).flatMap(textsOf)])
    for (const [word] of text.toLowerCase().matchAll(WORDS)) secret.add(word);
  const maskedPiece = (piece: string): string => {
    const bare = piece.replace(/^(["'])([^]*)\1$/, '$2').replace(/^["']/, '');
    if (known.has(bare) || HARMLESS.has(bare.toLowerCase())) return piece;
    const isWord = /^[\p{L}\p{N}_-]+$/u.test(piece) && (piece.match(/\d/g) ?? []).length < 3;
    return isWord && !secret.has(piece.toLowerCase()) ? piece : `<${maskedShape(bare)}>`;
  };
  // Splitting leaves what matched at the odd places.
  return message
    .replace(/^externalId "(?:[^"\\]|\\.)*": /, '')
    .split(QUOTED_OR_ADDRESS)
    .map((part, at) => (at % 2 === 1 ? maskedPiece(part) : part.replace(NUMBER_OR_WORD, maskedPiece)))
    .join('');
}

function textsOf(value: JsonValue): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap((v: JsonValue) => textsOf(v)) : [];
}

/** How the platform may refer to a missing parent, besides by its id. */
const OF_REFERENCES = /dependenc|referenc|parent/i;

/**
 * The masked message if it blames something other than a missing parent; null if it is about the parent, or empty. It
 * only refines the reason of a dead letter.
 */
export function blameBesidesParents(
  { raw, masked }: { readonly raw: string; readonly masked: string },
  missing: readonly ParentName[],
): string | null {
  const speaksOfParent = OF_REFERENCES.test(raw) || missing.some(({ externalId }) => raw.includes(externalId));
  return masked === '' || speaksOfParent ? null : masked;
}
