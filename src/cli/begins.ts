/** Says at once what a command begins: its first answer may be a while away, and silence looks like standing still. */
import type { Command } from 'commander';
import { isSyncName } from '../domain/names.js';
import { createOutput } from './output.js';

/**
 * For commander's hook `preAction`; `words` are given the command's first argument.
 *
 * @example program.command('run').hook('preAction', begins((sync) => `starting a run of ${sync} ...`))
 */
export const begins =
  (words: (argument: string) => string) =>
  (hooked: Command, begun: Command): void => {
    const [argument = ''] = begun.args;
    // What is no name of a sync is about to be refused, and may be an address with a password.
    if (argument !== '' && !isSyncName(argument)) return;
    // A hook is called for the commands below as well.
    if (hooked === begun) createOutput(false).note(words(argument));
  };
