/** Loads a sync from its folder, or reports everything that is wrong in any of its files. */
import { ON_ANOTHER_WORKER } from '../domain/run/another-worker.js';
import { PartnerSyncError } from '../domain/errors.js';
import { formatFinding, type Finding } from '../domain/sync/finding.js';
import type { JsonValue } from '../domain/values/json.js';
import { nearest } from '../domain/values/names.js';
import type { FeedConfig } from '../domain/source/change-feed.js';
import type { NamedFile, ParsedFile, SyncFiles, TransformFileVersion } from '../domain/sync/sync-files.js';
import type { SchemaDefinitionFile, SyncSpec } from '../domain/sync/sync.js';
import { checkChanges, checkConnections, checkLiveMode } from './check/check-changes.js';
import { checkDeletes, checkMirror } from './check/check-deletes.js';
import { checkSharedSchemas } from './check/check-shared-schemas.js';
import { checkFields } from './check/check-fields.js';
import { checkReferences, type CheckedMapping } from './check/check-references.js';
import type { Environment } from './language/interpolation.js';
import { LanguageFile } from './language/language-file.js';
import type { LanguageFileKind } from './language/language-schema.js';
import type { Locate } from './language/place.js';
import { readDefinition } from './language/read-definition.js';
import { readMapping, type TransformFiles } from './language/read-mapping.js';
import { readSync } from './language/read-sync.js';
import { readTransform, transformOf, type TransformFile } from './language/read-transform.js';
import { codesOf, knownCode } from './transforms/custom/loaded-transforms.js';
import { readSyncFolder } from './sync-folder.js';
import { syncVersion, type VersionedSettings } from './sync-version.js';
import { didYouMean } from './language/violation-message.js';

export { listSyncs } from './sync-folder.js';

/** A sync that is valid, with the files that it was made of. */
export interface LoadedSync {
  readonly spec: SyncSpec;
  readonly files: SyncFiles;
}

/** What linting a sync found. */
export interface CheckedSync {
  /** Errors and warnings, by file and then by line. */
  readonly findings: readonly Finding[];
  /** null if any finding is an error. */
  readonly sync: SyncSpec | null;
  /** What it was made of; null if any finding is an error. */
  readonly files: SyncFiles | null;
  /** Gives the places of findings that are made later, such as those of `checkColumns`. */
  readonly locate: Locate;
}

/**
 * The sync, and the files as they are written, from which {@link loadKeptSync} makes the very same sync again. Throws
 * `config_invalid` with all errors, one a line. If nothing but files or environment variables are missing, the error's
 * details say that another worker may have them.
 */
export async function loadSync(folder: string, syncName: string, env: Environment): Promise<LoadedSync> {
  return valid(await checkSyncFiles(folder, syncName, env));
}

/**
 * The sync of files that were kept, whatever is on disk by now. Throws `config_invalid` if this worker lacks one of their
 * variables, or the code of one of their transforms, with details that say that another worker may have it.
 */
export async function loadKeptSync(
  syncName: string,
  { sync, mappings, definitions, transforms = [] }: SyncFiles,
  env: Environment,
  folder: () => Promise<string>,
): Promise<SyncSpec> {
  const all = (files: readonly NamedFile[], kind: LanguageFileKind): NamedLanguageFile[] =>
    files.map((file) => [file.name, LanguageFile.of(file, kind, env)]);
  const files = {
    sync: LanguageFile.of(sync, 'sync', env),
    definitions: all(definitions, 'schema-definition'),
    mappings: all(mappings, 'mapping'),
    transforms: await Promise.all(transforms.map((kept) => keptTransform(kept, folder))),
  };
  return valid(checkFileContents(syncName, files, [])).spec;
}

/** The transform with the code that was kept, from this process or its folder; other code would send other records. */
async function keptTransform(
  { name, file, hash }: TransformFileVersion,
  folder: () => Promise<string>,
): Promise<NamedTransform> {
  const known = knownCode(name, hash);
  const found = known === undefined ? await readTransform(await folder(), name, file) : await transformOf(known);
  if (found.loaded?.code.hash === hash) return [name, found];
  const message = `${file}: the run began with other code of this transform than this worker has (version ${hash} there, ${found.loaded?.code.hash ?? 'none'} here); put that code back until the run has ended, or cancel the run and start another`;
  throw new PartnerSyncError('config_invalid', message, ON_ANOTHER_WORKER);
}

