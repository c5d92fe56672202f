/**
 * Runs the examples of a mapping without a database: their file declares the columns, the rows and the expected
 * records.
 */
import { sameJson } from '../../domain/records/compare.js';
import type { Finding } from '../../domain/sync/finding.js';
import type { JsonObject } from '../../domain/values/json.js';
import type { MapResult } from '../../domain/records/record.js';
import type { SourceType } from '../../domain/source/source.js';
import type { MappingSpec, TenantConfig } from '../../domain/sync/sync.js';
import { checkColumns } from '../compile/check-columns.js';
import { compileMapping, type CompiledMapping } from '../compile/compile-mapping.js';
import { LanguageFile } from '../language/language-file.js';
import { watchingPurity } from '../transforms/custom/pure-call.js';

/** A row by column names; values as the database writes them, null for SQL NULL. */
export type ExampleRow = Readonly<Record<string, string | null>>;

/** A row with the record that it gives, or with the rule that it breaks. */
export type Example = { readonly title?: string; readonly row: ExampleRow } & (
  | { readonly tenant?: string; readonly record: JsonObject }
  | { readonly rejected: { readonly pointer: string; readonly rule: string } }
);

/** The content of `<mapping>.examples.yaml`, valid under `examples.schema.json`. */
export interface ExamplesFile {
  readonly columns: Readonly<Record<string, SourceType>>;
  readonly examples: readonly Example[];
}

/** The result of running the examples of one file. */
export interface ExamplesResult {
  readonly passed: number;
  /** Examples that failed, and what is wrong with the file; each with its place. */
  readonly findings: readonly Finding[];
}

/** The columns that the examples in `file` (relative to the mappings folder) declare, or what is wrong with the file. */
export async function exampleColumns(
  folder: string,
  file: string,
): Promise<Pick<ExamplesFile, 'columns'> | { readonly findings: readonly Finding[] }> {
  const { value, findings } = await LanguageFile.read(folder, file, 'examples', {});
  return value === undefined ? { findings } : (value as unknown as ExamplesFile);
}

/**
 * Runs the examples of `file` (relative to the mappings folder). Never throws for what the file contains. If it is not
 * valid, or its columns do not fit the mapping, no example is run and the findings say why.
 */
export async function runExamples(
  folder: string,
  file: string,
  mapping: MappingSpec,
  tenant: TenantConfig,
): Promise<ExamplesResult> {
  // Without the environment: examples are data that belongs to everyone who has the files, so none may depend on a
  // variable.
  const language = await LanguageFile.read(folder, file, 'examples', {});
  if (language.value === undefined) return { passed: 0, findings: language.findings };
  const { columns, examples } = language.value as unknown as ExamplesFile;
  const described = Object.entries(columns).map(([name, type]) => ({ name, type, databaseType: type }));
  const unfit = checkColumns(mapping, tenant, described);
  for (const { message } of unfit) language.report('columns', ['columns'], message, 'key');
  if (unfit.length > 0) return { passed: 0, findings: language.findings };
  const compiled = compileMapping(mapping, tenantsOf(examples, tenant), described);
  let passed = 0;
  for (const [index, example] of examples.entries()) {
    const unknown = Object.keys(example.row).find((name) => !Object.hasOwn(columns, name));
    const problem =
      unknown === undefined
        ? differenceFrom(example, mapRow(compiled, example.row))
        : `the row has a column "${unknown}" that is not listed under columns:`;
    if (problem === null) passed++;
    else language.report('example_failed', ['examples', index], titled(example, problem));
  }
  return { passed, findings: language.findings };
}

/** A list of tenants in the source cannot be read here, so the examples declare the tenant of each value. */
function tenantsOf(examples: readonly Example[], tenant: TenantConfig): TenantConfig {
  if (tenant.kind !== 'table') return tenant;
  const { column } = tenant;
  const values = new Map<string, string>();
  for (const example of examples) {
    const value = example.row[column];
    if (typeof value === 'string' && 'record' in example) values.set(value, example.tenant ?? value);
  }
  return { kind: 'column', column, values };
}

/** Maps a row given by column names; a column that it does not name is NULL. Custom transforms must prove to be pure. */
export const mapRow = ({ columns, map }: CompiledMapping, row: ExampleRow): MapResult =>
  watchingPurity(() => map(columns.map((name) => (Object.hasOwn(row, name) ? row[name]! : null))));

const titled = ({ title }: Example, problem: string): string =>
  title === undefined ? problem : `${title}: ${problem}`;

/**
 * How the result differs from the example, in words; null if it does not. Values may be quoted here, unlike anywhere
 * else: they are from the examples file, not from the source.
 */
function differenceFrom(example: Example, result: MapResult): string | null {
  if ('rejected' in example) {
    const { pointer, rule } = example.rejected;
    if (result.kind === 'record') return `expected a rejection (${rule}), got the record ${result.json}`;
    if (result.pointer === pointer && result.rule === rule) return null;
    return `expected ${pointer || '(the row)'} to break "${rule}", got ${result.pointer || '(the row)'}: "${result.rule}"`;
  }
  if (result.kind === 'failed')
    return `expected a record, got a rejection: ${result.pointer} ${result.reason} (${result.rule})`;
  if (example.tenant !== undefined && example.tenant !== result.tenant)
    return `expected the tenant ${example.tenant}, got ${result.tenant}`;
  const { data } = result;
  const names = [...new Set([...Object.keys(example.record), ...Object.keys(data)])];
  const told = names
    .filter((name) => !same(example.record, data, name))
    .map((name) => `/${name}: expected ${shown(example.record, name)}, got ${shown(data, name)}`);
  return told.length === 0 ? null : told.join('; ');
}

const shown = (object: JsonObject, name: string): string =>
  Object.hasOwn(object, name) ? JSON.stringify(object[name]) : 'no such field';

const same = (a: JsonObject, b: JsonObject, name: string): boolean =>
  Object.hasOwn(a, name) && Object.hasOwn(b, name) && sameJson(a[name]!, b[name]!);
