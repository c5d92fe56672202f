/** Asks a person before a command does what cannot be undone. */
import { createInterface } from 'node:readline/promises';
import { PartnerSyncError } from '../../domain/errors.js';

/**
 * Asks on the terminal; only `y` and `yes` confirm. Throws `input_invalid` if stdin is not a terminal, since a script
 * would wait forever for an answer.
 */
export async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new PartnerSyncError('input_invalid', `${question} Without a terminal, confirm with --yes.`);
  // On stderr, so that stdout has nothing but the result.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
