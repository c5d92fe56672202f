/** Pausing a run: it begins nothing new, keeps its lease, and loses nothing. */
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startedBy } from '../../src/cli/actor.js';
import { milliseconds } from '../../src/domain/timeouts.js';
import { runInProcess } from '../cli/in-process.js';
import { startTcpProxy } from '../observability/tcp-proxy.js';
import { eventually, fill, openRunByHand, openShop, shopForTest } from '../pipeline/shop.js';

it('pauses a run while it works, and lets it go on to the same end', async () => {
  const shop = await shopForTest();
  await fill(shop, 300);
  let uploads = 0;
  let paused = false;
  const command = (...args: string[]) => runInProcess(args, shop.env);
  // The first upload is held until the run is paused, so that it is paused in the middle of its first mapping.
  shop.proxy.fail(({ upload }) =>
    upload && ++uploads === 1 && !paused ? { forward: true, answer: 'pass', after: 3000 } : undefined,
  );
  const handle = await shop.start('sync', { sync: 'shop' });
  await eventually('the first upload', () => Promise.resolve(uploads > 0));

  const pause = await command('pause', 'shop', '--reason', 'maintenance');
  paused = true;
  expect(pause).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('paused: activities that were started end') as string,
  });
  await eventually(
    'the first mapping is loaded',
    async () => (await shop.state.query('SELECT 1 FROM partner_sync.partitions WHERE done')).length === 1,
  );
  const before = shop.proxy.uploads();
  await setTimeout(1500);
  expect(shop.proxy.uploads()).toBe(before);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  expect(await handle.query<{ pause: object }, []>('progress')).toMatchObject({ pause: { reason: 'maintenance' } });

  const again = await command('pause', 'shop');
  expect(again).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/pause: the run is paused since .* by .* \(maintenance\) already/) as string,
  });
  const beside = await shop.start('sync', { sync: 'shop' });
  await expect(beside.result()).rejects.toThrow();
  expect(await shop.state.query(`SELECT failure_code FROM partner_sync.runs ORDER BY id DESC LIMIT 1`)).toEqual([
    { failure_code: 'run_in_progress' },
  ]);

  expect(await command('resume', 'shop')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('resumed; it was paused since') as string,
  });
  expect(await handle.result()).toMatchObject({ outcome: 'complete', total: { read: 900, accepted: 900 } });
  expect(await shop.differences()).toBe(0);
  const audit = () =>
    shop.state.query<{ action: string; who: string; subject: object }>(
      `SELECT action, who, subject FROM partner_sync.audit WHERE action LIKE 'run\\_%ed' AND origin = 'cli' ORDER BY id`,
    );
  await eventually('both are in the audit', async () => (await audit()).length === 2);
  expect(await audit()).toMatchObject([
    { action: 'run_paused', who: startedBy(), subject: { run: '1', reason: 'maintenance' } },
    { action: 'run_resumed', who: startedBy(), subject: { run: '1' } },
  ]);
  expect(await command('pause', 'shop')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no run of shop is active') as string,
  });
});

/** A run whose first upload takes four seconds, and has begun. */
async function startedRun() {
  const shop = await shopForTest();
  await fill(shop, 5);
  shop.proxy.fail(({ upload, no }) =>
    upload && no === 0 ? { forward: true, answer: 'pass', after: 4000 } : undefined,
  );
  const handle = await shop.start('sync', { sync: 'shop' });
  await eventually('the first upload', () => Promise.resolve(shop.proxy.uploads() > 0));
  return { shop, handle };
}

it('says that a run has no worker, or no workflow any more, instead of waiting for it', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await openRunByHand(shop);
  const handle = await shop.start('sync', { sync: 'shop' });
  await shop.state.query('UPDATE partner_sync.runs SET workflow_id = $1', [handle.workflowId]);
  const command = (...args: string[]) => runInProcess([...args, 'shop'], shop.env);
  for (const args of [['approve', '--yes'], ['pause']])
    expect(await command(...args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error worker_missing: run 1 did not answer') as string,
    });
  await handle.terminate();
  expect(await command('pause')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `error run_stopped: the workflow ${handle.workflowId} of run 1 does not run any more`,
    ) as string,
  });
});

