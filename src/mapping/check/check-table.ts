/**
 * Checks a mapping against the source's catalog: privileges, keys, indexes, NULL, lengths and foreign keys. Everything
 * but a missing privilege is a warning, since the catalog shows what may happen, not what the rows are like.
 */
import type { Finding, FindingKind } from '../../domain/sync/finding.js';
import type { CatalogColumn, SourceTable } from '../../domain/source/source-catalog.js';
import { removesRecords, type FieldSpec, type MappingSpec, type SyncSpec } from '../../domain/sync/sync.js';
import { lookUpOf } from '../compile/external-id-look-up.js';
import { formatPath, type Locate, type Path } from '../language/place.js';
import { quantity } from '../../domain/values/quantity.js';
import { asObject, propertiesOf, requiredOf } from '../definition/target.js';

/** From this many rows on, a missing index is reported; a smaller table is scanned and sorted in a moment. */
const WORTH_AN_INDEX = 50_000;
/** Rows of a page at most. */
const PAGE = 2000;

/**
 * The findings about one mapping. `account` is the database user to name in a GRANT, null if it is unknown. `table`
 * must be the mapping's own; a mapping with a query has none and is not checked.
 */
export function checkTable(
  sync: SyncSpec,
  mapping: MappingSpec,
  table: SourceTable,
  account: string | null,
  locate: Locate,
): Finding[] {
  const findings: Finding[] = [];
  const report = (severity: Finding['severity'], kind: FindingKind, path: Path, message: string): void => {
    const { line, column } = locate(mapping.file, path);
    findings.push({ severity, kind, file: mapping.file, line, column, path: formatPath(path), message });
  };
  if (!table.readable) {
    const grant = `GRANT SELECT ON ${table.table} TO ${account ?? 'the account'}`;
    report('error', 'not_readable', ['source'], `the account may not read ${table.table}: ${grant}`);
    return findings;
  }
  if (table.kind === 'table') {
    checkKey(mapping, table, report);
    checkCursorIndex(sync, mapping, table, report);
    checkIdIndex(mapping, table, report);
  }
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  checkCursorZone(mapping, columns, report);
  for (const [field, spec] of mapping.fields) {
    const column = 'column' in spec ? columns.get(spec.column) : undefined;
    if (column === undefined) continue;
    const path = ['fields', field];
    for (const message of [...fieldProblems(mapping, field, column), ...referenceProblems(sync, spec, table)])
      report('warning', message.kind, path, message.text);
  }
  return findings;
}

type Report = (severity: Finding['severity'], kind: FindingKind, path: Path, message: string) => void;
interface Problem {
  readonly kind: FindingKind;
  readonly text: string;
}

/** The mapping's key must contain a unique key of the table; it may have more columns. */
function checkKey(mapping: MappingSpec, table: SourceTable, report: Report): void {
  if (!table.uniqueKeys.some((key) => key.every((column) => mapping.key.includes(column))))
    report(
      'warning',
      'key_not_unique',
      ['key'],
      `no primary or unique key of ${table.table} guarantees that (${mapping.key.join(', ')}) identifies one row; a run that reads rows with the same key fails. ${keysOf(table)}`,
    );
  for (const [index, name] of mapping.key.entries())
    if (table.columns.find((column) => column.name === name)?.nullable)
      report('warning', 'key_nullable', ['key', index], `${name} may be NULL, and a row without a key is never read`);
}

/** Which keys a table has, in sentences. SQLite allows NULL in a primary key, unless its columns are declared NOT NULL. */
function keysOf({ primaryKey, uniqueKeys }: SourceTable): string {
  const [primary, ...unique] = [primaryKey, ...uniqueKeys].map((key) => `(${key.join(', ')})`);
  const mayBeNull = primaryKey.length > 0 && !unique.includes(primary!);
  const sentences = [
    ...(mayBeNull ? [`Its primary key ${primary} may be NULL: declare the columns NOT NULL`] : []),
    ...(unique.length > 0 ? [`Its keys: ${unique.join(' or ')}`] : []),
  ];
  return sentences.length === 0 ? 'The table has no such key' : sentences.join('. ');
}

