/** What became of records whose rows are gone, for people: their outcomes, or what is to be decided. */
import type { RemovalPlan } from '../domain/removal.js';

export const removalLines = (sync: string, plans: readonly RemovalPlan[]): string[] =>
  plans.flatMap((plan) => linesOf(sync, plan));

const count = (n: number): string => n.toLocaleString('en-GB');

function linesOf(sync: string, removal: RemovalPlan): string[] {
  const { plan, mapping, state, records, accepted } = removal;
  const share = `${count(records)} of ${count(accepted)} records`;
  switch (state) {
    case 'held':
      return [
        `${mapping}: the rows of ${share} are gone, more than \`deletes.hold\` allows; nothing was done to them.`,
        `  look:    partner-sync removals ${sync} ${plan}`,
        `  approve: partner-sync run ${sync} --mode mirror --approve ${plan}`,
      ];
    case 'empty':
      return [
        `${mapping}: the source has no row at all; nothing was done to the ${count(accepted)} records. An emptied table is never mirrored.`,
      ];
    case 'done':
      return records === 0 ? [] : [`${mapping}: the rows of ${share} were found gone; ${outcomesOf(removal)}.`];
    default:
      return [`${mapping}: the rows of ${share} are gone; plan ${plan} is ${state}.`];
  }
}

/** From the books, not from the plan: what was planned and what was done are two things. */
function outcomesOf({ records, marked, waiting, deadLettered }: RemovalPlan): string {
  const back = Math.max(0, records - marked - waiting - deadLettered);
  return [
    `${count(marked)} marked as \`deletes\` says`,
    ...(waiting > 0 ? [`${count(waiting)} waiting`] : []),
    ...(deadLettered > 0 ? [`${count(deadLettered)} refused by the platform (dead letters)`] : []),
    ...(back > 0 ? [`${count(back)} left alone, since their rows were back`] : []),
  ].join(', ');
}
