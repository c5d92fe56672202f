/** One column as a field: the property that holds its values exactly, and the transforms that get them there. */
import type { JsonObject } from '../domain/json.js';
import type { CatalogColumn, SourceTable } from '../domain/source-catalog.js';
import { DECIDE, type DraftField, type ZoneGuess } from './draft.js';
import { isEmail, isPersonal, isPhone } from './guesses.js';
import { scalar } from './yaml-text.js';

/** What a plain column becomes, by its type; absent where a query must turn it into text first. */
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
}

/** null where the column has no conversion. */
export function draftField(column: CatalogColumn, { table, name, zone }: FieldSurroundings): DraftField | null {
  const property = PROPERTIES[column.type];
  if (property === undefined) return null;
  const transforms: string[] = [];
  const comments = commentsOf(table, column);
  let required = !column.nullable;
  if (isEmail(column)) {
    transforms.push('trim', 'lowercase', 'emptyToNull');
    required = false;
  }
  if (isPhone(column))
    comments.push(`${DECIDE} with the transform phone: { country: GB } every number comes in one form, E.164.`);
  if (column.type === 'timestamp') {
    transforms.push(`{ dateTime: { zone: ${scalar(zone.name)} } }`);
    comments.push(`${DECIDE} the column has no zone; ${zone.name} ${zone.why}.`);
  }
  const written =
    transforms.length === 0
      ? scalar(column.name)
      : `{ column: ${scalar(column.name)}, transforms: [${transforms.join(', ')}] }`;
  return {
    name,
    property: { ...property, ...(isEmail(column) && { format: 'email' }), ...describedBy(column) },
    required,
    written,
    comments,
  };
}

/** A field that names the parent by its external id. */
export function draftReference(
  column: CatalogColumn,
  parent: string,
  parentSchema: string,
  table: SourceTable,
  name: string,
): DraftField {
  return {
    name,
    property: { $ref: parentSchema },
    required: !column.nullable,
    written: `{ ref: ${scalar(parent)}, column: ${scalar(column.name)}${column.nullable ? ', omitNull: true' : ''} }`,
    comments: commentsOf(table, column),
  };
}

export function commentsOf(table: SourceTable, column: CatalogColumn): string[] {
  const personal = isPersonal(table, column) ? ['Personal data: send it only if the platform needs it.'] : [];
  return [...(column.comment === null ? [] : [column.comment]), ...personal];
}

export const describedBy = ({ comment }: { readonly comment: string | null }): JsonObject =>
  comment === null || comment.trim() === '' ? {} : { description: comment.trim() };
