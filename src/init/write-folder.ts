/** Writes a drafted sync into the mappings folder without overwriting anything. */
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import { languageFolder } from '../mapping/language/language-folder.js';
import type { DraftedFile } from './write-files.js';

/** The JSON Schemas that the first line of each file names, for completion in editors. */
const LANGUAGE = ['sync.schema.json', 'mapping.schema.json', 'schema-definition.schema.json'];

/** Throws `input_invalid` if the sync's folder exists and is not empty. */
export async function assertFree(folder: string, sync: string): Promise<void> {
  const names = await readdir(join(folder, sync)).catch(() => []);
  if (names.length > 0)
    throw new PartnerSyncError(
      'input_invalid',
      `${join(folder, sync)} already exists (${names.slice(0, 3).join(', ')} ...); nothing was written. Choose another name, or move the folder away`,
    );
}

/** Writes the files, and the JSON Schemas beside the folder if they are missing. Rejects if a file exists. */
export async function writeFolder(folder: string, sync: string, files: readonly DraftedFile[]): Promise<void> {
  await mkdir(join(folder, sync), { recursive: true });
  for (const { name, text } of files) await writeFile(join(folder, sync, name), text, { flag: 'wx' });
  for (const name of LANGUAGE)
    await copyFile(join(languageFolder(), name), join(folder, name), constants.COPYFILE_EXCL).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
}
