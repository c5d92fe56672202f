/** Makes a run's removal plan for a mapping, and decides whether it needs approval. */
import { exceeds, type Exceeded } from '../../domain/sync/guard.js';
import type { OpenPlan, TenantRemovals } from '../../ledger/removals.js';
import { deletedRecords } from '../../mapping/compile/deleted-record.js';
import { isEmpty } from '../../reading/is-empty.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';
import { assertFindable, findVanished } from './find-vanished.js';

export interface PlanningRun {
  readonly runId: string;
  /** Whether all records of the ledger are looked through. If not, the plan has those of changed rows alone. */
  readonly isSearched: boolean;
  /** Whether a plan of the run that was carried out is opened again. */
  readonly again: boolean;
  /** Checked between two queries of the source; false ends the time slice. */
  readonly shouldContinue: () => boolean;
}

/**
 * Continues the run's plan. `deletes` of the mapping must have an action.
 *
 * @returns the plan; its state is `finding` if another time slice has to continue it
 * @throws PartnerSyncError `config_invalid` if rows cannot be found by their external ids
 */
export async function planRemovals(
  deps: Dependencies,
  sync: OpenSync,
  mapping: OpenMapping,
  run: PlanningRun,
): Promise<OpenPlan> {
  const { removals, feeds } = deps.ledger;
  const open = (again: boolean) =>
    removals.open(run.runId, mapping.mappingId, deletedRecords(mapping.spec).json('0'), again);
  const plan = await open(run.again);
  if (plan.state !== 'finding') return plan;
  // Not in each time slice: a slow source may take longer for it than one lasts.
  if (!plan.begun) await assertFindable(sync, mapping);
  // An empty source means that something is wrong with it, not that everything was deleted.
  let empty = !plan.begun && (await isEmpty(sync.source, mapping.plan));
  // What the feed tells from now on makes this search void.
  if (run.isSearched && !plan.begun) await feeds.beginSearch(mapping.mappingId, plan.id);
  if (!empty && run.isSearched && !(await findVanished(deps, sync, mapping, plan, run))) return plan;
  empty ||= await isEmpty(sync.source, mapping.plan);
  const tenants = await removals.count(plan);
  const total = totalOf(tenants);
  const exceeded = empty ? null : exceededLimit([total, ...tenants], limitsOf(sync, mapping));
  const state = empty ? 'empty' : exceeded !== null ? 'awaiting_approval' : 'due';
  await removals.decide(plan, state, { records: total.records, accepted: total.accepted, exceeded });
  return open(false);
}

const totalOf = (tenants: readonly TenantRemovals[]): TenantRemovals => {
  const sum = (count: keyof TenantRemovals): number => tenants.reduce((n, tenant) => n + tenant[count], 0);
  return { records: sum('records'), unapproved: sum('unapproved'), accepted: sum('accepted') };
};

interface NamedLimit {
  readonly key: string;
  readonly records: number;
  readonly percent: number;
}

function limitsOf({ spec: { guard } }: OpenSync, { spec: { deletes } }: OpenMapping): NamedLimit[] {
  const own = { key: 'deletes.hold', ...deletes!.hold };
  return guard === null ? [own] : [{ key: 'guard.gone', records: guard.records, percent: guard.gone }, own];
}

/**
 * The first limit that removals exceed which nobody has approved, in all tenants together or in any one of them; null if
 * they exceed none.
 */
function exceededLimit(
  [total, ...tenants]: readonly [TenantRemovals, ...TenantRemovals[]],
  limits: readonly NamedLimit[],
): Exceeded | null {
  for (const limit of limits)
    for (const counts of [total, ...tenants])
      if (exceeds(counts.unapproved, counts.accepted, limit))
        return {
          records: counts.unapproved,
          of: counts.accepted,
          limit: { key: limit.key, percent: limit.percent },
          ...(counts !== total && { ofOneTenant: true }),
        };
  return null;
}
