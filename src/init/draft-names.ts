/** Derives names of mappings, schema definitions and fields from those of tables and columns. */
import { FORBIDDEN_NAMES } from '../mapping/definition/target.js';

/** The words of a name in lower case: `customer_id` and `CustomerId` give [customer, id]. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());

/** `customer_id` gives `customerId`; never a name that the mapping language forbids. */
export function fieldName(column: string): string {
  const [first = 'field', ...rest] = wordsOf(column);
  const name = first + rest.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return FORBIDDEN_NAMES.includes(name) ? `${name}Value` : name;
}

/** `OrderLines` gives `order-lines`: lower-case letters, digits and hyphens, at most 60 characters. */
export const mappingName = (...names: readonly string[]): string =>
  asciiWords(names).join('-').slice(0, 60).replace(/-+$/, '') || 'table';

/** The names under which the sync knows a table. */
export interface TableNames {
  readonly mapping: string;
  readonly schema: string;
  readonly plural: string;
  /** Why the schema has another name than the table's; null if it does not. */
  readonly comment: string | null;
}

/** `order_lines` gives `order_line`, since a record is one of them; valid as a schema name of section 2. */
export function schemaName(...names: readonly string[]): string {
  const words = asciiWords(names);
  return [...words.slice(0, -1), singular(words.at(-1) ?? 'record')].join('_').slice(0, 120);
}

/** `order_lines` stays as it is, `order` gives `orders`: the plural must differ from the singular to be of use. */
export function pluralName(...names: readonly string[]): string {
  const plural = asciiWords(names).join('_').slice(0, 120) || 'records';
  return plural === schemaName(...names) ? `${plural}s` : plural;
}

/** `order_lines` gives `Order lines`, for descriptions; a name without letters and digits stays as it is. */
export function inWords(name: string): string {
  const text = wordsOf(name).join(' ');
  return text === '' ? name : text[0]!.toUpperCase() + text.slice(1);
}

/** The words with accents removed, as the platform's names allow only ASCII letters and digits. */
const asciiWords = (names: readonly string[]): string[] =>
  names
    .flatMap(wordsOf)
    .map((word) => word.normalize('NFKD').replace(/[^a-z0-9]/g, ''))
    .filter((word) => word !== '');

/** The singular of an English word, by its ending: good enough for a first draft. */
export function singular(word: string): string {
  if (/ies$/.test(word) && word.length > 4) return word.replace(/ies$/, 'y');
  if (/(ss|x|ch|sh)es$/.test(word)) return word.replace(/es$/, '');
  return /[^suia]s$/.test(word) ? word.slice(0, -1) : word;
}

/** The first of `wanted`, `wanted2`, `wanted3` and so on that is not taken yet, and adds it to `taken`. */
export function takeName(taken: Set<string>, wanted: string, separator = ''): string {
  let name = wanted;
  for (let n = 2; taken.has(name); n++) name = `${wanted}${separator}${n}`;
  taken.add(name);
  return name;
}
