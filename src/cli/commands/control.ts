/**
 * `partner-sync pause` and `resume`: hold a run that is working, and let it go on.
 *
 * Both find the run in the ledger and send an Update to its workflow; its worker must be there to answer. Exit codes: 0
 * done, 1 failed, 2 wrong usage, no run is working, or it is paused already (or not paused).
 */
import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import type { ControlInput } from '../../domain/run-controls.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import type { CommonParts } from '../../compose.js';
import type { RunRow } from '../../ledger/runs.js';
import { EXIT, withViewParts } from '../command-context.js';
import { startedBy } from '../runs/described-start.js';
import { assertKnown } from '../known-sync.js';
import { printable } from '../output/text-table.js';
import { counted } from '../../domain/counted.js';

interface ControlOptions {
  readonly json?: boolean;
  readonly reason?: string;
  readonly workflow?: string;
}

/** The commands, each named like its Update. */
const CONTROLS = {
  pause: {
    summary: 'pause a run that is working',
    description:
      'Pauses the run: loads that are under way end within seconds, and nothing new begins until resume. The run keeps its lease, and loses nothing.',
  },
  resume: { summary: 'let a paused run go on', description: 'Lets a paused run go on where it stopped.' },
} as const;

export const addPause = (program: Command): void => addControl(program, 'pause');
export const addResume = (program: Command): void => addControl(program, 'resume');

function addControl(program: Command, name: keyof typeof CONTROLS): void {
  const { summary, description } = CONTROLS[name];
  program
    .command(name)
    .summary(summary)
    .description(description)
    .argument('<sync>', 'folder in the mappings folder')
    .option('--workflow <id>', 'which run, if several are working')
    .option('--reason <text>', 'why; it is shown with the run')
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\nExample:\n  partner-sync ${name} online-retail --reason "maintenance of the source"`)
    .action(
      withViewParts<[string], ControlOptions>(async ({ parts, output }, sync, { reason, workflow }) => {
        const run = await workingRun(parts, sync, workflow);
        const input: ControlInput = { by: startedBy(), ...(reason !== undefined && { reason }) };
        const answer = await update(parts, run.workflow_id, name, input);
        output.result({ sync, run: run.id, workflowId: run.workflow_id, answer }, () => [
          `run ${run.id} of ${sync}: ${printable(answer)}`,
        ]);
        return EXIT.done;
      }),
    );
}

/** The run that has not ended; throws `input_invalid` if there is none, or several and `workflow` names none of them. */
async function workingRun(parts: CommonParts, sync: string, workflow: string | undefined): Promise<RunRow> {
  const unended = await (await parts.ledger()).runs.unended(sync);
  const runs = unended.filter((run) => workflow === undefined || run.workflow_id === workflow);
  if (runs.length === 1) return runs[0]!;
  if (unended.length === 0) await assertKnown(parts, sync);
  const working = unended.map((run) => run.workflow_id).join(', ');
  throw new PartnerSyncError(
    'input_invalid',
    unended.length === 0
      ? `no run of ${sync} is working`
      : `${counted(unended.length, `run of ${sync} is`, `runs of ${sync} are`)} working; name one with --workflow: ${working}`,
  );
}

async function update(parts: CommonParts, workflowId: string, name: string, input: ControlInput): Promise<string> {
  const temporal = await connectTemporal(parts.env);
  try {
    return await temporal.client.workflow.getHandle(workflowId).executeUpdate<string, [ControlInput]>(name, {
      args: [input],
    });
  } catch (error) {
    // The validator's own sentence.
    if (error instanceof WorkflowUpdateFailedError)
      throw new PartnerSyncError('input_invalid', error.cause?.message ?? error.message);
    throw error;
  } finally {
    await temporal.close();
  }
}
