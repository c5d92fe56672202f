/**
 * Derives from a mapping how the row of an external id is found: which columns must have which values. Backfills of
 * single records, `explain`, missing parents and mirror runs look rows up this way.
 */
import type { SourceColumn, SourceKey, SourceType } from '../../domain/source/source.js';
import type { MappingSpec, TransformCall } from '../../domain/sync/sync.js';
import { parseTemplate, type TemplatePart } from '../language/template.js';

/** How the row of an external id is found. */
export interface ExternalIdLookUp {
  readonly columns: readonly string[];
  /** The combinations of values that `columns` may have in the row of an id. */
  readonly values: (id: string) => readonly SourceKey[];
  /** Whether an id that is not found has no row; false if transforms may change the value beyond recognition. */
  readonly certain: boolean;
}

/** Ways of splitting an id into a template's columns that are tried at most: each adds a condition to the query. */
const MOST_CUTS = 50;

/** Whether the row of this id is certain to be found if it exists: not if the limit of splits is reached. */
export const isSurelyFound = (how: ExternalIdLookUp, id: string): boolean =>
  how.certain && how.values(id).length < MOST_CUTS;

/**
 * Transforms whose results the source recognises: texts of numbers as the database writes them, bytes in hex or as a
 * UUID.
 */
const keepsText = ({ name, options }: TransformCall): boolean =>
  name === 'string' || (name === 'encode' && options['as'] !== 'base64');

const keepText = ([first, ...others]: readonly TransformCall[]): boolean =>
  first === undefined ||
  (keepsText(first) &&
    others.every((other) => keepsText(other) || (first.name === 'encode' && CASES.includes(other.name))));
/** After `encode`, these change hex digits only in case, and so do not change the bytes. */
const CASES = ['lowercase', 'uppercase'];

/** Base64 in the form in which the source takes bytes; nothing for text that is not canonical Base64. */
const fromBase64 = (id: string): string[] => {
  const bytes = Buffer.from(id, 'base64');
  return bytes.toString('base64') === id ? [`\\x${bytes.toString('hex')}`] : [];
};
const isBase64 = ({ name, options }: TransformCall): boolean => name === 'encode' && options['as'] === 'base64';

/** The texts that values of a type can have; those of the other types are not told from texts in general. */
const FORMS: Readonly<Partial<Record<SourceType, RegExp>>> = {
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  integer: /^-?\d+$/,
  date: /^(?:\d{4,}-\d\d-\d\d(?: BC)?|-?infinity)$/,
};

/** Whether some value of the column can have this text. */
type Fits = (column: string, text: string) => boolean;

function fitsOf(columns: readonly SourceColumn[]): Fits {
  const forms = new Map(
    columns.map(({ name, type, hasOtherTypes }) => [name, hasOtherTypes ? undefined : FORMS[type]]),
  );
  return (column, text) => forms.get(column)?.test(text) ?? true;
}

/**
 * null if the external id is neither a column nor a template, so that its row cannot be looked up. With the source's `columns`,
 * an id is only split into values that they can have: three UUIDs joined by dashes in one way instead of 91.
 */
export function lookUpOf(
  { fields, schema }: Pick<MappingSpec, 'fields' | 'schema'>,
  sourceColumns: readonly SourceColumn[] = [],
): ExternalIdLookUp | null {
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
  const fits = fitsOf(sourceColumns);
  return { columns, values: (id) => cuts(parsed.parts, id, fits), certain: field.transforms.every(keepsText) };
}

/** The values from which a template can have made the id: for `{x}-{y}`, `a-b-1` is `a` and `b-1`, or `a-b` and `1`. */
function cuts(parts: readonly TemplatePart[], id: string, fits: Fits): SourceKey[] {
  const [part, ...rest] = parts;
  if (part === undefined) return id === '' ? [[]] : [];
  if (part.kind === 'text') return id.startsWith(part.text) ? cuts(rest, id.slice(part.text.length), fits) : [];
  if (rest.length === 0) return fits(part.column, id) ? [[id]] : [];
  const found: SourceKey[] = [];
  for (let end = 0; end <= id.length && found.length < MOST_CUTS; end++) {
    const value = id.slice(0, end);
    if (fits(part.column, value)) for (const tail of cuts(rest, id.slice(end), fits)) found.push([value, ...tail]);
  }
  return found;
}
