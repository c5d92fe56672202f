/** Drafts one table as a mapping and a schema definition. */
import type { CatalogColumn, SourceTable } from '../domain/source/source-catalog.js';
import { DECIDE, type DraftField, type DraftMapping, type ZoneGuess } from './draft.js';
import { commentsOf, describedBy, draftField, draftReference, encoding, listed } from './draft-field.js';
import { bytesForm, instantForm } from './draft-values.js';
import { categoryOf, changeColumns, creationColumn, deletionColumns } from './guesses.js';
import { fieldName, singular, takeName, type TableNames } from './draft-names.js';
import { keyOf, type DraftReference } from './draft-references.js';
import type { Sample } from './sample.js';
import { scalar } from './yaml-text.js';

/**
 * What drafting a table needs to know about the other tables of the sync. Maps are keyed by table as mappings write it.
 */
export interface DraftContext {
  readonly tables: ReadonlyMap<string, SourceTable>;
  readonly names: ReadonlyMap<string, TableNames>;
  /** References that mappings can make. */
  readonly references: readonly DraftReference[];
  /** Columns that refer to another table but stay plain fields, because their reference would close a cycle. */
  readonly circular: readonly DraftReference[];
  readonly zone: ZoneGuess;
  /** Sample values of each table. */
  readonly samples: ReadonlyMap<string, Sample>;
  /** Whether values may have other types than their columns. */
  readonly dynamic: boolean;
  /** Whether the column is NULL in some row; such a column cannot be a cursor. */
  hasNull(table: SourceTable, column: string): Promise<boolean>;
}

/**
 * Drafts the mapping of a table. Every column becomes a field or is listed in `leftOut` with the reason; a
 * single-column key becomes the external id.
 */
export async function draftMapping(table: SourceTable, context: DraftContext): Promise<DraftMapping> {
  const { mapping, schema, plural, comment } = context.names.get(table.table)!;
  const { cursor, cursorComments } = await cursorOf(table, context);
  const deletion = await deletionOf(table, context);
  const taken = new Set<string>();
  const externalId = externalIdField(table, taken, context);
  const leftOut: string[] = [];
  const fields = [externalId];
  for (const column of table.columns) {
    if (keyOf(table).length === 1 && column.name === keyOf(table)[0] && !isReference(table, column, context)) continue;
    if (column.name === cursor?.column) {
      leftOut.push(`${column.name} is the cursor; as a field it would make every row that is touched a changed record`);
      continue;
    }
    if (column === deletion) {
      leftOut.push(`${column.name} says which rows are deleted; in all others it is the same`);
      continue;
    }
    const field = otherField(table, column, context, taken);
    if ('leftOut' in field) leftOut.push(field.leftOut);
    else fields.push(field);
  }
  return {
    name: mapping,
    table,
    schemaName: schema,
    pluralName: plural,
    schemaComment: comment,
    category: categoryOf(table),
    key: keyOf(table),
    cursor,
    cursorComments,
    deletes:
      deletion === undefined ? null : { column: deletion.name, values: deletion.type === 'integer' ? ['1'] : null },
    externalIdField: externalId.name,
    fields,
    leftOut,
  };
}

/**
 * The column that seems to mark rows as deleted, if there is one. Neither the key nor a reference is one, nor is a date that no row
 * lacks: all rows would count as deleted.
 */
async function deletionOf(table: SourceTable, context: DraftContext): Promise<CatalogColumn | undefined> {
  for (const column of deletionColumns(table, context.samples.get(table.table)!)) {
    if (keyOf(table).includes(column.name) || isReference(table, column, context)) continue;
    const isFlag = /^(boolean|integer)$/.test(column.type);
    if (isFlag || (await context.hasNull(table, column.name))) return column;
  }
  return undefined;
}