it('says that workers fail at a run, also if the last of its requests gets no response', async () => {
  const shop = await shopForTest();
  await openRunByHand(shop);
  const handle = await shop.start('unknownToTheWorker' as 'sync', { sync: 'shop' });
  await shop.state.query('UPDATE partner_sync.runs SET workflow_id = $1', [handle.workflowId]);
  await eventually('Temporal asks it nothing any more', async () => {
    const { raw } = await handle.describe();
    return (raw.pendingWorkflowTask?.attempt ?? 0) >= 3;
  });
  const proxy = await startTcpProxy(shop.env['TEMPORAL_ADDRESS']!);
  const pauseSaysSo = async (address: string): Promise<void> =>
    expect(await runInProcess(['pause', 'shop'], { ...shop.env, TEMPORAL_ADDRESS: address })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `error worker_missing: the workers fail to continue the workflow ${handle.workflowId} of run 1`,
      ) as string,
    });
  await pauseSaysSo(shop.env['TEMPORAL_ADDRESS']!);
  // Halfway, the command has been told that the workers fail.
  const halfway = setTimeout(milliseconds('runAnswer') / 2).then(() => proxy.silence());
  await pauseSaysSo(proxy.address);
  await halfway;
  await handle.terminate();
});

it('explains what is wrong with the input of an Update, and writes nothing into the history', async () => {
  const { handle } = await startedRun();
  const update = (name: string, input: unknown): Promise<string> =>
    handle.executeUpdate<string, [unknown]>(name, { args: [input] }).then(
      (answer) => answer,
      (error: Error) => (error.cause as Error).message,
    );

  expect(await update('pause', { reson: 'typo' })).toBe('pause: unknown field "reson"; allowed: by, reason');
  expect(await update('pause', 'now')).toBe('pause: expected nothing, or an object such as {"reason":"maintenance"}');
  expect(await update('pause', { reason: 7 })).toBe('pause: "reason" must be text of at most 200 characters');
  expect(await update('resume', undefined)).toBe('resume: the run is not paused');
  expect(await update('approve', undefined)).toBe('approve: the run is not on hold');
  expect(await update('setRate', { requestsAtOnce: 0 })).toBe(
    'setRate: "requestsAtOnce" must be a whole number from 1 to 64',
  );
  expect(await handle.result()).toMatchObject({ outcome: 'complete' });
  const { events } = await handle.fetchHistory();
  expect(events!.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toEqual([]);
});

it('changes how fast a run sends while it works, for this run only', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  const rates = () => shop.state.query('SELECT at_once, per_second::float8 FROM partner_sync.sync_rates');
  shop.proxy.fail(({ upload, no }) =>
    upload && no === 0 ? { forward: true, answer: 'pass', after: 4000 } : undefined,
  );
  const handle = await shop.start('sync', { sync: 'shop' });
  await eventually('the first upload', () => Promise.resolve(shop.proxy.uploads() > 0));

  const set = ['set-rate', 'shop', '--requests-at-once', '2', '--requests-per-second', '50', '--reason', 'their night'];
  expect(await runInProcess(set, shop.env)).toMatchObject({
    code: 0,
    stdout: 'run 1: shop sends at most 2 requests at once and 50 a second from now on, until its next run begins\n',
  });
  expect(await rates()).toEqual([{ at_once: 2, per_second: 50 }]);
  expect(await shop.state.query(`SELECT who, subject FROM partner_sync.audit WHERE action = 'rate_set'`)).toMatchObject(
    [{ who: startedBy(), subject: { run: '1', requestsAtOnce: 2, requestsPerSecond: 50, reason: 'their night' } }],
  );
  expect(await handle.result()).toMatchObject({ outcome: 'complete' });

  await shop.run();
  expect(await rates()).toEqual([]);
});

it('knows who types a name into the form of an Update from a command', async () => {
  const { shop, handle } = await startedRun();
  // As the Web UI sends it.
  await handle.executeUpdate('pause', { args: [{ by: 'ana' }] });
  await handle.executeUpdate('setRate', { args: [{ by: 'ana', requestsAtOnce: 2 }] });
  expect((await runInProcess(['resume', 'shop'], shop.env)).code).toBe(0);
  expect(await handle.result()).toMatchObject({ outcome: 'complete' });
  const entries = await shop.state.query(
    `SELECT action, who, origin FROM partner_sync.audit WHERE action IN ('run_paused', 'rate_set', 'run_resumed') ORDER BY id`,
  );
  expect(entries).toEqual([
    { action: 'run_paused', who: 'ana', origin: 'temporal' },
    { action: 'rate_set', who: 'ana', origin: 'temporal' },
    { action: 'run_resumed', who: startedBy(), origin: 'cli' },
  ]);
});
