/**
 * `partner-sync worker`: executes runs until a signal drains it.
 *
 * Needs Temporal, the ledger's database (it creates or upgrades the ledger) and the mappings folder; source and
 * platform may be down when it starts. Several workers share a task queue and must have the same files. Exit codes: 0
 * drained, 1 failed, 2 wrong usage or configuration, 130 ended by a second signal.
 */
import type { Command } from 'commander';
import { requireVariable } from '../../config/environment.js';
import { createLogger } from '../../observability/log.js';
import { runWorker } from '../../worker/run-worker.js';
import { announces } from '../announce.js';
import { EXIT, withWorkerParts } from '../command-context.js';

export function addWorker(program: Command): void {
  program
    .command('worker')
    .description(
      'Runs a worker with the configuration of the environment. The first signal drains it (it finishes what it has begun), a second one ends it at once.',
    )
    .addHelpText('after', '\nExample:\n  partner-sync worker')
    .hook(
      'preAction',
      announces(() => 'starting a worker ...'),
    )
    .action(
      withWorkerParts<[], { json?: boolean }>(async ({ parts, output }) => {
        const log = createLogger(await requireVariable(parts.env, 'PARTNER_SYNC_LOG_LEVEL'));
        await runWorker(parts, log, (taskQueue) => output.note(`worker ready on task queue "${taskQueue}"`));
        output.note('worker drained');
        return EXIT.done;
      }),
    );
}
