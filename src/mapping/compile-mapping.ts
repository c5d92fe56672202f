/** Turns a mapping into one function from row to record. This is the hot path: everything is decided here, once. */
import { PartnerSyncError } from '../domain/errors.js';
import { formatFinding } from '../domain/finding.js';
import type { MapResult } from '../domain/record.js';
import { externalIdProblem, SURELY_SHORT } from '../domain/external-id.js';
import { Records, type Span } from '../domain/record-list.js';
import type { RecordTexts } from '../domain/record-texts.js';
import { referencesOf } from '../domain/references.js';
import type { ByteRow, SourceColumn, SourceKey, SourceRow } from '../domain/source.js';
import type { MappingSpec, TenantConfig } from '../domain/sync.js';
import { checkColumns, columnsOf } from './check-columns.js';
import { deletedRows } from './deleted-rows.js';
import { deletedRecords } from './deleted-record.js';
import { definitionValidator } from './definition-validator.js';
import { idUnusable, tenantUnknown } from './failure.js';
import { planField } from './field-plan.js';
import type { PlannedField } from './field-plan.js';
import type { Locate } from './place.js';
import { externalIdText, plainMapper } from './plain-mapper.js';
import { recordWriter } from './record-writer.js';
import { Rejection } from './rejection.js';
import { FORBIDDEN_NAMES, targetOf } from './target.js';
import { tenantReader } from './tenant-reader.js';

export interface CompiledMapping {
  /** What must be selected, in the order of the rows that {@link map} takes. */
  readonly columns: readonly string[];
  /** A record is appended to `records`. */
  readonly map: (row: SourceRow, sourceKey: SourceKey, records?: Records) => MapResult;
  /**
   * Appends the record of a row that is bytes yet: the one that `map` makes of it. False where only `map` can say what
   * becomes of the row: then nothing is appended.
   */
  readonly append: (row: ByteRow, records: Records) => boolean;
}

/**
 * Compiles `mapping` for a source whose columns are described by `columns` (any order, more than needed is fine).
 * Throws `source_relation_missing` or `config_invalid` with everything that {@link checkColumns} finds.
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
  const placed = (name: string) => ({ index: selected.indexOf(name), column: byName.get(name)! });
  const { schema, externalIdField } = mapping.schema;
  const references = new Map(referencesOf(schema).map((reference) => [reference.field, reference]));

  const fields = new Map<string, PlannedField>();
  for (const [name, spec] of mapping.fields) {
    const plan = planField(spec, targetOf(schema, name), references.get(name) ?? null, placed);
    if ('problems' in plan) throw new Error('checkColumns let a field pass that has no plan');
    fields.set(name, { ...plan, omitNull: spec.omitNull });
  }
  const validator = definitionValidator(schema);
  const writer = recordWriter(mapping.schema, validator, fields);
  const mapPlainly = plainMapper(mapping.schema, validator, fields);
  const readTenant = tenantReader(tenant, placed);
  const readId = fields.get(externalIdField)!.read;
  const longestId = mapping.options.longestExternalId;
  const surelyShort = Math.min(SURELY_SHORT, longestId);
  const isDeleted = deletedRows(mapping.deletes, placed);
  const { json: deletedJson, deletion } = deletedRecords(mapping);

  function map(row: SourceRow, sourceKey: SourceKey, records = new Records()): MapResult {
    // The external id is looked for even in a row that cannot be mapped: it is what people search by.
    const id = readId(row);
    const externalId = id instanceof Rejection ? null : externalIdText(id);
    const problem = externalId === null ? undefined : externalIdProblem(externalId, longestId);
    const rowTenant = readTenant(row);
    if (rowTenant instanceof Rejection)
      return { kind: 'unmappable', tenant: null, externalId, sourceKey, ...tenantUnknown(rowTenant) };
    if (problem !== undefined)
      return {
        kind: 'unmappable',
        tenant: rowTenant,
        externalId,
        sourceKey,
        ...idUnusable(externalIdField, id, problem),
      };
    if (isDeleted?.(row) === true && externalId?.isWellFormed() === true) {
      return records.add(rowTenant, externalId, sourceKey, deletedJson(externalId), deletion);
    }
    const json = (externalId === null ? undefined : writer.inJson(row)) ?? mapPlainly(row);
    if (typeof json !== 'string') return { kind: 'unmappable', tenant: rowTenant, externalId, sourceKey, ...json };
    return records.add(rowTenant, externalId!, sourceKey, json);
  }

  const key = mapping.key.map((name) => selected.indexOf(name));
  const hasKey = ({ ends }: ByteRow): boolean => {
    for (const column of key) if (ends[column]! < 0) return false;
    return true;
  };
  const constant = tenant.kind === 'constant' ? tenant.tenant : null;
  function append(row: ByteRow, records: Records): boolean {
    const rowTenant = constant ?? readTenant(row.texts());
    if (rowTenant instanceof Rejection || isDeleted?.(row.texts()) === true) return false;
    const id = hasKey(row) ? writer.inBytes(row, records.texts) : undefined;
    if (id === undefined || !isSurelyUsable(id, records.texts)) {
      records.texts.undo();
      return false;
    }
    records.append(rowTenant, id, row, key);
    return true;
  }

  /** Bytes are no fewer than characters, and a character that JSON escapes has come past here already. */
  const isSurelyUsable = ({ from, to }: Span, { bytes, start }: RecordTexts): boolean =>
    to - from <= surelyShort && (to - from > 2 || bytes[start + from] !== DOT);

  return { columns: selected, map, append };
}

const DOT = 0x2e;

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
  // Loading refuses both already; a mapping built by hand comes past here only.
  const bad = [...mapping.fields.keys()].find((name) => FORBIDDEN_NAMES.includes(name));
  if (bad !== undefined)
    throw new PartnerSyncError('config_invalid', `${mapping.file}: a field must not be named ${bad}`);
  if (!mapping.fields.has(mapping.schema.externalIdField))
    throw new PartnerSyncError(
      'config_invalid',
      `${mapping.file}: fields.${mapping.schema.externalIdField} (the external id) is missing`,
    );
}
