/** Reads one file of a sync, and rejects whatever the author of a mapping could aim at the rest of the machine. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { relative, isAbsolute, join } from 'node:path';
import type { FindingKind } from '../../domain/sync/finding.js';

/** Far above any real mapping; the time to parse grows with the text. */
const LARGEST = 1024 * 1024;

/** The text, or why it was not read, with the kind of the finding. */
export type SyncFileText = { readonly text: string } | { readonly problem: string; readonly kind: FindingKind };

/**
 * The text of `file` (relative to `folder`). Symbolic links out of the folder, devices, large files and text that is
 * not UTF-8 are problems. Never rejects.
 */
export async function readSyncFile(folder: string, file: string): Promise<SyncFileText> {
  try {
    const real = await realpath(join(folder, file));
    if (!isInside(await realpath(folder), real))
      return {
        kind: 'outside_folder',
        problem: 'leads out of the mappings folder by a symbolic link; copy the file instead',
      };
    const facts = await stat(real);
    if (!facts.isFile()) return { kind: 'not_a_file', problem: 'is not a file' };
    if (facts.size > LARGEST)
      return { kind: 'too_large', problem: `is ${facts.size} bytes long; at most ${LARGEST} bytes are read` };
    const bytes = await readFile(real);
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'not_utf8', problem: 'is not UTF-8 text' };
    // The system's own message would name a path of this machine.
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return { kind: 'unreadable', problem: code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})` };
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}
