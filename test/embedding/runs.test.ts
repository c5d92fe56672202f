/** `startRun` and `findRun` against a real Temporal: reports, failures, progress and cancelling. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findRun, startRun, type RunHandle } from '../../src/index.js';
import { errorOf } from '../platform/stub-platform.js';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';

let shop: Shop;
const open: RunHandle[] = [];
const opened = async (handle: Promise<RunHandle>): Promise<RunHandle> => {
  open.push(await handle);
  return handle;
};

beforeAll(async () => {
  shop = await openShop();
  await fill(shop, 10);
});
afterAll(async () => {
  await Promise.all(open.map((handle) => handle.close()));
  await shop.close();
});

it('a run has a workflow of its own, can be found again, and is reported once it has ended', async () => {
  const started = await opened(startRun('sync', { sync: SYNC, mode: 'full' }, { env: shop.env }));
  const conflict = { env: shop.env, workflowId: started.workflowId };
  expect(await errorOf(startRun('sync', { sync: SYNC }, conflict))).toMatchObject({
    code: 'input_invalid',
    message: `a workflow with the id ${started.workflowId} is running already`,
  });
  await shop.work();

  const found = await opened(findRun(started.workflowId, { env: shop.env }));

  expect(await found.result()).toMatchObject({ sync: SYNC, outcome: 'complete', total: { accepted: 30 } });
  expect(await started.progress()).toEqual(
    expect.arrayContaining([expect.objectContaining({ mapping: 'customers', read: 10, accepted: 10, done: true })]),
  );
});

it('a run that fails rejects with the code of its cause', async () => {
  const failing = await opened(startRun('backfill', { sync: SYNC, mappings: ['nobody'] }, { env: shop.env }));

  expect(await errorOf(failing.result())).toMatchObject({ code: 'input_invalid' });
});

it('a run that is cancelled rejects with run_stopped', async () => {
  await shop.rest();
  const run = await opened(startRun('sync', { sync: SYNC }, { env: shop.env }));

  await run.cancel();
  await shop.work();

  expect(await errorOf(run.result())).toMatchObject({ code: 'run_stopped' });
  await eventually('the run is over', async () =>
    (await shop.parts.ledger()).runs.notEnded(SYNC).then((runs) => runs.length === 0),
  );
});

it('an input that the workflow would refuse is refused at once', async () => {
  const wrong = { sync: SYNC, mode: 'all' } as never;

  expect(await errorOf(startRun('sync', wrong, { env: shop.env }))).toMatchObject({ code: 'input_invalid' });
});
