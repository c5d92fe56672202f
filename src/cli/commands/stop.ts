/**
 * `partner-sync stop`: cancels the active run, and waits for its end.
 *
 * Finds the run in the ledger, and asks Temporal to cancel its workflow; a worker must be there to end it. Exit codes: 0 the
 * run has ended, 1 it does not end, 2 wrong usage, or no run is active.
 */
import type { Command } from 'commander';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { EXIT, withViewParts } from '../command-context.js';
import { reportLines } from '../output/report-lines.js';
import { printable } from '../output/text-table.js';
import { stopRun } from '../runs/stop-run.js';
import { workingRun } from '../runs/working-run.js';

interface StopOptions {
  readonly json?: boolean;
  readonly reason?: string;
  readonly workflow?: string;
}

export function addStop(program: Command): void {
  program
    .command('stop')
    .description(
      'Cancels the active run, and waits for its end. A run in mode live delivers what is left, and ends with its report. Any other ends as failed (run_stopped), and the next run continues where it stopped.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--workflow <id>', 'which run, if several are active')
    .option('--reason <text>', 'why; it is kept in the audit')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync stop online-retail --reason "maintenance of the source"\n\nExit codes: 0 the run has ended; 1 it does not end; 2 wrong usage, or no run is active',
    )
    .action(
      withViewParts<[string], StopOptions>(async ({ parts, output }, sync, { reason, workflow }) => {
        const run = await workingRun(parts, sync, workflow);
        const temporal = await connectTemporal(parts.env);
        try {
          const stopped = await stopRun(temporal.client, run, reason);
          output.result({ sync, run: run.id, workflowId: run.workflow_id, ...stopped }, () =>
            'report' in stopped
              ? reportLines(stopped.report)
              : [
                  `run ${run.id} of ${sync} has ended: ${printable(`${stopped.failure.code}: ${stopped.failure.message}`)}`,
                ],
          );
        } finally {
          await temporal.close();
        }
        return EXIT.done;
      }),
    );
}
