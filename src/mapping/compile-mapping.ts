/** Turns a mapping into one function from row to record. This is the hot path: everything is decided here, once. */
import { hash } from 'node:crypto';
import { PartnerSyncError } from '../domain/errors.js';
import { formatFinding } from '../domain/finding.js';
import { encodeJson } from '../domain/json.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { MapResult, UnmappableRow } from '../domain/record.js';
import { referencesOf } from '../domain/references.js';
import type { SourceColumn, SourceKey, SourceRow } from '../domain/source.js';
import type { MappingSpec, TenantConfig } from '../domain/sync.js';
import { checkColumns, columnsOf } from './check-columns.js';
import { definitionValidator } from './definition-validator.js';
import { fromRejection, noExternalId, notEncodable } from './failure.js';
import type { Failure } from './failure.js';
import { planField } from './field-plan.js';
import type { ReadField } from './field-plan.js';
import { maskedShape } from './mask.js';
import type { Locate } from './place.js';
import { firstViolation } from './record-violation.js';
import { Rejection } from './rejection.js';
import { FORBIDDEN_NAMES, targetOf } from './target.js';
import { tenantReader } from './tenant-reader.js';

export interface CompiledMapping {
  /** What must be selected, in the order of the rows that {@link map} takes. */
  readonly columns: readonly string[];
  readonly map: (row: SourceRow, sourceKey: SourceKey) => MapResult;
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
  const schemas = new Map(referencesOf(schema).map((reference) => [reference.field, reference.schemaName]));

  const names = [...mapping.fields.keys()];
  const reads: ReadField[] = [];
  const omits: boolean[] = [];
  for (const [name, spec] of mapping.fields) {
    const plan = planField(spec, targetOf(schema, name), schemas.get(name) ?? null, placed);
    if ('problems' in plan) throw new Error('checkColumns let a field pass that has no plan');
    reads.push(plan.read);
    omits.push(spec.omitNull);
  }
  const validate = definitionValidator(schema);
  const readTenant = tenantReader(tenant, placed);
  const readExternalId = reads[names.indexOf(externalIdField)]!;

  function map(row: SourceRow, sourceKey: SourceKey): MapResult {
    const rowTenant = readTenant(row);
    if (rowTenant instanceof Rejection)
      return unmappable(row, sourceKey, null, fromRejection('tenant_unknown', '', rowTenant));

    const data: Record<string, JsonValue> = {};
    let nulls = false;
    for (let i = 0; i < reads.length; i++) {
      const value = reads[i]!(row);
      if (value === null) {
        if (omits[i]) continue;
        nulls = true;
      } else if (value instanceof Rejection)
        return unmappable(row, sourceKey, rowTenant, fromRejection('mapping_failed', `/${names[i]}`, value));
      data[names[i]!] = value;
    }

    const externalId = externalIdText(data[externalIdField]);
    if (externalId === null) return unmappable(row, sourceKey, rowTenant, noExternalId(externalIdField));
    if (!validate(nulls ? withoutNulls(data) : data)) return unmappable(row, sourceKey, rowTenant, invalid(data));
    let json: string;
    try {
      json = encodeJson(data);
    } catch {
      return unmappable(row, sourceKey, rowTenant, notEncodable(data));
    }
    const contentHash = hash('sha256', json, 'hex').slice(0, 32);
    return { kind: 'record', tenant: rowTenant, externalId, sourceKey, data, json, contentHash };
  }

  function invalid(data: JsonObject): Failure {
    const violation = firstViolation(validate.errors ?? [], schema, names, (field) => data[field] === null);
    const { pointer, rule, reason, field } = violation;
    return { code: 'record_invalid', pointer, rule, reason, shape: maskedShape(data[field]) };
  }

  /** The external id is looked for even in a row that failed earlier: it is what people search by. */
  function unmappable(row: SourceRow, sourceKey: SourceKey, rowTenant: string | null, failure: Failure): UnmappableRow {
    const id = readExternalId(row);
    const externalId = id instanceof Rejection ? null : externalIdText(id);
    return { kind: 'unmappable', tenant: rowTenant, externalId, sourceKey, ...failure };
  }

  return { columns: selected, map };
}

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

const externalIdText = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null;

function withoutNulls(data: JsonObject): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const name of Object.keys(data)) if (data[name] !== null) kept[name] = data[name]!;
  return kept;
}
