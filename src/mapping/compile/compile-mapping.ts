/**
 * Compiles a mapping to a function from row to record. That function runs once for each row, so everything that can be
 * decided once is decided here.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import { formatFinding } from '../../domain/sync/finding.js';
import type { MapResult, FailedRow } from '../../domain/records/record.js';
import { Records } from '../../records/records.js';
import { referencesOf } from '../../domain/records/references.js';
import type { ByteRow, SourceColumn, SourceRow } from '../../domain/source/source.js';
import type { MappingSpec, TenantConfig } from '../../domain/sync/sync.js';
import { TextRow } from '../../records/text-row.js';
import { checkColumns } from './check-columns.js';
import { columnsOf } from './read-plan.js';
import { deletedRecords, deletedRowTest } from './deleted-record.js';
import { definitionValidator } from '../definition/definition-validator.js';
import { noExternalId, tenantUnknown, type Failure } from './row-failure.js';
import type { PlacedColumn, PlannedField } from './field-writer.js';
import { planField } from './plan-field.js';
import type { Locate } from '../language/place.js';
import { externalIdReader } from './external-id-reader.js';
import { recordWriter } from './record-writer.js';
import { Rejection } from '../encode/rejection.js';
import { FORBIDDEN_NAMES, targetOf } from '../definition/target.js';
import { tenantReader } from './tenant-reader.js';

/**
 * A mapping for columns of known types. Not reentrant: its functions share buffers, so each thread compiles its own.
 */
export interface CompiledMapping {
  /** The columns to select, in the order of the values of a row. */
  readonly columns: readonly string[];
  /**
   * Appends the record of a row to `records` and returns null, or returns why the row has none. Never throws for bad
   * data.
   */
  readonly append: (row: ByteRow, records: Records) => FailedRow | null;
  /** A row of texts as {@link append} takes it; valid until the next call. */
  readonly inBytes: (row: SourceRow) => ByteRow;
  /**
   * Like {@link append}, for a row of texts; returns the record instead of null. Without `records`, the record has its
   * own.
   */
  readonly map: (row: SourceRow, records?: Records) => MapResult;
  /** The external id of a row, of which no other columns need be known; null if it has none that can be used. */
  readonly externalIdOf: (row: SourceRow) => string | null;
  /** The tenant of a row, of which no other columns need be known; null if it names none that is declared. */
  readonly tenantOf: (row: SourceRow) => string | null;
}

/**
 * Compiles `mapping` for a source with these columns (in any order; more than needed is fine). `tenant` must not be of
 * the kind `table`: its list has to be read first. Throws `source_relation_missing` if a column is missing, otherwise
 * `config_invalid`, with everything that {@link checkColumns} finds.
 */
