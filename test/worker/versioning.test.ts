/** Worker versioning: a run ends on the version that it began on, while new runs go to the current one. */
import type { WorkflowHandle } from '@temporalio/client';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { partnerSync } from '../cli/command-line.js';
import { runInProcess } from '../cli/in-process.js';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';

beforeAll(build, 200_000);

async function versionOf(shop: Shop, buildId: string, versioning = 'pinned'): Promise<WorkerProcess> {
  const worker = await startWorkerProcess(shop, {
    PARTNER_SYNC_WORKER_VERSIONING: versioning,
    PARTNER_SYNC_BUILD_ID: buildId,
  });
  onTestFinished(() => void worker.child.kill('SIGKILL'));
  return worker;
}

interface Examined {
  readonly name: string;
  readonly health: string;
  readonly what: string;
  readonly remedy?: string;
}
async function doctor(shop: Shop): Promise<Readonly<Record<string, Examined>>> {
  const { json } = await runInProcess(['doctor', SYNC, '--json'], shop.env);
  return Object.fromEntries(json<{ examined: Examined[] }>().examined.map((each) => [each.name, each]));
}

/** As `temporal worker deployment set-current-version` does it; refused until Temporal knows the version. */
const makeCurrent = (shop: Shop, buildId: string, more: object = {}): Promise<unknown> =>
  eventually(`version ${buildId} is current`, () =>
    shop.client.workflowService
      .setWorkerDeploymentCurrentVersion({
        namespace: 'default',
        deploymentName: shop.taskQueue,
        buildId,
        identity: 'test',
        ...more,
      })
      .then(
        () => true,
        () => false,
      ),
  );

/** The processes that worked on a run, by the identities in its history: of workflow tasks and of activities. */
async function workedOn(handle: WorkflowHandle): Promise<{ workflow: string[]; activities: string[] }> {
  const { events } = await handle.fetchHistory();
  const distinct = (identities: (string | null | undefined)[]): string[] => [
    ...new Set(identities.filter((each) => each != null).map((each) => each.split('@')[0]!)),
  ];
  return {
    workflow: distinct(events!.map((event) => event.workflowTaskCompletedEventAttributes?.identity)),
    activities: distinct(events!.map((event) => event.activityTaskStartedEventAttributes?.identity)),
  };
}

it('keeps a run on the version that it began on, and gives new runs to the current one', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await fill(shop, 20);
  const first = await versionOf(shop, '1');
  const pidOf = ({ child }: WorkerProcess): string[] => [String(child.pid)];

  const before = await eventually('Temporal lists the worker', async () => {
    const found = await doctor(shop);
    return found['versions'] && found;
  });
  expect(before['versions']).toMatchObject({
    health: 'FAIL',
    what: `${shop.taskQueue} has no current version, so no worker gets any work; polling: 1`,
    remedy: `temporal worker deployment set-current-version --namespace default --deployment-name ${shop.taskQueue} --build-id 1`,
  });
  expect(before['workers']).toMatchObject({ health: 'skip' });

  await makeCurrent(shop, '1');
  const current = await doctor(shop);
  expect(current['versions']).toMatchObject({ health: 'ok' });
  expect(current['workers']).toMatchObject({ health: 'ok', what: expect.stringContaining('which responds') as string });

  let isHeld = true;
  shop.proxy.fail(({ upload }) =>
    upload && isHeld
      ? { forward: false, answer: { status: 503, headers: { 'retry-after': '1' }, body: '{}' } }
      : undefined,
  );
  const old = await shop.start('sync', { sync: SYNC });
  await eventually('the first upload', () => Promise.resolve(shop.proxy.uploads() > 0));
  const second = await versionOf(shop, '2');
  await makeCurrent(shop, '2');
  isHeld = false;
  const young = await shop.start('backfill', { sync: SYNC, mapping: 'customers', externalIds: ['1', '2'] });

  expect(await old.result()).toMatchObject({ outcome: 'complete', total: { accepted: 60 } });
  expect(await young.result()).toMatchObject({ outcome: 'complete' });
  expect(await workedOn(old)).toEqual({ workflow: pidOf(first), activities: pidOf(first) });
  expect(await workedOn(young)).toEqual({ workflow: pidOf(second), activities: pidOf(second) });
  expect(await shop.differences()).toBe(0);

  await makeCurrent(shop, '3', { allowNoPollers: true, ignoreMissingTaskQueues: true });
  expect((await doctor(shop))['versions']).toMatchObject({
    health: 'FAIL',
    what: `the current version of ${shop.taskQueue} is 3, which no worker has; polling: 1, 2`,
    remedy: expect.stringMatching(/^start a worker of version 3, or: temporal worker .* --build-id 2$/) as string,
  });
}, 240_000);

it('moves a run to the version that becomes current with auto-upgrade, and back again by a rollback', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await fill(shop, 20);
  const [first, second] = [await versionOf(shop, '1', 'auto-upgrade'), await versionOf(shop, '2', 'auto-upgrade')];
  await makeCurrent(shop, '1');
  // The uploads of one schema definition after the other are held.
  let held = 'customer';
  shop.proxy.fail(({ upload, path }) =>
    upload && path.startsWith(`/api/resources/${held}`)
      ? { forward: false, answer: { status: 503, headers: { 'retry-after': '1' }, body: '{}' } }
      : undefined,
  );
  const heldAt = (schema: string) =>
    eventually(`an upload of ${schema}`, () =>
      Promise.resolve(shop.proxy.requests.some(({ path, upload }) => upload && path.includes(`/${schema}`))),
    );
  const run = await shop.start('sync', { sync: SYNC });
  await heldAt('customer');
  await makeCurrent(shop, '2');
  held = 'order';
  await heldAt('order');
  await makeCurrent(shop, '1');
  held = 'nothing';

  expect(await run.result()).toMatchObject({ outcome: 'complete', total: { accepted: 60 } });
  const { events } = await run.fetchHistory();
  const identities = events!.flatMap(({ workflowTaskCompletedEventAttributes: task }) => task?.identity ?? []);
  const pids = identities.map((identity) => Number(identity.split('@')[0]));
  expect(pids.filter((pid, i) => pid !== pids[i - 1])).toEqual([first.child.pid, second.child.pid, first.child.pid]);
  expect(await shop.differences()).toBe(0);
}, 240_000);

it.each([
  ['PARTNER_SYNC_WORKER_VERSIONING', 'Pinned', 'must be off, pinned or auto-upgrade; did you mean pinned?'],
  ['PARTNER_SYNC_DEPLOYMENT_NAME', 'a.b', 'must be the name of a Worker Deployment'],
  ['PARTNER_SYNC_BUILD_ID', 'a b', 'must be a version such as 0.1.0'],
])('a worker does not start with %s=%s', async (name, value, message) => {
  const { code, stderr } = await partnerSync(['worker'], { PARTNER_SYNC_WORKER_VERSIONING: 'pinned', [name]: value });
  expect(stderr).toContain(`config_invalid: ${name} ${message}`);
  expect(code).toBe(2);
});