function valid({ sync, files, findings }: CheckedSync): LoadedSync {
  if (sync !== null) return { spec: sync, files: files! };
  const errors = findings.filter((finding) => finding.severity === 'error');
  throw new PartnerSyncError('config_invalid', errors.map(formatFinding).join('\n'), {
    findings: errors.length,
    ...(errors.every(({ kind }) => LACKING.includes(kind)) && ON_ANOTHER_WORKER),
  });
}

/** Findings about files and variables that this machine lacks, and not about what the files contain. */
const LACKING = ['sync_missing', 'file_missing', 'env_missing'];

/** sync.yaml of this folder as it is written, valid or not; undefined if there is none that can be parsed. */
export async function parsedSyncFile(folder: string, syncName: string): Promise<JsonValue | undefined> {
  const { sync } = await readSyncFolder(folder, syncName);
  return sync === null ? undefined : (await LanguageFile.read(folder, sync, 'sync', {})).parsed;
}

type NamedTransform = [name: string, file: TransformFile];
type NamedLanguageFile = [name: string, file: LanguageFile];

/** The files of a sync, read but not yet compared with each other. */
interface LanguageFiles {
  /** null if there is none. */
  readonly sync: LanguageFile | null;
  readonly mappings: readonly NamedLanguageFile[];
  readonly definitions: readonly NamedLanguageFile[];
  readonly transforms: readonly NamedTransform[];
}

/**
 * All findings of all files. Never throws for what they contain, and reads nothing but the folder of the sync: the
 * source is compared by checkLive in src/inspection.
 */
export async function checkSyncFiles(mappingsFolder: string, syncName: string, env: Environment): Promise<CheckedSync> {
  const folder = await readSyncFolder(mappingsFolder, syncName);
  const read = (file: string, kind: LanguageFileKind): Promise<LanguageFile> =>
    LanguageFile.read(mappingsFolder, file, kind, env);
  const readAll = (files: ReadonlyMap<string, string>, kind: LanguageFileKind): Promise<NamedLanguageFile[]> =>
    Promise.all([...files].map(async ([name, file]): Promise<NamedLanguageFile> => [name, await read(file, kind)]));
  const files = {
    sync: folder.sync === null ? null : await read(folder.sync, 'sync'),
    definitions: await readAll(folder.definitions, 'schema-definition'),
    mappings: await readAll(folder.mappings, 'mapping'),
    transforms: await Promise.all(
      [...folder.transforms].map(async ([name, file]): Promise<NamedTransform> => [
        name,
        await readTransform(mappingsFolder, name, file),
      ]),
    ),
  };
  return checkFileContents(syncName, files, folder.findings);
}

function checkFileContents(
  syncName: string,
  { sync: syncFile, definitions: definitionFiles, mappings: mappingFiles, transforms: transformFiles }: LanguageFiles,
  found: readonly Finding[],
): CheckedSync {
  const head = syncFile?.value === undefined ? null : readSync(syncFile);
  const definitions = new Map<string, SchemaDefinitionFile | null>(
    definitionFiles.map(([name, file]) => [name, checkedDefinition(name, file)]),
  );
  const mappings = mappingFiles.flatMap(([name, file]) =>
    checkedMapping(name, file, definitions, new Map(transformFiles), head?.feed ?? null),
  );
  for (const { spec, file } of mappings) {
    checkFields(spec, file);
    checkDeletes(spec, file);
    checkChanges(spec, file);
    if (head !== null) checkConnections(spec, file, head.source.poolMax);
  }
  checkReferences(
    mappings,
    mappingFiles.map(([name]) => name),
  );
  checkSharedSchemas(mappings);
  reportUnused(definitionFiles, mappingFiles);
  if (syncFile !== null && head !== null) {
    checkMirror(head, syncFile, mappings);
    checkLiveMode(head, syncFile, mappings);
  }

  const files = [
    ...(syncFile === null ? [] : [syncFile]),
    ...[...mappingFiles, ...definitionFiles].map(([, file]) => file),
  ];
  const byName = new Map(files.map((file) => [file.file, file]));
  const findings = [
    ...found,
    ...files.flatMap((file) => inOrder(file.findings)),
    ...transformFiles.flatMap(([, file]) => file.findings),
    ...unusedTransforms(transformFiles, mappingFiles, mappings),
  ];
  const failed = head === null || findings.some((finding) => finding.severity === 'error');
  const contents = new Map([
    ...[...mappingFiles, ...definitionFiles].map(([, file]) => [file.file, file.value ?? null] as [string, JsonValue]),
    ...versionsOf(transformFiles).map(({ file, hash }) => [file, hash] as [string, JsonValue]),
  ]);
  return {
    findings,
    sync: failed
      ? null
      : {
          name: syncName,
          ...head,
          mappings: mappings.map(({ spec }) => ({
            ...spec,
            options: { ...spec.options, longestExternalId: head.upload.longestExternalId },
          })),
          version: syncVersion(syncFile!.value as unknown as VersionedSettings, contents),
        },
    files: failed ? null : parsedFiles(syncFile!, mappingFiles, definitionFiles, versionsOf(transformFiles)),
    locate: (file, path) => byName.get(file)?.place(path) ?? { line: 0, column: 0 },
  };
}

