/**
 * Drafts one column as a field: the JSON Schema property that holds its values exactly, and the transforms that produce
 * them.
 */
import type { JsonObject } from '../domain/values/json.js';
import type { CatalogColumn, SourceTable } from '../domain/source/source-catalog.js';
import { DECIDE, type DraftField, type ZoneGuess } from './draft.js';
import { bytesForm, instantForm, passesNumbers } from './draft-values.js';
import { isEmail, isPersonal, isPhone } from './guesses.js';
import { phoneComment } from './guess-country.js';
import { timesComment } from './guess-times.js';
import type { Sample } from './sample.js';
import { scalar } from './yaml-text.js';

/**
 * The property of a plain column, by its type. A type without an entry must be converted to text by a query; bytes depend
 * on their values.
 */
const PROPERTIES: Partial<Record<CatalogColumn['type'], JsonObject>> = {
  text: { type: 'string' },
  integer: { type: 'integer' },
  decimal: { type: 'number' },
  float: { type: 'number' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string' },
  timestamp: { type: 'string', format: 'date-time' },
  timestamptz: { type: 'string', format: 'date-time' },
  uuid: { type: 'string', format: 'uuid' },
  json: {},
};

/** What drafting a field needs besides the column. */
export interface FieldContext {
  readonly table: SourceTable;
  /** The name of the field. */
  readonly name: string;
  readonly zone: ZoneGuess;
  readonly sample: Sample;
  /** Whether values may have other types than their columns, as in SQLite, which also has no types for dates. */
  readonly dynamic: boolean;
}

/** The drafted field or, if the column cannot or should not become one, the reason. */
export function draftField(column: CatalogColumn, context: FieldContext): DraftField | { readonly leftOut: string } {
  const { table, name, zone } = context;
  const values = context.sample(column.name);
  const { property, transforms, note } = formOf(column, values, context.dynamic) ?? {};
  if (property === undefined || transforms === undefined) return { leftOut: whyLeftOut(column) };
  const comments = [...commentsOf(table, column), ...(note === undefined ? [] : [note])];
  let required = !column.nullable;
  if (isEmail(column)) {
    transforms.push('trim', 'lowercase', 'emptyToNull');
    required = false;
  }
  if (isPhone(column)) comments.push(phoneComment(table, column.name, context.sample));
  const question = column.type === 'text' && transforms.length === 0 ? timesComment(values, zone) : null;
  if (question !== null) comments.push(question);
  if (column.type === 'timestamp' && transforms.length === 0) {
    transforms.push(`{ dateTime: { zone: ${scalar(zone.name)} } }`);
    comments.push(`${DECIDE} the column has no zone; ${zone.name} ${zone.why}.`);
  }
  const written =
    transforms.length === 0 ? scalar(column.name) : `{ column: ${scalar(column.name)}${listed(transforms)} }`;
  return {
    name,
    property: { ...property, ...(isEmail(column) && { format: 'email' }), ...describedBy(column) },
    required,
    written,
    comments,
  };
}

/** How the values of a column are represented. */
interface Form {
  readonly property: JsonObject;
  readonly transforms: string[];
  readonly note?: string;
}

/** The representation, by the column's type and some of its values; undefined if nothing can or should be sent. */
function formOf(column: CatalogColumn, values: readonly string[], dynamic: boolean): Form | undefined {
  if (column.type === 'bytes') {
    const form = bytesForm(column, values);
    return form === 'files' ? undefined : { ...BYTES[form], transforms: encoding(form) };
  }
  const from = dynamic ? instantForm(column, values) : null;
  if (from !== null)
    return {
      property: { type: 'string', format: 'date-time' },
      transforms: [from === 'text' ? 'instant' : `{ instant: { from: ${from} } }`],
      ...noteOn(column, from),
    };
  if (passesNumbers(column, values))
    return {
      property: { type: 'string' },
      transforms: [],
      note: 'Text, since a JSON number cannot represent some values exactly.',
    };
  const property = PROPERTIES[column.type];
  return property === undefined ? undefined : { property, transforms: [] };
}

/** What is to be decided about points in time that are stored as something else; a column that is declared for them needs nothing. */
function noteOn({ type }: CatalogColumn, from: 'text' | 'seconds' | 'milliseconds'): Pick<Form, 'note'> {
  if (from !== 'text') return { note: `${DECIDE} the values look like ${from} since 1970.` };
  if (type !== 'text') return {};
  return {
    note: `${DECIDE} the values look like points in time, and are sent as such. To send them as the text that they are, remove instant here, and the format in the schema definition.`,
  };
}

const BYTES = {
  hex: { property: { type: 'string' } },
  uuid: {
    property: { type: 'string', format: 'uuid' },
    note: `${DECIDE} 16 bytes are assumed to be a UUID; encode: { as: hex } would write plain hex digits.`,
  },
} as const;

/** The transforms that write bytes in this form. None are needed for hex digits, the form in which bytes arrive. */
export const encoding = (form: 'uuid' | 'hex'): string[] => (form === 'uuid' ? ['{ encode: { as: uuid } }'] : []);

/** The `transforms` entry of a field in YAML, with its leading comma; empty without transforms. */
export const listed = (transforms: readonly string[]): string =>
  transforms.length === 0 ? '' : `, transforms: [${transforms.join(', ')}]`;

/** The comment on a column that was left out, with a way to include it. */
function whyLeftOut({ name, type, databaseType }: CatalogColumn): string {
  const subject = `${name} (${databaseType === '' ? 'no declared type' : databaseType})`;
  return type === 'bytes'
    ? `${subject} holds bytes, perhaps files; if the platform needs them: { column: ${scalar(name)}, transforms: [{ encode: { as: base64 } }] }`
    : `${subject} has no conversion; convert it to text in a query`;
}

/**
 * A field that refers to the parent by its external id. `transforms` convert the column as they convert the parent's
 * key.
 */
export function draftReference(
  column: CatalogColumn,
  parent: string,
  parentSchema: string,
  table: SourceTable,
  name: string,
  transforms: readonly string[],
): DraftField {
  return {
    name,
    property: { $ref: parentSchema },
    required: !column.nullable,
    written: `{ ref: ${scalar(parent)}, column: ${scalar(column.name)}${listed(transforms)} }`,
    comments: commentsOf(table, column),
  };
}

/** Comments on a field: the column's own comment, and a warning if it seems to hold personal data. */
export function commentsOf(table: SourceTable, column: CatalogColumn): string[] {
  const personal = isPersonal(table, column) ? ['Personal data: send it only if the platform needs it.'] : [];
  return [...(column.comment === null ? [] : [column.comment]), ...personal];
}

/** The `description` of a property or a schema definition; nothing for a blank comment. */
export const describedBy = ({ comment }: { readonly comment: string | null }): JsonObject =>
  comment === null || comment.trim() === '' ? {} : { description: comment.trim() };
