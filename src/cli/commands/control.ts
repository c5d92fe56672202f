/**
 * `partner-sync pause` and `resume`: pause the active run, and resume it.
 *
 * Both find the run in the ledger and send an Update to its workflow; its worker must be there to answer. Exit codes: 0
 * done, 1 failed, 2 wrong usage, no run is active, or it is paused already (or not paused).
 */
import type { Command } from 'commander';
import type { ControlInput } from '../../domain/run/run-controls.js';
import { EXIT, withViewParts } from '../command-context.js';
import { startedBy } from '../actor.js';
import { withRun, workingRun } from '../runs/working-run.js';
import { printable } from '../output/text-table.js';

interface ControlOptions {
  readonly json?: boolean;
  readonly reason?: string;
  readonly workflow?: string;
}

/** The commands with their descriptions, each named like its Update. */
const CONTROLS = {
  pause:
    'Pauses the active run: activities that it has started end by themselves, usually within 15 seconds, and it starts no other until it is resumed. The run keeps its lease, and loses nothing.',
  resume: 'Resumes a paused run where it stopped.',
} as const;

export const addPause = (program: Command): void => addControl(program, 'pause');
export const addResume = (program: Command): void => addControl(program, 'resume');

function addControl(program: Command, name: keyof typeof CONTROLS): void {
  const description = CONTROLS[name];
  program
    .command(name)
    .description(description)
    .argument('<sync>', 'folder in the mappings folder')
    .option('--workflow <id>', 'which run, if several are active')
    .option('--reason <text>', 'why; it is shown with the run')
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\nExample:\n  partner-sync ${name} online-retail --reason "maintenance of the source"`)
    .action(
      withViewParts<[string], ControlOptions>(async ({ parts, output }, sync, { reason, workflow }) => {
        const run = await workingRun(parts, sync, workflow);
        const input: ControlInput = { by: startedBy(), ...(reason !== undefined && { reason }) };
        const answer = await withRun(parts, run, ({ update }) => update(name, input));
        output.result({ sync, run: run.id, workflowId: run.workflow_id, answer }, () => [
          `run ${run.id} of ${sync}: ${printable(answer)}`,
        ]);
        return EXIT.done;
      }),
    );
}
