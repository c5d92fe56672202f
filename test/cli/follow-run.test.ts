/** Following a run from the command line, where nobody works on it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { eventually, openShop, SYNC } from '../pipeline/shop.js';
import { build } from '../pipeline/worker-process.js';
import { partnerSync } from './command-line.js';

beforeAll(build, 120_000);

it('ends with its run, though it still waits for an answer of the workflow', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  const command = partnerSync(['run', SYNC], shop.env);
  const { workflowId } = await eventually('the run', async () => {
    for await (const run of shop.client.workflow.list({ query: `TaskQueue = '${shop.taskQueue}'` })) return run;
    return undefined;
  });
  // Time for a question to the workflow, which no worker answers: the server lets it wait for much longer than this test may take.
  await sleep(1000);

  await shop.client.workflow.getHandle(workflowId).terminate('by hand');

  const { code, stderr } = await command;
  expect(code).toBe(1);
  expect(stderr).toContain('run_stopped: terminated: by hand');
}, 20_000);
