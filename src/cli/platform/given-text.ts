/** Reads the text of an option: literal, from a file (`@file`) or from stdin (`-`). */
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/values/foreign-text.js';

/** The text of an option, read once. */
export interface GivenText {
  /**
   * Parses it. Throws `input_invalid` that names its origin and the position; the text itself is not quoted, since it
   * may be personal data.
   */
  json(): unknown;
}

/**
 * Reads the text that `given` names. `flag` is named in errors. Throws `input_invalid` for a file that cannot be read.
 */
export async function readText(flag: string, given: string): Promise<GivenText> {
  const { text, place } = await fetched(flag, given);
  return {
    json() {
      try {
        return JSON.parse(text) as unknown;
      } catch (error) {
        const at = /position (\d+)/.exec((error as Error).message)?.[1];
        throw new PartnerSyncError(
          'input_invalid',
          `${flag}: ${place} is not JSON${text.trim() === '' ? ', it is empty' : at === undefined ? '' : ` (at character ${at})`}`,
        );
      }
    },
  };
}

async function fetched(flag: string, given: string): Promise<{ readonly text: string; readonly place: string }> {
  if (given === '-') return { text: await readAll(process.stdin), place: 'stdin' };
  if (!given.startsWith('@')) return { text: given, place: 'the value' };
  const file = given.slice(1);
  try {
    // Some editors begin files with a byte order mark.
    return { text: (await readFile(file, 'utf8')).replace(/^\uFEFF/, ''), place: file };
  } catch (error) {
    throw new PartnerSyncError('input_invalid', `${flag}: ${file} cannot be read (${errorCode(error) || 'unknown'})`);
  }
}
