/** `partner-sync worker`: carries runs out, until a signal asks it to drain. */
import type { Command } from 'commander';
import { requireVariable } from '../../config/environment.js';
import { createLogger } from '../../observability/log.js';
import { runWorker } from '../../worker/run-worker.js';
import { begins } from '../begins.js';
import { EXIT, working } from '../command-context.js';

export function addWorker(program: Command): void {
  program
    .command('worker')
    .summary('carry runs out')
    .description(
      'Runs a worker against what the environment names. The first signal drains it (it finishes what it has begun), a second ends it at once.',
    )
    .addHelpText('after', '\nExample:\n  partner-sync worker')
    .hook(
      'preAction',
      begins(() => 'starting a worker ...'),
    )
    .action(
      working<[], { json?: boolean }>(async ({ parts, output }) => {
        const log = createLogger(await requireVariable(parts.env, 'PARTNER_SYNC_LOG_LEVEL'));
        await runWorker(parts, log, (taskQueue) => output.note(`worker ready on task queue "${taskQueue}"`));
        output.note('worker drained');
        return EXIT.done;
      }),
    );
}
