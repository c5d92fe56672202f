/** Texts that flags give: as they are, from a file (`@file`) or from stdin (`-`). */
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/foreign-text.js';

export interface GivenText {
  /** Throws `input_invalid` that says where it came from; the text itself is not quoted, it may be personal. */
  json(): unknown;
}

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
    // Editors on some systems put a mark before the first character.
    return { text: (await readFile(file, 'utf8')).replace(/^\uFEFF/, ''), place: file };
  } catch (error) {
    throw new PartnerSyncError('input_invalid', `${flag}: ${file} cannot be read (${errorCode(error) || 'unknown'})`);
  }
}
