/** Reads the file of a custom transform, and reports everything that is wrong with it. */
import { hash } from 'node:crypto';
import type { Finding, FindingKind } from '../../domain/sync/finding.js';
import type { TransformCode } from '../../domain/sync/sync.js';
import type { Transform } from '../transforms/transform.js';
import { loadTransform } from '../transforms/custom/loaded-transforms.js';
import { readSyncFile } from './read-sync-file.js';

/** A custom transform of a sync's folder. */
export interface TransformFile {
  /** Path relative to the mappings folder. */
  readonly file: string;
  readonly findings: readonly Finding[];
  /** null if the file cannot be used. */
  readonly loaded: { readonly code: TransformCode; readonly transform: Transform } | null;
}

/** Reads the text of `file` (relative to `folder`) and loads it. Never rejects for what the file contains. */
export async function readTransform(folder: string, name: string, file: string): Promise<TransformFile> {
  const source = await readSyncFile(folder, file);
  if ('problem' in source) return failed(file, source.kind, [source.problem]);
  return transformOf({ name, file, hash: hashOfCode(source.text), text: source.text });
}

/** The same of code that has been read. */
export async function transformOf(code: TransformCode): Promise<TransformFile> {
  const found = await loadTransform(code);
  return 'problems' in found
    ? failed(code.file, 'bad_transform', found.problems)
    : { file: code.file, findings: [], loaded: { code, transform: found.transform } };
}

const failed = (file: string, kind: FindingKind, problems: readonly string[]): TransformFile => ({
  file,
  findings: problems.map((message) => ({ severity: 'error', kind, file, line: 0, column: 0, path: '', message })),
  loaded: null,
});

/** The version of a transform: 16 hex digits of the hash of its text. */
const hashOfCode = (text: string): string => hash('sha256', text, 'hex').slice(0, 16);
