/** A small valid sync in its own folder for one test, which overwrites some of its files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { compileMapping, type CompiledMapping } from '../../src/mapping/compile/compile-mapping.js';
import { formatFinding } from '../../src/domain/sync/finding.js';
import type { JsonObject } from '../../src/domain/values/json.js';
import type { SourceColumn, SourceType } from '../../src/domain/source/source.js';
import { checkSyncFiles, type CheckedSync } from '../../src/mapping/load-sync.js';

export const ENV = { SHOP_URL: 'postgres://reader:hunter2@db.example.org/shop' };

export const FILES: Readonly<Record<string, string>> = {
  'sync.yaml': 'source:\n  client: pg\n  connection: ${env:SHOP_URL}\ntenant: tenant-a\n',
  'people.mapping.yaml':
    'schema: person\nsource: { table: people }\nkey: [id]\nfields:\n  personId: id\n  name: name\n',
  'person.schema.json': definition('person', { personId: { type: 'string' }, name: { type: 'string' } }, ['personId']),
};

export function definition(name: string, properties: JsonObject, required: string[] = []): string {
  const schema = { type: 'object', properties, required };
  return JSON.stringify(
    { name, category: 'custom_schema', externalIdField: Object.keys(properties)[0], schema },
    null,
    2,
  );
}

/** Writes {@link FILES} and `files` over them (null removes one) as the sync `shop`; returns the mappings folder. */
export function syncFolder(files: Readonly<Record<string, string | Buffer | null>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'mapping-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'shop'));
  for (const [name, text] of Object.entries({ ...FILES, ...files }))
    if (text !== null) writeFileSync(join(folder, 'shop', name), text);
  return folder;
}

export const lint = (
  files: Readonly<Record<string, string | Buffer | null>> = {},
  env: Record<string, string> = ENV,
): Promise<CheckedSync> => checkSyncFiles(syncFolder(files), 'shop', env);

/** Findings as people see them, without the folder. */
export async function findingsOf(
  files: Readonly<Record<string, string | Buffer | null>>,
  env?: Record<string, string>,
): Promise<string[]> {
  return (await lint(files, env)).findings.map((finding) => formatFinding(finding).replace(/^shop\//, ''));
}

export const columns = (types: Readonly<Record<string, SourceType>>): SourceColumn[] =>
  Object.entries(types).map(([name, type]) => ({ name, type, databaseType: type }));

/** Compiles `fields` against a schema of `properties`; `id` is the external id. Rows are given by column name. */
export async function mapper(
  fields: string,
  properties: JsonObject,
  types: Readonly<Record<string, SourceType>>,
  required: string[] = [],
): Promise<{
  compiled: CompiledMapping;
  map: (row: Record<string, string | null>) => ReturnType<CompiledMapping['map']>;
}> {
  const { sync, findings } = await lint({
    'people.mapping.yaml': `schema: person\nsource: { table: people }\nkey: [id]\nfields:\n  id: id\n${fields}`,
    'person.schema.json': definition('person', { id: { type: 'string' }, ...properties }, required),
  });
  if (sync === null) throw new Error(findings.map(formatFinding).join('\n'));
  const compiled = compileMapping(sync.mappings[0]!, sync.tenant, columns({ id: 'integer', ...types }));
  const map = (row: Record<string, string | null>) =>
    compiled.map(compiled.columns.map((name) => (name === 'id' ? (row['id'] ?? '7') : (row[name] ?? null))));
  return { compiled, map };
}
