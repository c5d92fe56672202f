/** Following a run from the command line: the command ends when the run does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { eventually, fill, openShop, SYNC } from '../pipeline/shop.js';
import { build } from '../pipeline/worker-process.js';
import { partnerSync } from './command-line.js';
import { runInProcess } from './in-process.js';

beforeAll(build);

it('ends with its run, even while it waits for a reply of the workflow', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  const command = partnerSync(['run', SYNC], shop.env);
  const { workflowId } = await eventually('the run', async () => {
    for await (const run of shop.client.workflow.list({ query: `TaskQueue = '${shop.taskQueue}'` })) return run;
    return undefined;
  });
  // Time for a query of the workflow, which no worker answers: the server lets it wait for much longer than this test may take.
  await sleep(1000);

  await shop.client.workflow.getHandle(workflowId).terminate('by hand');

  const { code, stderr } = await command;
  expect(code).toBe(1);
  expect(stderr).toContain('run_stopped: terminated: by hand');
});

it('ends with its run, even right after it began to follow it', async () => {
  // The run ends between two looks, and later than the first.
  const shop = await openShop({ sandbox: { processingDelay: 1500 } });
  onTestFinished(() => shop.close());
  await fill(shop, 3);
  await shop.work();

  const { code, stdout, stderr } = await partnerSync(['run', SYNC], shop.env);

  expect(code).toBe(0);
  expect(stdout).toContain('COMPLETE');
  // What was delivered is no longer in flight, and nothing is counted of which there is none.
  expect(stderr).toMatch(/customers: done in .*; 3 read, 3 accepted/);
  expect(stderr).not.toMatch(/\b0 /);
});

it.each(['run', 'backfill'])(
  '%s --detach starts the workflow and leaves, before any worker has taken it up',
  async (command) => {
    const shop = await openShop();
    onTestFinished(() => shop.close());

    const { code, json } = await runInProcess([command, SYNC, '--detach', '--json'], shop.env);

    const { workflowId } = json<{ workflowId: string }>();
    const handle = shop.client.workflow.getHandle(workflowId);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(code).toBe(0);
    await handle.terminate();
  },
);

it.each([
  { args: ['run', 'no-sync', '--limit', '5', '--mode', 'full'], begins: 'starting a run of no-sync ...' },
  { args: ['backfill', 'no-sync', '--external-id', '7'], begins: 'starting a backfill of no-sync ...' },
  { args: ['dead-letters', 'replay', SYNC], begins: `starting a replay of dead letters of ${SYNC} ...` },
  { args: ['preview', SYNC], begins: `reading what a run of ${SYNC} would send ...` },
  { args: ['reconcile', SYNC], begins: `comparing the rows of ${SYNC} ...` },
  { args: ['worker'], begins: 'starting a worker ...' },
  { args: ['sandbox'], begins: 'starting the sandbox ...' },
])('$args says what it begins before it connects to anything', async ({ args, begins }) => {
  // Nothing that it needs is there: it can do no more than begin.
  const { code, stderr } = await runInProcess(args);

  expect(stderr.split('\n')[0]).toBe(begins);
  expect(stderr).toMatch(/^error (config|input)_invalid/m);
  expect(code).toBe(2);
});
