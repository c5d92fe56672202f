/**
 * `partner-sync approve`: shows why a run is on hold, and lets it continue.
 *
 * Asks first, or needs `--yes`. Only what was shown is approved: a mapping that is put on hold a moment later, or for something
 * else by then, waits for the next approval. Exit codes: 0 approved, 1 failed or not confirmed, 2 wrong usage, or nothing is on hold.
 */
import type { Command } from 'commander';
import { quantity } from '../../domain/values/quantity.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { HOLD_CAUSES, holdLine, type HoldCause } from '../../domain/sync/guard.js';
import type { RemovalPlan } from '../../domain/run/removal-plan.js';
import type { HoldUntil } from '../../domain/run/run.js';
import type { ApproveInput } from '../../domain/run/run-controls.js';
import { choice } from '../arguments.js';
import { EXIT, withViewParts } from '../command-context.js';
import { confirmed } from '../output/confirmed.js';
import { printable } from '../output/text-table.js';
import { startedBy } from '../actor.js';
import { withRun, workingRun } from '../runs/working-run.js';

interface ApproveOptions {
  readonly json?: boolean;
  readonly reason?: string;
  readonly workflow?: string;
  readonly run?: string;
  readonly cause?: HoldCause;
  readonly yes?: boolean;
}

export function addApprove(program: Command): void {
  program
    .command('approve')
    .description(
      'Shows why the `guard` has put a run of the sync on hold, with the keys of some rows, and lets it continue after asking. A removal plan of a run that has ended is approved by `run --approve`.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .argument('[mappings...]', 'which mappings, if several are on hold (default: all)')
    .option('--workflow <id>', 'which run, if several are active')
    .option('--run <id>', 'only if it is this run that is on hold, as seen before')
    .option('--cause <cause>', `only what is on hold for this: ${HOLD_CAUSES.join(', ')}`, choice(HOLD_CAUSES))
    .option('--reason <text>', 'why; it is kept in the history of the workflow')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExample:\n  partner-sync approve online-retail orders --reason "new price list"')
    .action(
      withViewParts<[string, string[]], ApproveOptions>(async ({ parts, output }, sync, named, options) => {
        const { reason, workflow, cause, yes } = options;
        const { runs, guards, removals } = await parts.ledger();
        const plans = await removals.awaitingApproval(sync);
        if ((await runs.notEnded(sync)).length === 0) assertNoPlan(sync, plans);
        const run = await workingRun(parts, sync, workflow, options.run);
        const inLedger = await guards.onHold(sync);
        const examplesOf = (hold: HoldUntil): readonly string[] =>
          inLedger.find((each) => each.mapping === hold.mapping && each.cause === hold.cause)?.examples ?? [];
        return withRun(parts, run, async ({ update, holds }) => {
          const found = await holds();
          if (found.length === 0) assertNoPlan(sync, plans);
          const onHold = chosen(sync, found, named, cause);
          for (const line of onHold.flatMap((hold) => linesOf(sync, hold, examplesOf(hold)))) output.note(line);
          if (yes !== true && !(await confirmed('Let the run continue?'))) {
            output.result({ sync, run: run.id, approved: [] }, () => ['nothing was approved']);
            return EXIT.failed;
          }
          const mappings = onHold.map(({ mapping }) => mapping);
          const shown = onHold.map(({ mapping, until }) => ({ mapping, until }));
          const input: ApproveInput = { mappings, shown, by: startedBy(), ...(reason !== undefined && { reason }) };
          const answer = await update('approve', input);
          output.result({ sync, run: run.id, workflowId: run.workflow_id, approved: mappings }, () => [
            `run ${run.id} of ${sync}: ${printable(answer)}`,
          ]);
          return EXIT.done;
        });
      }),
    );
}

/** A plan that no run waits for is approved by a run that names it. Throws `input_invalid` that says so if there is one. */
function assertNoPlan(sync: string, plans: readonly RemovalPlan[]): void {
  if (plans.length === 0) return;
  const awaiting = quantity(plans.length, 'removal plan awaits', 'removal plans await');
  const ids = plans.map(({ plan }) => plan).join(' ');
  throw new PartnerSyncError(
    'input_invalid',
    `no run of ${sync} is on hold, but ${awaiting} approval, which a new run gives: partner-sync run ${sync} --mode mirror --approve ${ids} (first see partner-sync removals ${sync})`,
  );
}

/** Those that are named, or all, and on hold for the cause; throws `input_invalid` if there are none. */
function chosen(
  sync: string,
  holds: readonly HoldUntil[],
  named: readonly string[],
  cause: HoldCause | undefined,
): readonly HoldUntil[] {
  if (holds.length === 0) throw new PartnerSyncError('input_invalid', `the run of ${sync} is not on hold`);
  const onHold = holds.map(({ mapping }) => mapping);
  const others = named.filter((mapping) => !onHold.includes(mapping));
  if (others.length > 0)
    throw new PartnerSyncError('input_invalid', `not on hold: ${others.join(', ')}; on hold: ${onHold.join(', ')}`);
  const found = holds.filter(({ mapping }) => named.length === 0 || named.includes(mapping));
  const ofCause = found.filter((hold) => cause === undefined || hold.cause === cause);
  if (ofCause.length === 0)
    throw new PartnerSyncError('input_invalid', `not on hold for ${cause}; by now: ${found.map(holdLine).join('; ')}`);
  return ofCause;
}

function linesOf(sync: string, hold: HoldUntil, examples: readonly string[]): string[] {
  const shown = examples.map((key) => `    ${printable(key)}`);
  if (hold.cause === 'gone') return [holdLine(hold), `  the records: partner-sync removals ${sync}`];
  return [holdLine(hold), ...(shown.length === 0 ? [] : ['  rows with these keys are among them:', ...shown])];
}
