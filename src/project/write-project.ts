/** Lays out a project: everything is read and checked first, then written, and no existing line is changed. */
import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import { completedPackageJson, newPackageJson } from './package-json.js';
import { projectFiles } from './project-files.js';

/** What became of a file. */
export interface LaidOutFile {
  /** Relative to the project's folder. */
  readonly file: string;
  readonly action: 'written' | 'kept';
  /** What a kept file has got: lines, or keys of package.json. */
  readonly added: readonly string[];
}

/** The project to lay out. */
export interface Project {
  readonly folder: string;
  /** Also the name of the first sync. */
  readonly name: string;
  /** The variable with the address of the source. */
  readonly sourceVariable: string;
  /** The version of partner-sync that a new package.json depends on. */
  readonly version: string;
}

interface Change extends LaidOutFile {
  /** null if the file stays as it is. */
  readonly text: string | null;
  /** What it contained; null if it is new. */
  readonly before: string | null;
}

/**
 * Lays out the project and says what became of each file. Throws `input_invalid` if a file or folder of the layout is in
 * the way; if writing fails, what was written is taken back.
 */
export async function writeProject({ folder, name, sourceVariable, version }: Project): Promise<LaidOutFile[]> {
  const changes = [await packageChange(folder, name, version)];
  for (const { path, text, addsLines } of projectFiles(name, sourceVariable))
    changes.push(change(path, await existing(folder, path), text, addsLines === true));
  const done: Change[] = [];
  try {
    for (const each of changes) {
      if (each.text === null) continue;
      await mkdir(dirname(join(folder, each.file)), { recursive: true });
      done.push(each);
      await writeFile(join(folder, each.file), each.text);
    }
  } catch (error) {
    for (const { file, before } of done)
      await (before === null ? rm(join(folder, file), { force: true }) : writeFile(join(folder, file), before));
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new PartnerSyncError('input_invalid', `${folder} cannot be written (${code}); nothing was changed`);
  }
  return changes.map(({ file, action, added }) => ({ file, action, added }));
}

async function packageChange(folder: string, name: string, version: string): Promise<Change> {
  const [file, before] = ['package.json', await existing(folder, 'package.json')];
  if (before === null) return { file, action: 'written', added: [], before, text: newPackageJson(name, version) };
  const { text, added } = completedPackageJson(before);
  return { file, action: 'kept', added, before, text: added.length > 0 ? text : null };
}

function change(file: string, before: string | null, text: string, addsLines: boolean): Change {
  if (before === null) return { file, action: 'written', added: [], before, text };
  if (!addsLines) return { file, action: 'kept', added: [], before, text: null };
  const added = missingLines(before, text);
  const joint = before === '' || before.endsWith('\n') ? '' : '\n';
  return {
    file,
    action: 'kept',
    added,
    before,
    text: added.length > 0 ? `${before}${joint}${added.join('\n')}\n` : null,
  };
}

/** The lines that do something and that `before` lacks, whether or not they end with a slash, or name a value there. */
function missingLines(before: string, text: string): string[] {
  const subject = (line: string): string => line.trim().replace(/^\//, '').replace(/\/$/, '').replace(/=.*$/, '');
  const present = new Set(before.split('\n').map(subject));
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !present.has(subject(line)));
}

/** The content of a file; null if there is none. Throws `input_invalid` if something else is in the way. */
async function existing(folder: string, file: string): Promise<string | null> {
  const parts = file.split('/');
  for (let count = 1; count <= parts.length; count++) {
    const path = join(folder, ...parts.slice(0, count));
    const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw inTheWay(path, `cannot be read (${error.code ?? 'unknown error'})`);
    });
    if (found === null) return null;
    const last = count === parts.length;
    if (last ? !found.isFile() : !found.isDirectory()) throw inTheWay(path, last ? 'is not a file' : 'is not a folder');
  }
  return readFile(join(folder, file), 'utf8');
}

const inTheWay = (path: string, what: string): PartnerSyncError =>
  new PartnerSyncError('input_invalid', `${path} ${what}; nothing was written`);
