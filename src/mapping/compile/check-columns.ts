/**
 * Checks a mapping against the columns that the source really has, before any row is read: by `check`, by compiling,
 * and so by every run.
 */
import type { Finding, FindingKind } from '../../domain/sync/finding.js';
import { nearest } from '../../domain/values/names.js';
import { referencesOf } from '../../domain/records/references.js';
import type { SourceColumn } from '../../domain/source/source.js';
import type { MappingSpec, TenantConfig } from '../../domain/sync/sync.js';
import { booleanText, marksDeletionByItself } from './deleted-record.js';
import type { PlacedColumn } from './field-writer.js';
import { planField } from './plan-field.js';
import { textForm } from '../encode/value-kind.js';
import { formatPath, type Locate, type Path, type Place } from '../language/place.js';
import { targetOf } from '../definition/target.js';
import { fieldColumns, namedColumns } from './read-plan.js';

/** For compiling, where the files have long been checked and places would be of no use. */
const NOWHERE: Locate = () => ({ line: 0, column: 0 });
/** Column names that are listed in a message, so that a wide table does not bury it. */
const LISTED = 40;

/**
 * Everything that keeps `mapping` from running on these columns, as findings of severity `error`; empty if it can run.
 * `columns` are described by the source, in any order, and may be more than the mapping uses. `locate` gives the places
 * of the findings; without it they have line 0. What the values are like is not checked here (check-rows.ts).
 */
export function checkColumns(
  mapping: MappingSpec,
  tenant: TenantConfig,
  columns: readonly SourceColumn[],
  locate: Locate = NOWHERE,
): Finding[] {
  const findings: Finding[] = [];
  const report: Report = (kind, path, message) => {
    const { line, column } = locate(mapping.file, path);
    findings.push({ severity: 'error', kind, file: mapping.file, line, column, path: formatPath(path), message });
  };
  const where = 'table' in mapping.relation ? mapping.relation.table : 'the query';
  const relation = locate(mapping.file, ['source', 'table']).written ?? where;
  const byName = new Map(columns.map((column) => [column.name, column]));

  checkDuplicates(columns, relation, report);
  for (const { name, path } of namedColumns(mapping, tenant))
    if (!byName.has(name)) reportMissing(name, path, [...byName.keys()], relation, locate(mapping.file, path), report);
  checkCursor(mapping, byName, report);
  checkDeletesColumn(mapping, byName, report);
  checkFieldPlans(mapping, byName, report);
  const tenantColumn = tenant.kind === 'constant' ? undefined : byName.get(tenant.column);
  if (tenantColumn !== undefined && textForm(tenantColumn.type) === undefined)
    report(
      'no_conversion',
      ['source'],
      `the tenant column of sync.yaml is ${tenantColumn.databaseType}, which has no text form`,
    );
  return findings;
}

type Report = (kind: FindingKind, path: Path, message: string) => void;
type Columns = ReadonlyMap<string, SourceColumn>;

function checkDuplicates(columns: readonly SourceColumn[], relation: string, report: Report): void {
  for (const name of new Set(columns.map((column) => column.name)))
    if (columns.filter((column) => column.name === name).length > 1)
      report(
        'duplicate_column',
        ['source'],
        `${relation} gives two columns the name "${name}"; rename one with AS in the query`,
      );
}

function reportMissing(
  name: string,
  path: Path,
  known: readonly string[],
  relation: string,
  { written }: Place,
  report: Report,
): void {
  const near = written === undefined ? nearest(name, known) : undefined;
  const ofTenant = path[0] === 'source' ? ' (the tenant column of sync.yaml)' : '';
  const suggestion = near === undefined ? '' : ` Did you mean "${near}"?`;
  report(
    'column_missing',
    path,
    `no column "${written ?? name}" in ${relation}${ofTenant}.${suggestion} Columns: ${listed(known)}`,
  );
}

function checkCursor({ cursor }: MappingSpec, byName: Columns, report: Report): void {
  const column = cursor === null ? undefined : byName.get(cursor.column);
  if (column === undefined || hasHighWatermark(column, cursor?.zone !== undefined)) return;
  const advice =
    column.type === 'timestamp'
      ? ` Name the zone of its local times: cursor: { column: ${column.name}, zone: Europe/London }`
      : '';
  report(
    'cursor_type',
    ['cursor'],
    `the cursor is ${column.databaseType}; an incremental run needs timestamp with time zone or date.${advice}`,
  );
}

/** SQL Server's change counter is not a time, but its source has a high watermark for it. */
const hasHighWatermark = ({ type, databaseType }: SourceColumn, zoned: boolean): boolean =>
  type === 'timestamptz' || type === 'date' || databaseType === 'rowversion' || (type === 'timestamp' && zoned);

function checkDeletesColumn({ deletes }: MappingSpec, byName: Columns, report: Report): void {
  const column = deletes?.column == null ? undefined : byName.get(deletes.column);
  if (column === undefined) return;
  const { values } = deletes!;
  if (values === null && !marksDeletionByItself(column.type))
    report(
      'deletes_values',
      ['deletes', 'column'],
      `${column.name} is ${column.databaseType}: say which of its values mean deleted, such as values: ['1']`,
    );
  for (const [index, value] of (values ?? []).entries()) {
    const advice = adviceOn(value, column);
    if (advice !== null)
      report(
        'deletes_values',
        ['deletes', 'values', index],
        `${column.name} is ${column.databaseType}, which is never ${JSON.stringify(value)}: write ${advice}`,
      );
  }
}

/** What to write instead of a value that no row has in a column of this type; null if one may have it. */
function adviceOn(value: string, { type }: SourceColumn): string | null {
  switch (type) {
    case 'boolean':
      return booleanText(value) === undefined ? "'true' or 'false'" : null;
    case 'integer':
    case 'decimal':
    case 'float':
      return isNumber(value) ? null : "a number, such as '1'";
    default:
      return null;
  }
}

const isNumber = (text: string): boolean => text === 'NaN' || (text.trim() !== '' && !Number.isNaN(Number(text)));

/** Fields with a missing column are left out: that is reported already. */
function checkFieldPlans({ fields, schema: { schema } }: MappingSpec, byName: Columns, report: Report): void {
  const references = new Map(referencesOf(schema).map((reference) => [reference.field, reference]));
  // The plan is thrown away, so the index does not matter.
  const placed = (name: string): PlacedColumn => ({ index: 0, column: byName.get(name)! });
  for (const [field, spec] of fields) {
    if (fieldColumns(spec).some((name) => !byName.has(name))) continue;
    const plan = planField(spec, targetOf(schema, field), references.get(field) ?? null, placed);
    if ('problems' in plan)
      for (const { path, message } of plan.problems) report('no_conversion', ['fields', field, ...path], message);
  }
}

const listed = (names: readonly string[]): string =>
  names.slice(0, LISTED).join(', ') + (names.length > LISTED ? `, and ${names.length - LISTED} more` : '');
