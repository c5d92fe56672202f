/** How rows are found by external id: by the column that holds it, or the columns of the template that makes it. */
import type { SourceKey } from '../domain/source.js';
import type { MappingSpec, TransformCall } from '../domain/sync.js';
import { parseTemplate, type TemplatePart } from './template.js';

/** How an external id is looked up: columns, and the values that they may have for an id. */
export interface LookUp {
  readonly columns: readonly string[];
  readonly values: (id: string) => readonly SourceKey[];
  /** Whether an id that is not found has no row; transforms may hide one. */
  readonly certain: boolean;
}

/** More ways than this to cut an id into a template's columns are not tried. */
const MOST_CUTS = 50;

/** Whether a row of this external id would surely be found, if there is one. */
export const isSurelyFound = (how: LookUp, id: string): boolean => how.certain && how.values(id).length < MOST_CUTS;

/** The first writes numbers digit for digit, as the database compares them; the source takes bytes in hex and as UUIDs. */
const keepsText = ({ name, options }: TransformCall): boolean =>
  name === 'string' || (name === 'encode' && options['as'] !== 'base64');

const keepText = ([first, ...others]: readonly TransformCall[]): boolean =>
  first === undefined ||
  (keepsText(first) &&
    others.every((other) => keepsText(other) || (first.name === 'encode' && CASES.includes(other.name))));
/** They say the same bytes. */
const CASES = ['lowercase', 'uppercase'];

/** As the source has bytes; Base64 is all that it does not take. */
const fromBase64 = (id: string): string[] => {
  const bytes = Buffer.from(id, 'base64');
  return bytes.toString('base64') === id ? [`\\x${bytes.toString('hex')}`] : [];
};
const isBase64 = ({ name, options }: TransformCall): boolean => name === 'encode' && options['as'] === 'base64';

/** null where rows cannot be found by what the external id is made of. */
export function lookUpOf({ fields, schema }: Pick<MappingSpec, 'fields' | 'schema'>): LookUp | null {
  const field = fields.get(schema.externalIdField);
  if (field?.kind === 'column' && field.transforms[0] !== undefined && isBase64(field.transforms[0]))
    return {
      columns: [field.column],
      values: (id) => fromBase64(id).map((value) => [value]),
      certain: field.transforms.slice(1).every(keepsText),
    };
  if (field?.kind === 'column')
    return { columns: [field.column], values: (id) => [[id]], certain: keepText(field.transforms) };
  if (field?.kind !== 'template') return null;
  const parsed = parseTemplate(field.template);
  if ('problem' in parsed) return null;
  const columns = parsed.parts.flatMap((part) => (part.kind === 'column' ? [part.column] : []));
  return { columns, values: (id) => cuts(parsed.parts, id), certain: field.transforms.every(keepsText) };
}

/** The ways in which a template can have made the id: `a-b-1` by `{x}-{y}` is `a, b-1` or `a-b, 1`. */
function cuts(parts: readonly TemplatePart[], id: string): SourceKey[] {
  const [part, ...rest] = parts;
  if (part === undefined) return id === '' ? [[]] : [];
  if (part.kind === 'text') return id.startsWith(part.text) ? cuts(rest, id.slice(part.text.length)) : [];
  if (rest.length === 0) return [[id]];
  const found: SourceKey[] = [];
  for (let end = 0; end <= id.length && found.length < MOST_CUTS; end++)
    for (const tail of cuts(rest, id.slice(end))) found.push([id.slice(0, end), ...tail]);
  return found;
}
