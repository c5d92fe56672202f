/** Removal plans for people: what was done with the records of vanished rows, or what a person must decide. */
import type { RemovalPlan } from '../../domain/run/removal-plan.js';

/**
 * Lines about the plans, with the commands to copy; none for a plan without vanished rows. One of the `activeRuns` may be
 * on hold for its plan; any other plan is approved by a new run.
 */
export const removalLines = (
  sync: string,
  plans: readonly RemovalPlan[],
  activeRuns: readonly string[] = [],
): string[] => plans.flatMap((plan) => linesOf(sync, plan, activeRuns.includes(plan.run)));

const count = (n: number): string => n.toLocaleString('en-GB');

function linesOf(sync: string, removal: RemovalPlan, isRunActive: boolean): string[] {
  const { plan, run, mapping, state, records, accepted, idsChangedAt } = removal;
  const share = `${count(records)} of ${count(accepted)} ${accepted === 1 ? 'record' : 'records'}`;
  switch (state) {
    case 'awaiting_approval':
      return [
        `${mapping}: the rows of ${share} are gone, too many to remove without approval; nothing was done to them.`,
        ...(idsChangedAt === null
          ? []
          : [
              `  Since ${idsChangedAt}, ${mapping} has made its external ids in another way: no row has the earlier ids any more.`,
              `  Before you approve, send the records under their new ids: partner-sync run ${sync} --mode full`,
            ]),
        `  review:  partner-sync removals ${sync} ${plan}`,
        ...(isRunActive
          ? [`  approve: partner-sync approve ${sync} (while run ${run} is on hold for it), or afterwards`]
          : []),
        `  approve: partner-sync run ${sync} --mode mirror --approve ${plan}`,
      ];
    case 'empty':
      return [
        `${mapping}: the source has no rows at all; nothing was done to its records on the platform (${count(accepted)}). An emptied table is never mirrored.`,
      ];
    case 'done':
      return records === 0 ? [] : [`${mapping}: the rows of ${share} were found gone; ${outcomesOf(removal)}.`];
    default:
      return [`${mapping}: the rows of ${share} are gone; plan ${plan} is ${state}.`];
  }
}

/**
 * What was done, which may differ from what was planned: rows may have come back, and the platform may reject a
 * removal.
 */
function outcomesOf({ records, marked, waiting, deadLettered }: RemovalPlan): string {
  const back = Math.max(0, records - marked - waiting - deadLettered);
  return [
    `${count(marked)} marked as \`deletes\` says`,
    ...(waiting > 0 ? [`${count(waiting)} waiting`] : []),
    ...(deadLettered > 0 ? [`${count(deadLettered)} rejected by the platform (dead letters)`] : []),
    ...(back > 0 ? [`${count(back)} left alone, as their rows had come back`] : []),
  ].join(', ');
}