/** The external id: the key as text, or a template that joins the columns of a composite key. */
function externalIdField(table: SourceTable, taken: Set<string>, context: DraftContext): DraftField {
  const key = keyOf(table).map((name) => table.columns.find((column) => column.name === name)!);
  const [first] = key;
  const own = key.length === 1 && !/^(id|key|uuid|guid|no|number|code)$/i.test(first!.name);
  const name = takeName(taken, own ? fieldName(first!.name) : fieldName(`${singular(table.name.toLowerCase())} id`));
  const comments = key.length === 1 ? commentsOf(table, first!) : [];
  const template = key.map((column) => `{${column.name}}`).join('-');
  const transforms = key.length === 1 ? keyTransforms(table, context) : [];
  const written =
    key.length > 1
      ? `{ template: ${JSON.stringify(template)} }`
      : transforms.length === 0
        ? scalar(first!.name)
        : `{ column: ${scalar(first!.name)}${listed(transforms)} }`;
  return {
    name,
    property: { type: 'string', minLength: 1, ...(key.length === 1 ? describedBy(first!) : {}) },
    required: true,
    written,
    comments,
  };
}

/** The transforms that turn a single-column key into an external id. References to the table apply the same ones. */
function keyTransforms(table: SourceTable, { samples }: DraftContext): string[] {
  const key = table.columns.find((column) => column.name === keyOf(table)[0])!;
  if (key.type !== 'bytes') return [];
  return encoding(bytesForm(key, samples.get(table.table)!(key.name)) === 'uuid' ? 'uuid' : 'hex');
}

const isReference = (table: SourceTable, column: CatalogColumn, { references }: DraftContext): boolean =>
  references.some((r) => r.from === table.table && r.column === column.name);

/** A reference if the column has one, otherwise a plain field. */
function otherField(
  table: SourceTable,
  column: CatalogColumn,
  context: DraftContext,
  taken: Set<string>,
): DraftField | { readonly leftOut: string } {
  const reference = context.references.find((r) => r.from === table.table && r.column === column.name);
  if (reference === undefined) {
    const { zone, dynamic } = context;
    const name = takeName(taken, fieldName(column.name));
    const field = draftField(column, { table, name, zone, dynamic, sample: context.samples.get(table.table)! });
    const cycle = context.circular.find((r) => r.from === table.table && r.column === column.name);
    if ('leftOut' in field || cycle === undefined) return field;
    const note = `It refers to ${cycle.to}, in a cycle of columns that are never NULL; one of them cannot be a reference.`;
    return { ...field, comments: [...field.comments, note] };
  }
  const parent = context.names.get(reference.to)!;
  const wanted = fieldName(column.name);
  const name = takeName(taken, taken.has(wanted) ? fieldName(parent.schema) : wanted);
  const transforms = keyTransforms(context.tables.get(reference.to)!, context);
  return draftReference(column, parent.mapping, parent.schema, table, name, transforms);
}

/**
 * The column that seems to grow with every change of a row, if there is one, with the comments that ask a person to
 * confirm it.
 */
async function cursorOf(
  table: SourceTable,
  context: DraftContext,
): Promise<Pick<DraftMapping, 'cursor' | 'cursorComments'>> {
  const cursorComments: string[] = [];
  for (const column of changeColumns(table)) {
    if (column.nullable && (await context.hasNull(table, column.name))) {
      cursorComments.push(`${column.name} is NULL in some rows, which no incremental run would ever read.`);
      continue;
    }
    const form = context.dynamic ? instantForm(column, context.samples.get(table.table)!(column.name)) : null;
    if (form !== null && form !== 'text') {
      cursorComments.push(`${column.name} holds numbers, and a cursor must hold dates or times.`);
      continue;
    }
    cursorComments.push(`${DECIDE} does ${column.name} grow with every change of a row? Otherwise changes are missed.`);
    if (column.type !== 'timestamp') return { cursor: { column: column.name, zone: null }, cursorComments };
    // These texts name their own zone; the zone of the cursor has no effect on them.
    if (form === 'text') return { cursor: { column: column.name, zone: 'UTC' }, cursorComments };
    const { name, why } = context.zone;
    cursorComments.push(
      `${DECIDE} whose local time is ${column.name}? ${name} ${why}; with a zone too far east, rows that are committed late are missed.`,
    );
    return { cursor: { column: column.name, zone: name }, cursorComments };
  }
  const made = creationColumn(table);
  cursorComments.push(
    'No column is known to grow with every change, so every run reads all rows; unchanged records are not sent.' +
      (made === undefined ? '' : ` ${made.name} shows only new rows, not changed ones.`),
  );
  return { cursor: null, cursorComments };
}
