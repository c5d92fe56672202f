/** One table as a mapping and a schema definition. */
import type { CatalogColumn, SourceTable } from '../domain/source-catalog.js';
import { DECIDE, type DraftField, type DraftMapping, type ZoneGuess } from './draft.js';
import { commentsOf, describedBy, draftField, draftReference, encoding, listed } from './draft-field.js';
import { bytesForm, instantForm } from './draft-values.js';
import { categoryOf, changeColumns, creationColumn } from './guesses.js';
import { fieldName, singular, takeName, type TableNames } from './names.js';
import { keyOf, type DraftReference } from './references.js';
import type { Sample } from './sample.js';
import { scalar } from './yaml-text.js';

/** What the tables of the sync are called, and how they hang together. */
export interface Surroundings {
  readonly tables: ReadonlyMap<string, SourceTable>;
  readonly names: ReadonlyMap<string, TableNames>;
  readonly references: readonly DraftReference[];
  readonly circular: readonly DraftReference[];
  readonly zone: ZoneGuess;
  /** Values of each table. */
  readonly samples: ReadonlyMap<string, Sample>;
  /** Whether values may be of other types than their columns. */
  readonly dynamic: boolean;
  /** Whether the column holds NULL in some row: such a column cannot be a cursor. */
  hasNull(table: SourceTable, column: string): Promise<boolean>;
}

export async function draftMapping(table: SourceTable, around: Surroundings): Promise<DraftMapping> {
  const { mapping, schema, plural, comment } = around.names.get(table.table)!;
  const { cursor, cursorComments } = await cursorOf(table, around);
  const taken = new Set<string>();
  const externalId = externalIdField(table, taken, around);
  const leftOut: string[] = [];
  const fields = [externalId];
  for (const column of table.columns) {
    if (keyOf(table).length === 1 && column.name === keyOf(table)[0] && !isReference(table, column, around)) continue;
    if (column.name === cursor?.column) {
      leftOut.push(
        `${column.name} is the cursor; as a field it would make a changed record of every row that is touched`,
      );
      continue;
    }
    const field = otherField(table, column, around, taken);
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
    externalIdField: externalId.name,
    fields,
    leftOut,
  };
}

/** The key as text: the platform knows a record by it. */
function externalIdField(table: SourceTable, taken: Set<string>, around: Surroundings): DraftField {
  const key = keyOf(table).map((name) => table.columns.find((column) => column.name === name)!);
  const [first] = key;
  const own = key.length === 1 && !/^(id|key|uuid|guid|no|number|code)$/i.test(first!.name);
  const name = takeName(taken, own ? fieldName(first!.name) : fieldName(`${singular(table.name.toLowerCase())} id`));
  const comments = key.length === 1 ? commentsOf(table, first!) : [];
  const template = key.map((column) => `{${column.name}}`).join('-');
  const transforms = key.length === 1 ? keyTransforms(table, around) : [];
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

/** What makes an external id of a table's only key column, in its own records as in those that refer to them. */
function keyTransforms(table: SourceTable, { samples }: Surroundings): string[] {
  const key = table.columns.find((column) => column.name === keyOf(table)[0])!;
  if (key.type !== 'bytes') return [];
  return encoding(bytesForm(key, samples.get(table.table)!(key.name)) === 'uuid' ? 'uuid' : 'hex');
}

const isReference = (table: SourceTable, column: CatalogColumn, { references }: Surroundings): boolean =>
  references.some((r) => r.from === table.table && r.column === column.name);

function otherField(
  table: SourceTable,
  column: CatalogColumn,
  around: Surroundings,
  taken: Set<string>,
): DraftField | { readonly leftOut: string } {
  const reference = around.references.find((r) => r.from === table.table && r.column === column.name);
  if (reference === undefined) {
    const { zone, dynamic } = around;
    const name = takeName(taken, fieldName(column.name));
    const field = draftField(column, { table, name, zone, dynamic, sample: around.samples.get(table.table)! });
    const circle = around.circular.find((r) => r.from === table.table && r.column === column.name);
    if ('leftOut' in field || circle === undefined) return field;
    const note = `It refers to ${circle.to}, in a circle of columns that are never NULL; one of them cannot be a reference.`;
    return { ...field, comments: [...field.comments, note] };
  }
  const parent = around.names.get(reference.to)!;
  const wanted = fieldName(column.name);
  const name = takeName(taken, taken.has(wanted) ? fieldName(parent.schema) : wanted);
  const transforms = keyTransforms(around.tables.get(reference.to)!, around);
  return draftReference(column, parent.mapping, parent.schema, table, name, transforms);
}

/** The column that grows with every change, where one seems to. */
async function cursorOf(
  table: SourceTable,
  around: Surroundings,
): Promise<Pick<DraftMapping, 'cursor' | 'cursorComments'>> {
  const cursorComments: string[] = [];
  for (const column of changeColumns(table)) {
    if (column.nullable && (await around.hasNull(table, column.name))) {
      cursorComments.push(`${column.name} is NULL in some rows, which no incremental run would ever read.`);
      continue;
    }
    const form = around.dynamic ? instantForm(column, around.samples.get(table.table)!(column.name)) : null;
    if (form !== null && form !== 'text') {
      cursorComments.push(`${column.name} holds numbers, and a cursor must hold dates or times.`);
      continue;
    }
    cursorComments.push(`${DECIDE} does ${column.name} grow with every change of a row? Otherwise changes are missed.`);
    if (column.type !== 'timestamp') return { cursor: { column: column.name, zone: null }, cursorComments };
    // Texts that name their zone are not read by this one.
    if (form === 'text') return { cursor: { column: column.name, zone: 'UTC' }, cursorComments };
    const { name, why } = around.zone;
    cursorComments.push(
      `${DECIDE} whose local time is ${column.name}? ${name} ${why}; one too far east misses rows that are committed late.`,
    );
    return { cursor: { column: column.name, zone: name }, cursorComments };
  }
  const made = creationColumn(table);
  cursorComments.push(
    'No column is known to grow with every change, so every run reads all rows; unchanged records are not sent.' +
      (made === undefined ? '' : ` ${made.name} tells new rows only, not changed ones.`),
  );
  return { cursor: null, cursorComments };
}
