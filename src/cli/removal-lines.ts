/** What became of records whose rows are gone, for people: done, or what they have to decide. */
import type { RemovalPlan } from '../domain/removal.js';

export const removalLines = (sync: string, plans: readonly RemovalPlan[]): string[] =>
  plans.flatMap((plan) => linesOf(sync, plan));

function linesOf(sync: string, { plan, mapping, state, records, accepted }: RemovalPlan): string[] {
  const count = (n: number): string => n.toLocaleString('en-GB');
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
      return records === 0 ? [] : [`${mapping}: the rows of ${share} are gone; they were treated as \`deletes\` says.`];
    default:
      return [`${mapping}: the rows of ${share} are gone; plan ${plan} is ${state}.`];
  }
}