/** Pages are read in the order of (cursor, key), so only an index that begins with the cursor helps; but by the key with a feed. */
function checkCursorIndex(sync: SyncSpec, mapping: MappingSpec, table: SourceTable, report: Report): void {
  const cursor = mapping.cursor?.column;
  if (cursor === undefined || mapping.feed !== null || sync.mode !== 'incremental') return;
  if (table.estimatedRows !== null && table.estimatedRows < WORTH_AN_INDEX) return;
  if (table.indexes.some(({ columns }) => columns[0] === cursor)) return;
  const wanted = [cursor, ...mapping.key.filter((name) => name !== cursor)].join(', ');
  report(
    'warning',
    'cursor_not_indexed',
    ['cursor'],
    `no index begins with ${cursor}, ${costOf(table)}: ${createIndex(table, wanted)}`,
  );
}

/** Most probably the column was altered, or the zone is that of another one. */
function checkCursorZone({ cursor }: MappingSpec, columns: ReadonlyMap<string, CatalogColumn>, report: Report): void {
  const column = cursor?.zone === undefined ? undefined : columns.get(cursor.column);
  if (column?.type !== 'timestamptz') return;
  report(
    'warning',
    'cursor_zone_unused',
    ['cursor', 'zone'],
    `the cursor ${column.name} is ${column.databaseType}, which has a zone of its own: the zone is not used. Remove it`,
  );
}

/** What a run costs without the index, by the size of the table as the catalogue estimates it. */
function costOf({ estimatedRows }: SourceTable): string {
  if (estimatedRows === null) return 'so each page of a run scans the whole table';
  const scans = quantity(Math.ceil(estimatedRows / PAGE), 'scan');
  return `so each page of a run scans the whole table, about ${quantity(estimatedRows, 'row')}: ${scans} in the first run, and one or more in each run after it`;
}

/** The longest name of an index that every database takes. */
const LONGEST_NAME = 60;

/** The statement as every database takes it; PostgreSQL would also make up a name. */
function createIndex({ table, name }: SourceTable, columns: string): string {
  const index = `${name}_by_${columns}`.replaceAll(/\W+/g, '_').slice(0, LONGEST_NAME);
  return `CREATE INDEX ${index} ON ${table} (${columns})`;
}

/** A mirror run looks up the row of every record by its external id. */
function checkIdIndex(mapping: MappingSpec, table: SourceTable, report: Report): void {
  if (!removesRecords(mapping)) return;
  if (table.estimatedRows !== null && table.estimatedRows < WORTH_AN_INDEX) return;
  const columns = lookUpOf(mapping)?.columns;
  if (columns === undefined || table.indexes.some((index) => columns.includes(index.columns[0] ?? ''))) return;
  report(
    'warning',
    'external_id_not_indexed',
    ['deletes'],
    `a mirror run looks rows up by ${columns.join(', ')}, and no index begins with it: ${createIndex(table, columns.join(', '))}`,
  );
}

/**
 * What rows may come to violate, by their column's type: a NULL in a required field, a text longer than the schema
 * allows.
 */
function fieldProblems({ schema: { schema, name } }: MappingSpec, field: string, column: CatalogColumn): Problem[] {
  const problems: Problem[] = [];
  if (column.nullable && requiredOf(schema).includes(field))
    problems.push({
      kind: 'nullable_required',
      text: `${column.name} may be NULL, and the schema ${name} requires ${field}: such a row would become a dead letter`,
    });
  const longest = asObject(propertiesOf(schema)[field])?.['maxLength'];
  const length = /^(?:character varying|varchar|character|char)\((\d+)\)/i.exec(column.databaseType)?.[1];
  if (typeof longest === 'number' && length !== undefined && Number(length) > longest)
    problems.push({
      kind: 'too_long',
      text: `${column.name} is ${column.databaseType}, and the schema ${name} takes at most ${longest} characters`,
    });
  return problems;
}

/**
 * A foreign key that leads to a table other than the one that the referenced mapping reads is probably a wrong `ref`.
 */
function referenceProblems(sync: SyncSpec, spec: FieldSpec, table: SourceTable): Problem[] {
  if (spec.kind !== 'ref') return [];
  const parent = sync.mappings.find((mapping) => mapping.name === spec.mapping);
  if (parent === undefined || !('table' in parent.relation)) return [];
  const wanted = parent.relation.table;
  const keys = table.foreignKeys.filter(({ columns }) => columns.length === 1 && columns[0] === spec.column);
  if (keys.length === 0 || keys.some((key) => sameTable(key.table, wanted))) return [];
  return [
    {
      kind: 'reference_elsewhere',
      text: `by its foreign key ${spec.column} refers to ${keys[0]!.table}, and the mapping ${spec.mapping} reads ${wanted}`,
    },
  ];
}

/** Catalogs name the schema of a table, mappings need not. */
const sameTable = (a: string, b: string): boolean => a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
