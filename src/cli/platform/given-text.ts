/** Reads the text of an option: literal, from a file (`@file`) or from stdin (`-`). */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer as readAll } from 'node:stream/consumers';
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/values/foreign-text.js';
import { roundedNumberAt } from '../../mapping/encode/exact-json.js';

/** The text of an option, read once. */
export interface GivenText {
  /**
   * Parses it. Throws `input_invalid` if it is not JSON, or has a number that JavaScript would round. The error names its origin and
   * the position; the text itself is not quoted, since it may be personal data.
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
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch (error) {
        const at = /position (\d+)/.exec((error as Error).message)?.[1];
        throw new PartnerSyncError(
          'input_invalid',
          `${flag}: ${place} is not JSON${text.trim() === '' ? ', it is empty' : at === undefined ? '' : ` (at character ${at})`}`,
        );
      }
      const rounded = roundedNumberAt(text);
      if (rounded !== null)
        throw new PartnerSyncError(
          'input_invalid',
          `${flag}: ${place} has a number that would be rounded (at character ${rounded}); send it as a string`,
        );
      return value;
    },
  };
}

async function fetched(flag: string, given: string): Promise<{ readonly text: string; readonly place: string }> {
  if (given !== '-' && !given.startsWith('@')) return { text: given, place: 'the value' };
  const file = given.slice(1);
  const place = given === '-' ? 'stdin' : file;
  const bytes = given === '-' ? await readAll(process.stdin) : await readFile(file).catch(unreadable);
  if (!isUtf8(bytes)) throw new PartnerSyncError('input_invalid', `${flag}: ${place} is not UTF-8 text`);
  // Some editors begin files with a byte order mark.
  return { text: bytes.toString('utf8').replace(/^\uFEFF/, ''), place };

  function unreadable(error: unknown): never {
    throw new PartnerSyncError('input_invalid', `${flag}: ${file} cannot be read (${errorCode(error) || 'unknown'})`);
  }
}
