/**
 * `partner-sync dev`: keeps ledger, Temporal, sandbox and a worker up for the syncs of this project, and checks their
 * files as they are saved.
 *
 * Runs until a signal, or until npm is gone if npm has started it; it stores everything in `.partner-sync`. Exit codes: 0
 * stopped by a signal, 1 a server ended by itself, 2 wrong usage or configuration, which a missing PostgreSQL is too.
 */
import type { Command } from 'commander';
import type { DevFlags } from '../../embedded/dev-command.js';

/** The option of `dev` and `demo` for scripts, which nobody can answer for. */
export const INSTALL_FLAG = ['--install', 'install the embedded PostgreSQL without asking, if it is missing'] as const;

export function addDev(program: Command): void {
  program
    .command('dev')
    .description(
      'Keeps PostgreSQL for the ledger, Temporal, the sandbox and a worker up on this machine, for the syncs in the mappings folder. Checks their files whenever they are saved, and shows their latest runs. Other commands in this folder use these servers.',
    )
    .option(...INSTALL_FLAG)
    .addHelpText('after', '\nExample:\n  partner-sync dev')
    .action(async (flags: DevFlags) => {
      const { dev } = await import('../../embedded/dev-command.js');
      process.exitCode = await dev(flags);
    });
}
