/** Names of mappings, schemas and fields, made from those of tables and columns. */
import { FORBIDDEN_NAMES } from '../mapping/target.js';

/** `customer_id` and `CustomerId` -> [customer, id]. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());

/** `customer_id` -> `customerId`; never a name that the mapping language refuses. */
export function fieldName(column: string): string {
  const [first = 'field', ...rest] = wordsOf(column);
  const name = first + rest.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return FORBIDDEN_NAMES.includes(name) ? `${name}Value` : name;
}

/** `OrderLines` -> `order-lines`: small letters, digits and hyphens only. */
export const mappingName = (...names: readonly string[]): string =>
  asciiWords(names).join('-').slice(0, 60).replace(/-+$/, '') || 'table';

/** What a table is called in the sync. */
export interface TableNames {
  readonly mapping: string;
  readonly schema: string;
  readonly plural: string;
  /** Why the schema has another name than the table's own; null where it has that. */
  readonly comment: string | null;
}

/** `order_lines` -> `order_line`: one record is one of them. */
export function schemaName(...names: readonly string[]): string {
  const words = asciiWords(names);
  return [...words.slice(0, -1), singular(words.at(-1) ?? 'record')].join('_').slice(0, 120);
}

/** `order_lines` stays, `order` -> `orders`: a plural that says the same as the singular helps nobody. */
export function pluralName(...names: readonly string[]): string {
  const plural = asciiWords(names).join('_').slice(0, 120) || 'records';
  return plural === schemaName(...names) ? `${plural}s` : plural;
}

/** `order_lines` -> `Order lines`, as one would say it; a name without a letter or digit stays what it is. */
export function inWords(name: string): string {
  const text = wordsOf(name).join(' ');
  return text === '' ? name : text[0]!.toUpperCase() + text.slice(1);
}

const asciiWords = (names: readonly string[]): string[] =>
  names
    .flatMap(wordsOf)
    .map((word) => word.normalize('NFKD').replace(/[^a-z0-9]/g, ''))
    .filter((word) => word !== '');

/** Good enough for a first draft: English table names mostly end in s. */
export function singular(word: string): string {
  if (/ies$/.test(word) && word.length > 4) return word.replace(/ies$/, 'y');
  if (/(ss|x|ch|sh)es$/.test(word)) return word.replace(/es$/, '');
  return /[^suia]s$/.test(word) ? word.slice(0, -1) : word;
}

/** The first of `wanted`, `wanted2`, `wanted3` ... that is not taken yet; takes it. */
export function takeName(taken: Set<string>, wanted: string, separator = ''): string {
  let name = wanted;
  for (let n = 2; taken.has(name); n++) name = `${wanted}${separator}${n}`;
  taken.add(name);
  return name;
}
