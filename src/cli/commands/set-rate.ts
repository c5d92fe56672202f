/**
 * `partner-sync set-rate`: changes the request rate of the active run.
 *
 * The limits apply across all workers, until the next run of the sync begins. Exit codes: 0 done, 1 failed, 2 wrong usage,
 * or no run is active.
 */
import { InvalidArgumentError, type Command } from 'commander';
import type { SetRateInput } from '../../domain/run/run-controls.js';
import { EXIT, withViewParts } from '../command-context.js';
import { printable } from '../output/text-table.js';
import { startedBy } from '../actor.js';
import { withRun, workingRun } from '../runs/working-run.js';

interface SetRateOptions {
  readonly json?: boolean;
  readonly reason?: string;
  readonly requestsAtOnce?: number;
  readonly requestsPerSecond?: number;
  readonly workflow?: string;
}

export function addSetRate(program: Command): void {
  program
    .command('set-rate')
    .description(
      'Limits the requests of the active run, across all workers, until the next run begins. Without options, it restores the limits of sync.yaml.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--requests-at-once <N>', 'requests to the platform in flight at once, 1 to 64', number)
    .option('--requests-per-second <N>', 'requests to the platform a second, 0.1 to 1000', number)
    .option('--workflow <id>', 'which run, if several are active')
    .option('--reason <text>', 'why; it is kept in the audit')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExample:\n  partner-sync set-rate online-retail --requests-per-second 5')
    .action(
      withViewParts<[string], SetRateOptions>(async ({ parts, output }, sync, options) => {
        const { reason, requestsAtOnce, requestsPerSecond, workflow } = options;
        const run = await workingRun(parts, sync, workflow);
        const input: SetRateInput = {
          by: startedBy(),
          ...(requestsAtOnce !== undefined && { requestsAtOnce }),
          ...(requestsPerSecond !== undefined && { requestsPerSecond }),
          ...(reason !== undefined && { reason }),
        };
        const answer = await withRun(parts, run, ({ update }) => update('setRate', input));
        output.result({ sync, run: run.id, workflowId: run.workflow_id, answer }, () => [
          `run ${run.id}: ${printable(answer)}`,
        ]);
        return EXIT.done;
      }),
    );
}

/** Whether it is in bounds, the workflow says. */
function number(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected a number, such as 5');
  return Number(text);
}
