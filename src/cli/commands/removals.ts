/**
 * `partner-sync removals`: the removal plans of mirror runs that are awaiting approval, and the records in one.
 *
 * Reads the ledger only. Approving is not done here: it is the input of a run, which is recorded with the run (ADR
 * 0016), or `approve` while a run is on hold. Exit codes: 0 done (also if no plan waits), 1 failed, 2 wrong usage, or a
 * plan that is not awaiting approval.
 */
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import type { LedgerView } from '../../ledger/ledger-view.js';
import type { RecordPlace } from '../../ledger/record-key.js';
import type { PlannedRemoval } from '../../ledger/removals.js';
import { allOrCount } from '../arguments.js';
import { EXIT, withViewParts } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { removalLines } from '../output/removal-lines.js';
import { table } from '../output/text-table.js';

interface RemovalsFlags {
  json?: boolean;
  limit?: 'all' | number;
}

const SHOWN = 50;
const AT_ONCE = 1000;

export function addRemovals(program: Command): void {
  program
    .command('removals')
    .description(
      'Lists the removal plans of mirror runs that are awaiting approval; with a plan, the records whose rows are gone. Sends and writes nothing.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .argument('[plan]', 'id of a plan')
    .option('--limit <all|N>', `how many records of the plan to show (default: ${SHOWN})`, allOrCount)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync removals online-retail\n  partner-sync removals online-retail 7 --limit all',
    )
    .action(
      withViewParts<[string, string | undefined], RemovalsFlags>(
        async ({ parts, output }, sync, id, { limit = SHOWN }) => {
          const ledger = await parts.ledger();
          const plans = await ledger.removals.awaitingApproval(sync);
          if (plans.length === 0) await assertKnown(parts, sync);
          const activeRuns = (await ledger.runs.notEnded(sync)).map((run) => run.id);
          if (id === undefined) {
            output.result({ sync, plans }, () =>
              plans.length === 0
                ? [`no removal plan of ${sync} is awaiting approval`]
                : removalLines(sync, plans, activeRuns),
            );
            return EXIT.done;
          }
          const plan = plans.find((p) => p.plan === id);
          if (plan === undefined)
            throw new PartnerSyncError(
              'input_invalid',
              `no removal plan ${id} of ${sync} is awaiting approval; awaiting approval: ${plans.map((p) => p.plan).join(', ') || 'none'}`,
            );
          const records = await recordsOf(ledger, id, limit === 'all' ? Infinity : limit);
          output.result({ sync, ...plan, vanished: records }, () => [
            ...removalLines(sync, [plan], activeRuns),
            '',
            ...table(
              ['tenant', 'external id'],
              records.map((r) => [r.tenant, r.externalId]),
            ),
            ...(records.length < plan.records ? [`... and ${plan.records - records.length} more (--limit all)`] : []),
          ]);
          return EXIT.done;
        },
      ),
    );
}

/** The first `limit` records of a plan, read page by page in the ledger's order. */
async function recordsOf(
  { removals }: LedgerView,
  plan: string,
  limit: number,
): Promise<Pick<PlannedRemoval, 'tenant' | 'externalId'>[]> {
  const found: Pick<PlannedRemoval, 'tenant' | 'externalId'>[] = [];
  let after: RecordPlace | null = null;
  while (found.length < limit) {
    const page: readonly PlannedRemoval[] = await removals.page(plan, after, Math.min(AT_ONCE, limit - found.length));
    found.push(...page.map(({ tenant, externalId }) => ({ tenant, externalId })));
    after = page.at(-1) ?? null;
    if (after === null) break;
  }
  return found;
}