function parsedFiles(
  sync: LanguageFile,
  mappings: readonly NamedLanguageFile[],
  definitions: readonly NamedLanguageFile[],
  transforms: readonly TransformFileVersion[],
): SyncFiles {
  const parsed = ({ file, parsed: value }: LanguageFile): ParsedFile => ({ file, value: value ?? null });
  const named = ([name, file]: NamedLanguageFile): NamedFile => ({ name, ...parsed(file) });
  return {
    sync: parsed(sync),
    mappings: mappings.map(named),
    definitions: definitions.map(named),
    ...(transforms.length > 0 && { transforms }),
  };
}

const versionsOf = (transforms: readonly NamedTransform[]): TransformFileVersion[] =>
  transforms.flatMap(([name, { file, loaded }]) => (loaded === null ? [] : [{ name, file, hash: loaded.code.hash }]));

/** null if too little of the file is valid to check mappings against it. */
function checkedDefinition(name: string, file: LanguageFile): SchemaDefinitionFile | null {
  const value = file.partial?.value;
  const usable = value !== undefined && ['name', 'externalIdField', 'schema'].every((key) => value[key] !== undefined);
  return usable ? readDefinition(name, file, value) : null;
}

/** The mapping with its file, as far as it can be checked; empty if its schema definition is unknown or unusable. */
function checkedMapping(
  name: string,
  file: LanguageFile,
  definitions: ReadonlyMap<string, SchemaDefinitionFile | null>,
  transforms: TransformFiles,
  feed: FeedConfig | null,
): CheckedMapping[] {
  if (file.partial?.value['schema'] === undefined) return [];
  const { schemaName, ...draft } = readMapping(name, file, file.partial.value, transforms, feed);
  const schema = definitions.get(schemaName);
  if (schema === undefined) {
    const { text, secret } = file.show(['schema'], schemaName);
    const near = secret ? undefined : nearest(schemaName, [...definitions.keys()]);
    const known = [...definitions.keys()].join(', ') || 'none';
    const message = `there is no schema definition ${text} here.${didYouMean(near)} Schemas: ${known}; a new one is a file <name>.schema.json`;
    file.report('schema_missing', ['schema'], message);
  }
  return schema === undefined || schema === null ? [] : [{ spec: { ...draft, schema }, file }];
}

/** A warning for each custom transform that no mapping calls: its code is part of the version for nothing. */
function unusedTransforms(
  transforms: readonly NamedTransform[],
  mappingFiles: readonly NamedLanguageFile[],
  mappings: readonly CheckedMapping[],
): Finding[] {
  // A mapping with a mistake may be the one that means to call it.
  if (mappingFiles.some(([, file]) => file.value === undefined || file.findings.length > 0)) return [];
  const used = new Set(
    mappings.flatMap(({ spec }) => [...spec.fields.values()].flatMap(codesOf)).map(({ name }) => name),
  );
  return transforms
    .filter(([name]) => !used.has(name))
    .map(([, { file }]) => ({
      ...NOWHERE,
      file,
      kind: 'unused_transform',
      message: 'no mapping calls this transform',
    }));
}

const NOWHERE = { severity: 'warning', line: 0, column: 0, path: '' } as const;

/** A warning for each schema definition that no mapping uses: it would be pushed for nothing. */
function reportUnused(
  definitionFiles: readonly (readonly [string, LanguageFile])[],
  mappingFiles: readonly (readonly [string, LanguageFile])[],
): void {
  // A mapping that cannot be read may be the one that uses it.
  if (mappingFiles.some(([, file]) => file.value === undefined)) return;
  const used = new Set(mappingFiles.map(([, file]) => (file.value as { schema: string }).schema));
  for (const [name, file] of definitionFiles)
    if (!used.has(name)) file.report('unused_schema', [], 'no mapping uses this schema definition', 'value', 'warning');
}

const inOrder = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => a.line - b.line || a.column - b.column);
