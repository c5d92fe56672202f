/**
 * `partner-sync approve`: shows what a run on hold waits for, and lets it go on.
 *
 * Asks first, or needs `--yes`. Only what was shown is approved: a mapping that is put on hold a moment later waits for the next
 * approval. Exit codes: 0 approved, 1 failed or not confirmed, 2 wrong usage, or nothing is on hold.
 */
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import { holdLine } from '../../domain/guard.js';
import type { HoldUntil } from '../../domain/run.js';
import type { ApproveInput } from '../../domain/run-controls.js';
import { EXIT, withViewParts } from '../command-context.js';
import { confirmed } from '../output/confirmed.js';
import { printable } from '../output/text-table.js';
import { startedBy } from '../runs/described-start.js';
import { withRun, workingRun } from '../runs/working-run.js';

interface ApproveOptions {
  readonly json?: boolean;
  readonly reason?: string;
  readonly workflow?: string;
  readonly yes?: boolean;
}

export function addApprove(program: Command): void {
  program
    .command('approve')
    .summary('let a run on hold go on')
    .description(
      'Shows why the `guard` has put a run of the sync on hold, with keys of some rows, and lets it go on after asking.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .argument('[mappings...]', 'which mappings, if several are on hold (default: all)')
    .option('--workflow <id>', 'which run, if several are working')
    .option('--reason <text>', 'why; it is kept in the history of the workflow')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExample:\n  partner-sync approve online-retail orders --reason "new price list"')
    .action(
      withViewParts<[string, string[]], ApproveOptions>(async ({ parts, output }, sync, named, options) => {
        const { reason, workflow, yes } = options;
        const run = await workingRun(parts, sync, workflow);
        const examples = new Map(
          (await (await parts.ledger()).guards.onHold(sync)).map((held) => [held.mapping, held.examples]),
        );
        return withRun(parts, run, async ({ update, holds }) => {
          const held = chosen(sync, await holds(), named);
          for (const line of held.flatMap((hold) => linesOf(sync, hold, examples.get(hold.mapping) ?? [])))
            output.note(line);
          if (yes !== true && !(await confirmed('Let the run go on?'))) {
            output.result({ sync, run: run.id, approved: [] }, () => ['nothing was approved']);
            return EXIT.failed;
          }
          const mappings = held.map(({ mapping }) => mapping);
          const input: ApproveInput = { mappings, by: startedBy(), ...(reason !== undefined && { reason }) };
          const answer = await update('approve', input);
          output.result({ sync, run: run.id, workflowId: run.workflow_id, approved: mappings }, () => [
            `run ${run.id} of ${sync}: ${printable(answer)}`,
          ]);
          return EXIT.done;
        });
      }),
    );
}

/** Those that are named, or all; throws `input_invalid` if there are none. */
function chosen(sync: string, holds: readonly HoldUntil[], named: readonly string[]): readonly HoldUntil[] {
  if (holds.length === 0) throw new PartnerSyncError('input_invalid', `the run of ${sync} is not on hold`);
  const held = holds.map(({ mapping }) => mapping);
  const others = named.filter((mapping) => !held.includes(mapping));
  if (others.length > 0)
    throw new PartnerSyncError('input_invalid', `not on hold: ${others.join(', ')}; on hold: ${held.join(', ')}`);
  return holds.filter(({ mapping }) => named.length === 0 || named.includes(mapping));
}

function linesOf(sync: string, hold: HoldUntil, examples: readonly string[]): string[] {
  const shown = examples.map((key) => `    ${printable(key)}`);
  if (hold.cause === 'gone') return [holdLine(hold), `  the records: partner-sync removals ${sync}`];
  return [holdLine(hold), ...(shown.length === 0 ? [] : ['  rows with these keys are among them:', ...shown])];
}
