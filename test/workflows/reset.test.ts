/** A run that somebody resets in the Temporal Web UI after its end: it says that a new one is needed, and does nothing. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { WorkflowFailedError } from '@temporalio/client';
import { fill, shopForTest, SYNC } from '../pipeline/shop.js';

it('fails at once if it is reset to before a partition was read', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  const handle = await shop.start('sync', { sync: SYNC, mappings: ['customers'] });
  expect(await handle.result()).toMatchObject({ outcome: 'complete' });
  const { events } = await handle.fetchHistory();
  const named = (name: string) =>
    events!.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name);
  const before = named('loadPartition')!.activityTaskScheduledEventAttributes!.workflowTaskCompletedEventId!;
  const { runId } = (await handle.describe()).raw.workflowExecutionInfo!.execution!;

  await shop.client.workflowService.resetWorkflowExecution({
    namespace: shop.client.options.namespace,
    workflowExecution: { workflowId: handle.workflowId, runId },
    workflowTaskFinishEventId: before,
    requestId: randomUUID(),
    reason: 'test',
  });

  const failure: unknown = await shop.client.workflow
    .getHandle(handle.workflowId)
    .result()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect(String((failure as WorkflowFailedError).cause)).toContain('has ended already');
  expect(await shop.state.query('SELECT outcome FROM partner_sync.runs')).toEqual([{ outcome: 'complete' }]);
});
