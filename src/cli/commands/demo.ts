/**
 * `partner-sync demo`: syncs a real shop's data to a sandbox and verifies every record, all on this machine.
 *
 * Starts the servers that it needs and stops them afterwards. Exit codes: 0 complete and no differences, 1 failed or
 * different, 2 wrong usage or configuration, which a missing PostgreSQL is too, 3 complete with dead letters, 130
 * interrupted.
 */
import type { Command } from 'commander';
import type { DemoFlags } from '../../embedded/demo-command.js';
import { INSTALL_FLAG } from './dev.js';

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description(
      'Starts PostgreSQL, Temporal, the sandbox and a worker on this machine, syncs the data of a real shop, and compares every record with its row. Another demo later sends only what has changed.',
    )
    .option('--sql <statement>', 'change the shop first')
    .option(
      '--live',
      'show within seconds what changes in the shop, until Ctrl-C: a run in mode live follows its change feed',
    )
    .option('--edit', 'with --live: update, insert and delete a row, wait until all has arrived, verify and end')
    .option(...INSTALL_FLAG)
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync demo\n  partner-sync demo --sql "UPDATE shop.customers SET email = 'changed@example.com' WHERE customer_id = 17850"\n  partner-sync demo --live\n  partner-sync demo --live --edit`,
    )
    .action(async (flags: DemoFlags) => {
      const { demo } = await import('../../embedded/demo-command.js');
      const { liveDemo } = await import('../../embedded/live-demo-command.js');
      process.exitCode = flags.live || flags.edit ? await liveDemo(flags) : await demo(flags);
    });
}
