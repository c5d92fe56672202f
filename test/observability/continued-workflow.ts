/** A workflow that continues as a new execution once; Temporal suggests that to a run only after thousands of events. */
import { continueAsNew, proxyActivities } from '@temporalio/workflow';

const { step } = proxyActivities<{ step(): Promise<void> }>({ startToCloseTimeout: '1m' });

export async function continued(isLast = false): Promise<void> {
  await step();
  if (!isLast) await continueAsNew<typeof continued>(true);
}
