/** Opens the files of a sync for unit tests of its mappings: without a database, a ledger or Temporal. */
import { basename, dirname, resolve } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import { formatFinding } from '../domain/sync/finding.js';
import type { JsonValue } from '../domain/values/json.js';
import { getOrInsert } from '../domain/values/get-or-insert.js';
import { nearest } from '../domain/values/names.js';
import type { SourceType } from '../domain/source/source.js';
import type { MappingSpec, SyncSpec, TenantRule } from '../domain/sync/sync.js';
import { compileMapping, type CompiledMapping } from '../mapping/compile/compile-mapping.js';
import type { Environment } from '../mapping/language/interpolation.js';
import { didYouMean } from '../mapping/language/violation-message.js';
import { exampleColumns } from '../mapping/check/run-examples.js';
import { loadSync, parsedSyncFile } from '../mapping/load-sync.js';
import { readSyncFolder } from '../mapping/sync-folder.js';

/** The columns of a mapping's table or query by name, with the kind of each; docs/types.md lists the kinds. */
export type TestColumns = Readonly<Record<string, SourceType>>;

/** Settings of {@link openSync}. */
export interface OpenSyncOptions {
  /**
   * Values of the variables that the files name; by default `process.env`. The connection is not used, so its variables may be
   * missing.
   */
  readonly env?: Environment;
  /** Columns of mappings by name; by default those in the examples beside a mapping. */
  readonly columns?: Readonly<Record<string, TestColumns>>;
  /** If the tenants are listed in a table of the source: the tenant of each value. */
  readonly tenants?: Readonly<Record<string, string>>;
}

/** A sync whose files are valid. */
export interface TestSync {
  readonly name: string;
  /** The hash of everything that decides what is sent. */
  readonly version: string;
  /** The names of its mappings. */
  readonly mappings: readonly string[];
}

/** A mapping of a {@link TestSync}. */
interface TestMapping {
  readonly columns: TestColumns;
  readonly compiled: CompiledMapping;
}

/** Of each sync, what compiles a mapping on first use. */
const compiling = new WeakMap<TestSync, (mapping: string) => TestMapping>();

/** A mapping of the sync. Throws `input_invalid` if there is none with this name. */
export const testMapping = (sync: TestSync, mapping: string): TestMapping => compiling.get(sync)!(mapping);

/**
 * Loads the sync in a folder such as `mappings/shop`, with everything that `partner-sync check --offline` checks.
 *
 * @throws PartnerSyncError `config_invalid` with all findings, one a line.
 */
export async function openSync(folder: string, options: OpenSyncOptions = {}): Promise<TestSync> {
  const { env = process.env, columns = {}, tenants } = options;
  const path = resolve(folder);
  const [mappingsFolder, name] = [dirname(path), basename(path)];
  const unused = unusedVariables(await parsedSyncFile(mappingsFolder, name));
  const { spec } = await loadSync(mappingsFolder, name, { ...unused, ...env });
  const { examples } = await readSyncFolder(mappingsFolder, name);
  const ofExamples = new Map<string, TestColumns | string>();
  for (const [mapping, file] of examples) {
    const found = await exampleColumns(mappingsFolder, file);
    ofExamples.set(mapping, 'columns' in found ? found.columns : found.findings.map(formatFinding).join('\n'));
  }
  const compiled = new Map<string, TestMapping>();
  const compile = (mappingName: string): TestMapping => {
    const mapping = spec.mappings.find((each) => each.name === mappingName);
    if (mapping === undefined) throw noMapping(spec, mappingName);
    const kinds = columnsFor(mapping, columns[mappingName] ?? ofExamples.get(mappingName));
    const described = Object.entries(kinds).map(([column, type]) => ({ name: column, type, databaseType: type }));
    return { columns: kinds, compiled: compileMapping(mapping, tenantRule(spec, tenants), described) };
  };
  const sync = { name, version: spec.version, mappings: spec.mappings.map((mapping) => mapping.name) };
  compiling.set(sync, (mapping) => getOrInsert(compiled, mapping, () => compile(mapping)));
  return sync;
}

function noMapping({ name, mappings }: SyncSpec, wanted: string): PartnerSyncError {
  const names = mappings.map((mapping) => mapping.name);
  const message = `${name} has no mapping "${wanted}".${didYouMean(nearest(wanted, names))} Mappings: ${names.join(', ')}`;
  return new PartnerSyncError('input_invalid', message);
}

function columnsFor({ name }: MappingSpec, found: TestColumns | string | undefined): TestColumns {
  if (typeof found === 'string') throw new PartnerSyncError('config_invalid', found);
  if (found !== undefined) return found;
  throw new PartnerSyncError(
    'config_invalid',
    `nothing says which columns the mapping ${name} reads: add ${name}.examples.yaml, or openSync(folder, { columns: { ${name}: { id: 'integer', ... } } })`,
  );
}

function tenantRule({ tenant }: SyncSpec, tenants: OpenSyncOptions['tenants']): TenantRule {
  if (tenant.kind !== 'table') return tenant;
  if (tenants !== undefined) return { kind: 'column', column: tenant.column, values: new Map(Object.entries(tenants)) };
  const message = `the tenants are listed in a table of the source: openSync(folder, { tenants: { 'value of ${tenant.column}': 'tenant' } })`;
  throw new PartnerSyncError('config_invalid', message);
}

/** Stands for the variables of the connection, to which nothing connects here. */
function unusedVariables(syncFile: JsonValue | undefined): Environment {
  const connection = (syncFile as { source?: { connection?: unknown } } | undefined)?.source?.connection;
  if (typeof connection !== 'string') return {};
  const names = [...connection.matchAll(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name!);
  const isWhole = connection === `\${env:${names[0]}}`;
  return Object.fromEntries(names.map((name) => [name, isWhole ? 'postgres://127.0.0.1/unused' : 'unused']));
}
