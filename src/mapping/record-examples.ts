/** New examples from real rows, masked: the shape of each value stays, nobody's data does. */
import { isSeq, parseDocument } from 'yaml';
import { PartnerSyncError } from '../domain/errors.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { MapResult } from '../domain/record.js';
import type { SourceColumn, SourceType } from '../domain/source.js';
import type { MappingSpec, TenantConfig } from '../domain/sync.js';
import { columnsOf } from './check-columns.js';
import { compileMapping } from './compile-mapping.js';
import { mapRow } from './examples.js';
import type { Example, ExampleRow } from './examples.js';
import { asObject, propertiesOf } from './target.js';

const HEAD = '# yaml-language-server: $schema=../examples.schema.json\n';
/**
 * The text of the file with an example for each row added to `existing` (empty where there is none yet), comments
 * and all. `rows` hold the values of `described`, in its order.
 */
export function recordExamples(
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
 * Values that stand in the sync's own files, by column: codes of the source and words of the platform. They are
 * nobody's data, and masked they would mean nothing.
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

/** Every text in options such as `{ map: { A: active } }`, keys too; numbers and booleans as their text. */
function textsIn(value: JsonValue): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  const inner = Object.values(value as JsonObject).flatMap(textsIn);
  return Array.isArray(value) ? inner : [...Object.keys(value), ...inner];
}

/** Letters become x and digits 1; a date keeps its year, so that it stays one, and an instant its zone. */
export function maskedValue(value: string, type: SourceType): string {
  switch (type) {
    case 'boolean':
      return value;
    case 'date':
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

/** Texts and numbers inside are masked, keys too: they may be data. true, false and null stay. */
const maskedJson = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? JSON.stringify(maskedText(JSON.parse(token) as string)) : '1',
  );