export function compileMapping(
  mapping: MappingSpec,
  tenant: TenantConfig,
  columns: readonly SourceColumn[],
  locate?: Locate,
): CompiledMapping {
  assertRunnable(mapping, tenant, columns, locate);
  const selected = columnsOf(mapping, tenant);
  const byName = new Map(columns.map((column) => [column.name, column]));
  const placed = (name: string): PlacedColumn => ({ index: selected.indexOf(name), column: byName.get(name)! });
  const { schema, externalIdField } = mapping.schema;
  const fields = plannedFields(mapping, placed);
  const validator = definitionValidator(schema);
  const writer = recordWriter(mapping.schema, validator, fields);
  const readTenant = tenantReader(tenant, placed);
  const externalIds = externalIdReader(mapping, fields);
  const isDeleted = deletedRowTest(mapping.deletes, placed);
  const { json: deletedJson, deletion } = deletedRecords(mapping);

  const key = mapping.key.map((name) => selected.indexOf(name));

  /** The texts of a row are made only here: most rows never need them. */
  function unmappable(row: ByteRow, rowTenant: string | null, externalId: string | null, failure: Failure): FailedRow {
    const texts = row.texts();
    return {
      kind: 'failed',
      tenant: rowTenant,
      externalId,
      sourceKey: key.map((column) => texts[column]!),
      ...failure,
    };
  }

  function append(row: ByteRow, records: Records): FailedRow | null {
    const rowTenant = readTenant(row);
    if (rowTenant instanceof Rejection)
      return unmappable(row, null, externalIds.read(row).externalId, tenantUnknown(rowTenant));
    if (isDeleted?.(row) === true) return appendDeleted(rowTenant, row, records);
    const failure = writer.write(row, records.texts);
    if (failure === null && externalIds.isSurelyUsable(writer.id, records.texts)) {
      records.append(rowTenant, writer.id, row, key);
      return null;
    }
    const { externalId, problem } = externalIds.read(row);
    const why = problem ?? failure;
    if (why === null) {
      records.append(rowTenant, externalId!, row, key);
      return null;
    }
    records.texts.undo();
    return unmappable(row, rowTenant, externalId, why);
  }

  /**
   * Like {@link append}, for a row that is marked as deleted. Only its external id is mapped, so that a deleted row
   * whose other columns cannot be mapped any more is no dead letter.
   */
  function appendDeleted(rowTenant: string, row: ByteRow, records: Records): FailedRow | null {
    const { externalId, problem } = externalIds.read(row);
    if (problem === null && externalId?.isWellFormed() === true) {
      records.texts.write(deletedJson(externalId));
      records.append(rowTenant, externalId, row, key, deletion);
      return null;
    }
    // Without an external id nothing can be deleted. Mapping the row as usual gives the reason why it has none.
    const failure = problem ?? writer.write(row, records.texts);
    records.texts.undo();
    return unmappable(row, rowTenant, externalId, failure ?? noExternalId(externalIdField));
  }

  const ofTexts = new TextRow([...key, ...[...fields.values()].flatMap(({ copied }) => copied)]);
  const inBytes = (row: SourceRow): ByteRow => ofTexts.pointTo(row);
  const map = (row: SourceRow, records = new Records()): MapResult => append(inBytes(row), records) ?? records.last;

  const externalIdOf = (row: SourceRow): string | null => {
    const { externalId, problem } = externalIds.read(inBytes(row));
    return problem === null ? externalId : null;
  };
  const tenantOf = (row: SourceRow): string | null => {
    const named = readTenant(inBytes(row));
    return named instanceof Rejection ? null : named;
  };

  return { columns: selected, append, inBytes, map, externalIdOf, tenantOf };
}

/** The fields in the order of the mapping. */
function plannedFields(
  { fields, schema: { schema } }: MappingSpec,
  placed: (name: string) => PlacedColumn,
): ReadonlyMap<string, PlannedField> {
  const references = new Map(referencesOf(schema).map((reference) => [reference.field, reference]));
  const planned = new Map<string, PlannedField>();
  for (const [name, spec] of fields) {
    const plan = planField(spec, targetOf(schema, name), references.get(name) ?? null, placed);
    if ('problems' in plan) throw new Error('checkColumns let a field pass that has no plan');
    planned.set(name, { ...plan, omitNull: spec.omitNull });
  }
  return planned;
}

/** Throws as {@link compileMapping} does. */
function assertRunnable(
  mapping: MappingSpec,
  tenant: TenantConfig,
  columns: readonly SourceColumn[],
  locate: Locate | undefined,
): void {
  const findings = checkColumns(mapping, tenant, columns, locate);
  if (findings.length > 0) {
    const missing = findings.some((finding) => finding.kind === 'column_missing');
    const message = findings.map(formatFinding).join('\n');
    throw new PartnerSyncError(missing ? 'source_relation_missing' : 'config_invalid', message, {
      mapping: mapping.name,
    });
  }
  // Loading a sync rejects both already; this is for mappings that are built in code.
  const bad = [...mapping.fields.keys()].find((name) => FORBIDDEN_NAMES.includes(name));
  if (bad !== undefined)
    throw new PartnerSyncError('config_invalid', `${mapping.file}: a field must not be named ${bad}`);
  if (!mapping.fields.has(mapping.schema.externalIdField))
    throw new PartnerSyncError(
      'config_invalid',
      `${mapping.file}: fields.${mapping.schema.externalIdField} (the external id) is missing`,
    );
}
