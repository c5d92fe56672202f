/** Writes a file that a command was asked for: whole or not at all, and only for the user who has asked. */
import { randomUUID } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { PartnerSyncError } from '../../domain/errors.js';

const PRIVATE = 0o600;

/** Throws `input_invalid` if the file exists, unless `force` replaces it, and if it cannot be written. */
export async function writeNewFile(file: string, text: string, force: boolean): Promise<void> {
  const unfinished = `${file}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(unfinished, text, { mode: PRIVATE, flag: 'wx' });
    // Unlike a rename, a link never replaces a file that somebody has created meanwhile.
    await (force ? rename(unfinished, file) : link(unfinished, file));
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new PartnerSyncError(
      'input_invalid',
      code === 'EEXIST' ? `${file} exists; --force replaces it` : `${file} cannot be written (${code})`,
    );
  } finally {
    await rm(unfinished, { force: true });
  }
}
