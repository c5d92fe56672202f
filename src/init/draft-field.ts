/** One column as a field: the property that holds its values exactly, and the transforms that get them there. */
import type { JsonObject } from '../domain/json.js';
import type { CatalogColumn, SourceTable } from '../domain/source-catalog.js';
import { DECIDE, type DraftField, type ZoneGuess } from './draft.js';
import { bytesForm, instantForm, passesNumbers } from './draft-values.js';
import { isEmail, isPersonal, isPhone } from './guesses.js';
import type { Sample } from './sample.js';
import { scalar } from './yaml-text.js';

/** What a plain column becomes, by its type; absent where a query must turn it into text first. Bytes are looked at. */
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

export interface FieldSurroundings {
  readonly table: SourceTable;
  readonly name: string;
  readonly zone: ZoneGuess;
  readonly sample: Sample;
  /** Whether the database has no types of its own for points in time. */
  readonly dynamic: boolean;
}

/** Where the column becomes no field: why. */
export function draftField(
  column: CatalogColumn,
  around: FieldSurroundings,
): DraftField | { readonly leftOut: string } {
  const { table, name, zone } = around;
  const values = around.sample(column.name);
  const { property, transforms, note } = formOf(column, values, around.dynamic) ?? {};
  if (property === undefined || transforms === undefined) return { leftOut: whyLeftOut(column) };
  const comments = [...commentsOf(table, column), ...(note === undefined ? [] : [note])];
  let required = !column.nullable;
  if (isEmail(column)) {
    transforms.push('trim', 'lowercase', 'emptyToNull');
    required = false;
  }
  if (isPhone(column))
    comments.push(`${DECIDE} with the transform phone: { country: GB } every number comes in one form, E.164.`);
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

interface Form {
  readonly property: JsonObject;
  readonly transforms: string[];
  readonly note?: string;
}

/** By the column's type and some of its values; undefined where nothing can or should be sent of it. */
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
      ...(from === 'text' ? {} : { note: `${DECIDE} the values look like ${from} since 1970.` }),
    };
  if (passesNumbers(column, values))
    return {
      property: { type: 'string' },
      transforms: [],
      note: 'Text, since some values are more than a JSON number holds exactly.',
    };
  const property = PROPERTIES[column.type];
  return property === undefined ? undefined : { property, transforms: [] };
}

const BYTES = {
  hex: { property: { type: 'string' } },
  uuid: {
    property: { type: 'string', format: 'uuid' },
    note: `${DECIDE} 16 bytes are taken for a UUID; encode: { as: hex } would write their digits alone.`,
  },
} as const;

/** Hex digits are what bytes arrive as. */
export const encoding = (form: 'uuid' | 'hex'): string[] => (form === 'uuid' ? ['{ encode: { as: uuid } }'] : []);

export const listed = (transforms: readonly string[]): string =>
  transforms.length === 0 ? '' : `, transforms: [${transforms.join(', ')}]`;

function whyLeftOut({ name, type, databaseType }: CatalogColumn): string {
  const subject = `${name} (${databaseType === '' ? 'no declared type' : databaseType})`;
  return type === 'bytes'
    ? `${subject} holds bytes, perhaps files; if the platform needs them: { column: ${scalar(name)}, transforms: [{ encode: { as: base64 } }] }`
    : `${subject} has no conversion; turn it into text in a query`;
}

/** A field that names the parent by its external id; `transforms` make it of the column as they make the parent's. */
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
    written: `{ ref: ${scalar(parent)}, column: ${scalar(column.name)}${listed(transforms)}${column.nullable ? ', omitNull: true' : ''} }`,
    comments: commentsOf(table, column),
  };
}

export function commentsOf(table: SourceTable, column: CatalogColumn): string[] {
  const personal = isPersonal(table, column) ? ['Personal data: send it only if the platform needs it.'] : [];
  return [...(column.comment === null ? [] : [column.comment]), ...personal];
}

export const describedBy = ({ comment }: { readonly comment: string | null }): JsonObject =>
  comment === null || comment.trim() === '' ? {} : { description: comment.trim() };
