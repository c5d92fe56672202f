/** Sorts the files of a sync's folder by kind, and reports those that are misnamed, duplicate or missing. */
import { readdir, realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Finding, FindingKind } from '../domain/sync/finding.js';
import { isSyncName, SYNC_NAME_PATTERN } from '../domain/values/names.js';

/** The files of a sync. All paths are relative to the mappings folder. */
export interface SyncFolder {
  /** sync.yaml; null if there is none. */
  readonly sync: string | null;
  /** Mapping name to file, in order of name. */
  readonly mappings: ReadonlyMap<string, string>;
  /** Schema name to file, in order of name. */
  readonly definitions: ReadonlyMap<string, string>;
  /** Name to file of each custom transform, in order of name. */
  readonly transforms: ReadonlyMap<string, string>;
  /** Mapping name to the file of its examples, in order of name. They are not part of what is loaded for a run. */
  readonly examples: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

const KINDS = [
  { kind: 'sync', pattern: /^(sync)\.(?:yaml|yml|json)$/ },
  { kind: 'mapping', pattern: /^(.+)\.mapping\.(?:yaml|yml|json)$/ },
  { kind: 'examples', pattern: /^(.+)\.examples\.(?:yaml|yml|json)$/ },
  { kind: 'transform', pattern: /^(.+)\.transform\.m?js$/ },
  { kind: 'definition', pattern: /^(.+)\.schema\.json$/ },
] as const;

/**
 * Lists the folder `sync` of the mappings folder; subfolders are not read. Never throws: problems become findings, and
 * a folder that leads out of the mappings folder is reported and not read.
 */
export async function readSyncFolder(folder: string, sync: string): Promise<SyncFolder> {
  const findings: Finding[] = [];
  const report = (file: string, kind: FindingKind, message: string, severity: Finding['severity'] = 'error'): void => {
    findings.push({ severity, kind, file, line: 0, column: 0, path: '', message });
  };
  const found = {
    sync: new Map<string, string>(),
    mapping: new Map<string, string>(),
    definition: new Map<string, string>(),
    transform: new Map<string, string>(),
    examples: new Map<string, string>(),
  };
  /** TypeScript of transforms. */
  const sources: string[] = [];
  for (const name of await namesIn(folder, sync, report)) {
    const file = `${sync}/${name}`;
    const match = KINDS.map(({ kind, pattern }) => ({ kind, stem: pattern.exec(name)?.[1] })).find(
      ({ stem }) => stem !== undefined,
    );
    if (match?.stem === undefined) {
      if (/\.transform\.[cm]?ts$/.test(name)) sources.push(file);
      if (/\.(ya?ml|json)$/.test(name))
        report(
          file,
          'unknown_file',
          'is not read: expected sync.yaml, <name>.mapping.yaml, <name>.examples.yaml or <schema>.schema.json',
          'warning',
        );
      continue;
    }
    const { kind, stem } = match;
    if (found[kind].has(stem)) report(file, 'duplicate_file', `duplicates ${found[kind].get(stem)}; keep one of them`);
    else if (kind === 'mapping' && !isSyncName(stem))
      report(file, 'bad_name', `a mapping's name must match ${SYNC_NAME_PATTERN}; got "${stem}"`);
    else found[kind].set(stem, file);
  }
  for (const file of sources) {
    const stem = file.slice(sync.length + 1).replace(/\.transform\.[cm]?ts$/, '');
    if (!found.transform.has(stem))
      report(file, 'unknown_file', `is not read: compile it to ${stem}.transform.js, beside it`, 'warning');
  }
  const syncFile = found.sync.get('sync') ?? null;
  if (findings.length === 0 && syncFile === null)
    report(`${sync}/sync.yaml`, 'file_missing', 'does not exist; it names source and tenant');
  for (const [name, file] of found.examples)
    if (!found.mapping.has(name))
      report(file, 'mapping_missing', `contains examples of a mapping that does not exist: ${name}`, 'warning');
  if (findings.length === 0 && found.mapping.size === 0)
    report(sync, 'file_missing', 'contains no mapping; add <name>.mapping.yaml');
  return {
    sync: syncFile,
    mappings: found.mapping,
    definitions: found.definition,
    transforms: found.transform,
    examples: found.examples,
    findings,
  };
}

type Report = (file: string, kind: FindingKind, message: string) => void;

async function namesIn(folder: string, sync: string, report: Report): Promise<string[]> {
  if (!isSyncName(sync)) {
    report('.', 'bad_name', `a sync's name must match ${SYNC_NAME_PATTERN}; got ${JSON.stringify(sync).slice(0, 80)}`);
    return [];
  }
  try {
    const real = await realpath(`${folder}/${sync}`);
    if (relative(await realpath(folder), real) !== sync) {
      report(sync, 'outside_folder', 'leads out of the mappings folder by a symbolic link; copy the folder instead');
      return [];
    }
    return (await readdir(real)).sort();
  } catch {
    const known = await listSyncs(folder);
    report(sync, 'sync_missing', `there is no such sync. Syncs: ${known.join(', ') || 'none'}`);
    return [];
  }
}

/**
 * Names of the syncs in a mappings folder, sorted: its subfolders that contain a sync file, valid or not. Empty if
 * there is no such folder.
 */
export async function listSyncs(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory() && isSyncName(entry.name)).map((entry) => entry.name);
  const files = await Promise.all(names.map((name) => readdir(`${folder}/${name}`).catch(() => [])));
  return names.filter((_, index) => files[index]!.some((file) => KINDS[0].pattern.test(file))).sort();
}
