/** `partner-sync removals`: what mirror runs found gone and did not touch, for whoever has to approve it. */
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import type { LedgerView } from '../../state/ledger-view.js';
import type { PlannedRemoval, RemovalKey } from '../../state/removals.js';
import { allOrCount } from '../arguments.js';
import { EXIT, look } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { removalLines } from '../removal-lines.js';
import { table } from '../table.js';

interface RemovalsFlags {
  json?: boolean;
  limit?: 'all' | number;
}

const SHOWN = 50;
const AT_ONCE = 1000;

export function addRemovals(program: Command): void {
  program
    .command('removals')
    .summary('removal plans that wait for a person')
    .description(
      'Lists the plans of mirror runs that wait for approval; with a plan, the records whose rows are gone. Sends and writes nothing.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .argument('[plan]', 'id of a plan')
    .option('--limit <all|N>', `show so many records of the plan (default: ${SHOWN})`, allOrCount)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync removals online-retail\n  partner-sync removals online-retail 7 --limit all',
    )
    .action(
      look<[string, string | undefined], RemovalsFlags>(async ({ parts, output }, sync, id, { limit = SHOWN }) => {
        const ledger = await parts.ledger();
        const plans = await ledger.removals.waiting(sync);
        if (plans.length === 0) await assertKnown(parts, sync);
        if (id === undefined) {
          output.result({ sync, plans }, () =>
            plans.length === 0 ? [`no removal plan of ${sync} waits for approval`] : removalLines(sync, plans),
          );
          return EXIT.done;
        }
        const plan = plans.find((p) => p.plan === id);
        if (plan === undefined)
          throw new PartnerSyncError(
            'input_invalid',
            `no removal plan ${id} of ${sync} waits; waiting: ${plans.map((p) => p.plan).join(', ') || 'none'}`,
          );
        const records = await recordsOf(ledger, id, limit === 'all' ? Infinity : limit);
        output.result({ sync, ...plan, vanished: records }, () => [
          ...removalLines(sync, [plan]),
          '',
          ...table(
            ['tenant', 'external id'],
            records.map((r) => [r.tenant, r.externalId]),
          ),
          ...(records.length < plan.records ? [`... and ${plan.records - records.length} more (--limit all)`] : []),
        ]);
        return EXIT.done;
      }),
    );
}

async function recordsOf(
  { removals }: LedgerView,
  plan: string,
  limit: number,
): Promise<Pick<PlannedRemoval, 'tenant' | 'externalId'>[]> {
  const found: Pick<PlannedRemoval, 'tenant' | 'externalId'>[] = [];
  for (let after: RemovalKey | null = null; found.length < limit;) {
    const page: readonly PlannedRemoval[] = await removals.page(plan, after, Math.min(AT_ONCE, limit - found.length));
    found.push(...page.map(({ tenant, externalId }) => ({ tenant, externalId })));
    after = page.at(-1) ?? null;
    if (after === null) break;
  }
  return found;
}
