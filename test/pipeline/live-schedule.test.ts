/** Schedules in mode live, which are always on, on real servers; and what commands say of them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { createNamespace } from '../temporal-namespace.js';
import { fedShop } from './fed-shop.js';
import { eventually, fill, SYNC } from './shop.js';
import { filesOf } from './shop-files.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

it('start a run, leave it alone for as long as it follows, and start another one soon after it has ended', async () => {
  const shop = await fedShop(server, { env: { TEMPORAL_NAMESPACE: await createNamespace() } });
  await fill(shop, 5);
  const files = filesOf({ changes: `{ slot: ${shop.slot}, publication: ${shop.slot} }` });
  shop.write('sync.yaml', `${files['sync.yaml']}schedules: [{ name: live, mode: live }]\n`);
  expect(await runInProcess(['schedules', 'apply', SYNC], shop.env)).toMatchObject({ code: 0 });
  const handle = shop.client.schedule.getHandle(`partner-sync/${SYNC}/live`);
  expect((await handle.describe()).spec.intervals).toMatchObject([{ every: 60_000 }]);
  const trigger = () => runInProcess(['schedules', 'trigger', SYNC], shop.env);
  const runs = () =>
    shop.state.query<{ id: string; workflow_id: string; outcome: string | null }>(
      'SELECT id, workflow_id, outcome FROM partner_sync.runs ORDER BY id',
    );
  await trigger();
  await eventually('that all is loaded', async () => (await shop.differences()) === 0);

  await trigger();
  await eventually(
    'that the start was skipped',
    async () => (await handle.describe()).info.numActionsSkippedOverlap > 0,
  );
  expect(await runs()).toHaveLength(1);
  const list = await runInProcess(['schedules', 'list', SYNC, '--json'], shop.env);
  expect(JSON.parse(list.stdout)).toMatchObject({
    schedules: [{ skipped: 0, missed: 0, next: [], note: 'always on; declared in shop/sync.yaml' }],
  });
  const status = await runInProcess(['status', SYNC], shop.env);
  expect(status).toMatchObject({ code: 0 });
  expect(status.stdout).not.toContain('skipped');

  const [first] = await runs();
  await shop.client.workflow.getHandle(first!.workflow_id).cancel();
  const second = await eventually('that a run follows again', async () => (await runs())[1], 90);
  expect(second).toMatchObject({ outcome: null });
  expect((await runs())[0]).toMatchObject({ outcome: 'complete' });
  await handle.delete();
  await shop.client.workflow.getHandle(second.workflow_id).cancel();
  await eventually('that it has ended', async () => (await runs())[1]?.outcome !== null);
});

it('leave no trace of starts beside a run that somebody has started, and start one once that has ended', async () => {
  const shop = await fedShop(server, { env: { TEMPORAL_NAMESPACE: await createNamespace() } });
  await fill(shop, 5);
  const files = filesOf({ changes: `{ slot: ${shop.slot}, publication: ${shop.slot} }` });
  shop.write('sync.yaml', `${files['sync.yaml']}schedules: [{ name: live, mode: live }]\n`);
  const own = await shop.start('sync', { sync: SYNC, mode: 'live' });
  await eventually('that all is loaded', async () => (await shop.differences()) === 0);

  expect(await runInProcess(['schedules', 'apply', SYNC], shop.env)).toMatchObject({ code: 0 });
  const handle = shop.client.schedule.getHandle(`partner-sync/${SYNC}/live`);
  await runInProcess(['schedules', 'trigger', SYNC], shop.env);
  const { workflowId } = await eventually(
    'that it has started a workflow',
    async () => (await handle.describe()).info.recentActions[0]?.action.workflow,
  );
  expect(await shop.client.workflow.getHandle(workflowId).result()).toEqual({
    activeRun: { run: '1', workflowId: own.workflowId },
  });
  const runs = () =>
    shop.state.query<{ outcome: string | null; trigger: string; workflow_id: string }>(
      'SELECT outcome, trigger, workflow_id FROM partner_sync.runs ORDER BY started_at',
    );
  expect(await runs()).toMatchObject([{ outcome: null, trigger: 'other' }]);
  const status = await runInProcess(['status', SYNC], shop.env);
  expect(status).toMatchObject({ code: 0 });
  expect(status.stdout).not.toContain('refused');

  await own.cancel();
  // Incomplete, if it has delivered everything and not yet noted that it has.
  await own.result().catch(() => undefined);
  const next = await eventually('that its own run follows', async () => (await runs())[1], 90);
  expect(next).toMatchObject({ outcome: null, trigger: 'schedule' });
  await handle.delete();
  await shop.client.workflow.getHandle(next.workflow_id).cancel();
  await eventually('that it has ended', async () => (await runs())[1]?.outcome !== null);
});
