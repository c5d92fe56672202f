/**
 * Announces on stderr what a command is about to do, before it loads modules and connects: that can take seconds, and
 * silence would look like a hang.
 */
import type { Command } from 'commander';
import { isSyncName } from '../domain/values/names.js';
import { createOutput } from './output/output.js';

/**
 * A listener for commander's hook `preAction`. `words` makes the line from the command's first argument, which is empty
 * if the command has none.
 *
 * @example program.command('run').hook('preAction', announces((sync) => `starting a run of ${sync} ...`))
 */
export const announces =
  (words: (argument: string) => string) =>
  (hooked: Command, begun: Command): void => {
    const [argument = ''] = begun.args;
    // An argument that is not a sync's name is about to be rejected, and it may be an address with a password in it.
    if (argument !== '' && !isSyncName(argument)) return;
    // Commander calls the hook for subcommands as well, which announce themselves.
    if (hooked === begun) createOutput(false).note(words(argument));
  };
