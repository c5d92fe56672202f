/**
 * Checks a mapping against the columns that the source really has, before any row is read: by `check`, by compiling,
 * and so by every run.
 */
import type { Finding } from '../../domain/finding.js';
import { nearest } from '../../domain/names.js';
import { referencesOf } from '../../domain/references.js';
import type { SourceColumn } from '../../domain/source.js';
import type { MappingSpec, TenantConfig } from '../../domain/sync.js';
import { marksDeletionByItself } from './deleted-record.js';
import type { PlacedColumn } from './field-writer.js';
import { planField } from './plan-field.js';
import { textForm } from '../encode/value-kind.js';
import { formatPath, type Locate, type Path } from '../language/place.js';
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
  const report = (kind: string, path: Path, message: string): void => {
    const { line, column } = locate(mapping.file, path);
    findings.push({ severity: 'error', kind, file: mapping.file, line, column, path: formatPath(path), message });
  };
  const where = 'table' in mapping.relation ? mapping.relation.table : 'the query';
  const relation = locate(mapping.file, ['source', 'table']).written ?? where;
  const byName = new Map(columns.map((column) => [column.name, column]));

  for (const name of new Set(columns.map((column) => column.name)))
    if (columns.filter((column) => column.name === name).length > 1)
      report(
        'duplicate_column',
        ['source'],
        `${relation} gives two columns the name "${name}"; rename one with AS in the query`,
      );

  for (const { name, path } of namedColumns(mapping, tenant)) {
    if (byName.has(name)) continue;
    const written = locate(mapping.file, path).written;
    const near = written === undefined ? nearest(name, [...byName.keys()]) : undefined;
    report(
      'column_missing',
      path,
      `no column "${written ?? name}" in ${relation}${path[0] === 'source' ? ' (the tenant column of sync.yaml)' : ''}.` +
        `${near === undefined ? '' : ` Did you mean "${near}"?`} Columns: ${listed([...byName.keys()])}`,
    );
  }

  const cursor = mapping.cursor === null ? undefined : byName.get(mapping.cursor.column);
  const zoned = mapping.cursor?.zone !== undefined;
  if (
    cursor !== undefined &&
    cursor.type !== 'timestamptz' &&
    cursor.type !== 'date' &&
    // SQL Server's change counter is not a time, but its source has a high watermark for it.
    cursor.databaseType !== 'rowversion' &&
    !(cursor.type === 'timestamp' && zoned)
  )
    report(
      'cursor_type',
      ['cursor'],
      `the cursor is ${cursor.databaseType}; an incremental run needs timestamp with time zone or date.` +
        (cursor.type === 'timestamp'
          ? ` Name the zone of its local times: cursor: { column: ${cursor.name}, zone: Europe/London }`
          : ''),
    );

  const deletes = mapping.deletes?.column == null ? undefined : byName.get(mapping.deletes.column);
  if (deletes !== undefined && mapping.deletes?.values === null && !marksDeletionByItself(deletes.type))
    report(
      'deletes_values',
      ['deletes', 'column'],
      `${deletes.name} is ${deletes.databaseType}: say which of its values mean deleted, such as values: ['1']`,
    );

  const references = new Map(referencesOf(mapping.schema.schema).map((ref) => [ref.field, ref]));
  // The plan is thrown away, so the index does not matter.
  const placed = (name: string): PlacedColumn => ({ index: 0, column: byName.get(name)! });
  for (const [field, spec] of mapping.fields) {
    if (fieldColumns(spec).some((name) => !byName.has(name))) continue;
    const plan = planField(spec, targetOf(mapping.schema.schema, field), references.get(field) ?? null, placed);
    if ('problems' in plan)
      for (const { path, message } of plan.problems) report('no_conversion', ['fields', field, ...path], message);
  }
  const tenantColumn = tenant.kind === 'constant' ? undefined : byName.get(tenant.column);
  if (tenantColumn !== undefined && textForm(tenantColumn.type) === undefined)
    report(
      'no_conversion',
      ['source'],
      `the tenant column of sync.yaml is ${tenantColumn.databaseType}, which has no text form`,
    );
  return findings;
}

const listed = (names: readonly string[]): string =>
  names.slice(0, LISTED).join(', ') + (names.length > LISTED ? `, and ${names.length - LISTED} more` : '');
