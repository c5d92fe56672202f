/** Worker versioning: a run ends on the version that it began on, while new runs go to the current one. */
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { partnerSync } from '../cli/command-line.js';
import { runInProcess } from '../cli/in-process.js';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';
import { nextRelease, type Release } from './next-release.js';
import { COMMANDS, NEW, OLD, temporalCommand } from './rollout-commands.js';

let next: Release;
beforeAll(async () => {
  await build();
  next = await nextRelease(NEW);
});
afterAll(() => next.remove());

/** The commands of the page; the fourth one looks at the old version. */
type SixCommands = [string, string, string, string, string, string];
const [LIST, RAMP, PROMOTE, LOOK, ROLL_BACK, MOVE] = COMMANDS as SixCommands;

/** A worker of this release, which is the old one on the page. */
const oldWorker = (shop: Shop, versioning: string): Promise<WorkerProcess> =>
  started(shop, { PARTNER_SYNC_WORKER_VERSIONING: versioning, PARTNER_SYNC_BUILD_ID: OLD });

/** A worker of the next release, which is known by the version of its package. */
const newWorker = (shop: Shop, versioning: string): Promise<WorkerProcess> =>
  started(shop, { PARTNER_SYNC_WORKER_VERSIONING: versioning }, next.cli);

async function started(...arguments_: Parameters<typeof startWorkerProcess>): Promise<WorkerProcess> {
  const worker = await startWorkerProcess(...arguments_);
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

/** Runs a command of the page for the shop's deployment, again while it is refused: Temporal has yet to notice a worker. */
const run = (shop: Shop, command: string, id = ''): Promise<string> => {
  let refusal: unknown;
  return eventually(command, () =>
    temporalCommand(command, { 'partner-sync': shop.taskQueue, '<id>': id }).catch((error: unknown) => {
      refusal = error;
      return undefined;
    }),
  ).catch(() => Promise.reject(refusal as Error));
};

/** Holds the uploads of a schema definition, or all of them, by `503`. */
function holdUploads(shop: Shop): { of(schema: string): void; readonly release: () => void } {
  let held: string | undefined = '';
  shop.proxy.fail(({ upload, path }) =>
    upload && held !== undefined && path.startsWith(`/api/resources/${held}`)
      ? { forward: false, answer: { status: 503, headers: { 'retry-after': '1' }, body: '{}' } }
      : undefined,
  );
  return { of: (schema) => (held = schema), release: () => (held = undefined) };
}

/** Which release's code a run has: undefined for this one's, which notes nothing. */
const releaseOf = async (handle: WorkflowHandle): Promise<unknown> => (await handle.describe()).memo?.['release'];

/** The processes that worked on a run, by the identities in its history: of workflow tasks, in turn, and of activities. */
async function workedOn(handle: WorkflowHandle): Promise<{ workflow: string[]; activities: string[] }> {
  const { events } = await handle.fetchHistory();
  const pids = (identities: (string | null | undefined)[]): string[] =>
    identities.filter((each) => each != null).map((each) => each.split('@')[0]!);
  const workflow = pids(events!.map((event) => event.workflowTaskCompletedEventAttributes?.identity));
  return {
    workflow: workflow.filter((pid, i) => pid !== workflow[i - 1]),
    activities: [...new Set(pids(events!.map((event) => event.activityTaskStartedEventAttributes?.identity)))],
  };
}

it('keeps a run on the version that it began on, and gives new runs to the current one', async () => {
  expect(COMMANDS.length).toBe(6);
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await fill(shop, 20);
  const first = await oldWorker(shop, 'pinned');
  const pidOf = ({ child }: WorkerProcess): string[] => [String(child.pid)];

  const before = await eventually('Temporal lists the worker', async () => {
    const found = await doctor(shop);
    return found['versions'] && found;
  });
  expect(before['versions']).toMatchObject({
    health: 'FAIL',
    what: `${shop.taskQueue} has no current version, so no worker gets any work; polling: ${OLD}`,
    remedy: `temporal worker deployment set-current-version --namespace default --deployment-name ${shop.taskQueue} --build-id ${OLD}`,
  });
  expect(before['workers']).toMatchObject({ health: 'skip' });

  await run(shop, before['versions']!.remedy!);
  const current = await doctor(shop);
  expect(current['versions']).toMatchObject({ health: 'ok' });
  expect(current['workers']).toMatchObject({ health: 'ok', what: expect.stringContaining('which responds') as string });

  let uploads = holdUploads(shop);
  const old = await shop.start('sync', { sync: SYNC });
  await eventually('the first upload', () => Promise.resolve(shop.proxy.uploads() > 0));
  const second = await newWorker(shop, 'pinned');
  await eventually('both are listed', async () => (await run(shop, LIST)).includes(NEW));
  await run(shop, RAMP);
  await run(shop, PROMOTE);
  uploads.release();
  const young = await shop.start('backfill', { sync: SYNC, mapping: 'customers', externalIds: ['1', '2'] });

  expect(await old.result()).toMatchObject({ outcome: 'complete', total: { accepted: 60 } });
  expect(await young.result()).toMatchObject({ outcome: 'complete' });
  expect(await workedOn(old)).toEqual({ workflow: pidOf(first), activities: pidOf(first) });
  expect(await workedOn(young)).toEqual({ workflow: pidOf(second), activities: pidOf(second) });
  expect([await releaseOf(old), await releaseOf(young)]).toEqual([undefined, NEW]);
  expect(await run(shop, LOOK)).toMatch(/DrainageStatus +drain/);
  expect(await shop.differences()).toBe(0);

  // Back to the old version; then its workers are gone before its run has ended.
  await run(shop, ROLL_BACK);
  await shop.source.query(`UPDATE shop.customers SET name = name || '!', updated_at = now()`);
  const sent = shop.proxy.uploads();
  uploads = holdUploads(shop);
  const left = await shop.start('sync', { sync: SYNC });
  await eventually('an upload', () => Promise.resolve(shop.proxy.uploads() > sent));
  await temporalCommand(
    `temporal worker deployment set-current-version --deployment-name ${shop.taskQueue} --build-id 3 --allow-no-pollers --ignore-missing-task-queues`,
  );
  expect((await doctor(shop))['versions']).toMatchObject({
    health: 'FAIL',
    what: `the current version of ${shop.taskQueue} is 3, which no worker has; polling: ${OLD}, ${NEW}`,
    remedy: expect.stringMatching(
      new RegExp(`^start a worker of version 3, or: temporal worker .* --build-id ${NEW}$`),
    ) as string,
  });
  first.child.kill('SIGKILL');
  await run(shop, MOVE, left.workflowId);
  uploads.release();

  expect(await left.result()).toMatchObject({ outcome: 'complete', total: { accepted: 20 } });
  expect((await workedOn(left)).workflow).toEqual([...pidOf(first), ...pidOf(second)]);
  // The next release's code has replayed the history without the change that it would make in a run of its own.
  expect(await releaseOf(left)).toBeUndefined();
  expect(await shop.differences()).toBe(0);
});

it('moves a run to the version that becomes current with auto-upgrade, and back again by a rollback', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await fill(shop, 20);
  const [first, second] = [await oldWorker(shop, 'auto-upgrade'), await newWorker(shop, 'auto-upgrade')];
  await run(shop, ROLL_BACK);
  // The uploads of one schema definition after the other are held.
  const uploads = holdUploads(shop);
  uploads.of('customer');
  const heldAt = (schema: string) =>
    eventually(`an upload of ${schema}`, () =>
      Promise.resolve(shop.proxy.requests.some(({ path, upload }) => upload && path.includes(`/${schema}`))),
    );
  const moved = await shop.start('sync', { sync: SYNC });
  await heldAt('customer');
  await run(shop, PROMOTE);
  uploads.of('order');
  await heldAt('order');
  await run(shop, ROLL_BACK);
  uploads.release();

  expect(await moved.result()).toMatchObject({ outcome: 'complete', total: { accepted: 60 } });
  expect((await workedOn(moved)).workflow).toEqual([first.child.pid, second.child.pid, first.child.pid].map(String));
  expect(await shop.differences()).toBe(0);
});

it.each([
  ['PARTNER_SYNC_WORKER_VERSIONING', 'Pinned', 'must be off, pinned or auto-upgrade; did you mean pinned?'],
  ['PARTNER_SYNC_DEPLOYMENT_NAME', 'a.b', 'must be the name of a Worker Deployment'],
  ['PARTNER_SYNC_BUILD_ID', 'a b', 'must be a version such as 0.1.0'],
])('a worker does not start with %s=%s', async (name, value, message) => {
  const { code, stderr } = await partnerSync(['worker'], { PARTNER_SYNC_WORKER_VERSIONING: 'pinned', [name]: value });
  expect(stderr).toContain(`config_invalid: ${name} ${message}`);
  expect(code).toBe(2);
});
