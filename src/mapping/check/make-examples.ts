/** Makes examples from real rows, masked: each value keeps its form and loses its content. */
import { isSeq, parseDocument } from 'yaml';
import { PartnerSyncError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import type { MapResult } from '../../domain/records/record.js';
import type { SourceColumn, SourceType } from '../../domain/source/source.js';
import type { MappingSpec, TenantConfig } from '../../domain/sync/sync.js';
import { columnsOf } from '../compile/read-plan.js';
import { compileMapping } from '../compile/compile-mapping.js';
import { mapRow, type Example, type ExampleRow } from './run-examples.js';
import { asObject, propertiesOf } from '../definition/target.js';

const HEAD = '# yaml-language-server: $schema=../examples.schema.json\n';
/**
 * The text of an examples file: `existing` (empty for a new one) with its comments and examples, and a new example for
 * each of `rows`. `described` are the columns of the source. Throws `config_invalid` if `existing` is not valid YAML.
 *
 * The expected record is what the mapping makes of the masked row, so a value that only works unmasked, such as a phone
 * number, becomes an example of a rejection, which a person is asked to review.
 */
export function makeExamples(
  existing: string,
  mapping: MappingSpec,
  tenant: TenantConfig,
  described: readonly SourceColumn[],
  rows: readonly ExampleRow[],
): string {
  const names = columnsOf(mapping, tenant);
  const columns = described.filter(({ name }) => names.includes(name));
  const isDeclared = declaredValues(mapping, tenant);
  const compiled = compileMapping(mapping, tenant, described);
  const examples = rows.map((row): Example => {
    const masked: ExampleRow = Object.fromEntries(
      columns.map(({ name, type }) => {
        const value = row[name] ?? null;
        return [name, value === null || isDeclared(name, value) ? value : maskedValue(value, type)];
      }),
    );
    return exampleOf(masked, mapRow(compiled, masked));
  });
  const document = parseDocument(existing === '' ? HEAD : existing);
  const [error] = document.errors;
  if (error !== undefined)
    throw new PartnerSyncError('config_invalid', `the examples of ${mapping.name} cannot be read: ${error.message}`);
  document.set('columns', document.createNode(Object.fromEntries(columns.map(({ name, type }) => [name, type]))));
  const list = document.get('examples');
  if (isSeq(list)) for (const example of examples) list.add(document.createNode(example));
  else document.set('examples', document.createNode(examples));
  return document.toString({ lineWidth: 0 });
}

const exampleOf = (row: ExampleRow, result: MapResult): Example =>
  result.kind === 'record'
    ? { row, tenant: result.tenant, record: result.data }
    : { row, rejected: { pointer: result.pointer, rule: result.rule } };

/**
 * Whether a value of a column occurs in the files of the sync: as a tenant's value, an option of a transform, or an
 * enum of the schema definition. Such values are not personal data, and masked they would lose their meaning.
 */
function declaredValues(
  { fields, schema }: MappingSpec,
  tenant: TenantConfig,
): (column: string, value: string) => boolean {
  const declared = new Map<string, Set<string>>();
  const declare = (column: string, values: readonly string[]): void => {
    declared.set(column, new Set([...(declared.get(column) ?? []), ...values]));
  };
  if (tenant.kind === 'column') declare(tenant.column, [...tenant.values.keys()]);
  for (const [name, field] of fields) {
    if (field.kind !== 'column') continue;
    const words = asObject(propertiesOf(schema.schema)[name])?.['enum'];
    declare(
      field.column,
      [words ?? [], ...field.transforms.map(({ options }) => Object.values(options))].flatMap(textsIn),
    );
  }
  return (column, value) => declared.get(column)?.has(value) === true;
}

/** All texts in options such as `{ map: { A: active } }`, keys included; numbers and booleans as text. */
function textsIn(value: JsonValue): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  const inner = Object.values(value as JsonObject).flatMap(textsIn);
  return Array.isArray(value) ? inner : [...Object.keys(value), ...inner];
}

/**
 * Replaces letters by x or X and digits by 1. A date keeps its year, so that it stays valid, and an instant keeps its
 * zone. The result is empty for a type that has no conversion.
 */
export function maskedValue(value: string, type: SourceType): string {
  switch (type) {
    case 'boolean':
      return value;
    case 'date':
      // Its day would be taken for a zone.
      return value.replace(/^\d{4}-|(\d)/g, (kept, digit?: string) => (digit ? '1' : kept));
    case 'timestamp':
    case 'timestamptz':
    case 'time':
      return value.replace(/^\d{4}-|(?:[+-]\d\d(?::?\d\d)?|Z)$|(\d)/g, (kept, digit?: string) => (digit ? '1' : kept));
    case 'uuid':
      return value.replace(/[0-9a-f]/gi, '1');
    case 'json':
      return maskedJson(value);
    case 'bytes':
      return value.startsWith('\\x') ? `\\x${'1'.repeat(value.length - 2)}` : maskedText(value);
    case 'other':
      return '';
    case 'text':
    case 'integer':
    case 'decimal':
    case 'float':
      return maskedText(value);
  }
}

const maskedText = (text: string): string =>
  text
    .replace(/\p{Lu}/gu, 'X')
    .replace(/[\p{L}\p{M}]/gu, (letter) => (letter === 'X' ? 'X' : 'x'))
    .replace(/\p{N}/gu, '1');

/** Masks texts and numbers inside JSON, including keys, which may be data; true, false and null stay. */
const maskedJson = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? JSON.stringify(maskedText(JSON.parse(token) as string)) : '1',
  );
