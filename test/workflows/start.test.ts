/** Runs as people start them in the Web UI: any workflow id, one JSON object; and one run of a sync at a time. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import type { RunKind, RunReport } from '../../src/domain/run/run.js';
import { eventually, failureOf, fill, NO_OPEN_ENDS, openEnds, shopForTest, type Shop } from '../pipeline/shop.js';

/** That of the client in this process, as the SDK names it. */
const IDENTITY = `${process.pid}@${hostname()}`;
/** What the audit says of who has stopped runs. */
const stopsOf = (shop: Shop) =>
  shop.state.query(
    `SELECT action, who, subject FROM partner_sync.audit WHERE action IN ('run_cancelled', 'run_terminated') ORDER BY id`,
  );

it('names a sync that does not exist, once every worker had time to look for it', async () => {
  const shop = await shopForTest();
  const { type, message } = await failureOf(await shop.start('sync', { sync: 'shopp' }));
  expect(type).toBe('config_invalid');
  expect(message).toContain('shopp');
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

/** A run that has sent something and cannot go on: the platform does not process its batches. */
async function stuckRun(shop: Shop, kind: RunKind = 'sync') {
  await fill(shop, 100);
  shop.proxy.fail(({ upload }) =>
    upload ? undefined : { forward: false, answer: { status: 503, body: '{"message":"busy"}' } },
  );
  const run = await shop.start(kind, { sync: 'shop' }, `typed by hand ${randomUUID()}`);
  await eventually('the first upload', () => Promise.resolve(shop.proxy.uploads() > 0));
  return run;
}

it('refuses a second run of a sync and says which run holds the lease', async () => {
  const shop = await shopForTest();
  const first = await stuckRun(shop);

  const second = await failureOf(await shop.start('sync', { sync: 'shop' }));

  expect(second.type).toBe('run_in_progress');
  expect(second.message).toContain(first.workflowId);
  shop.proxy.fail(undefined);
  expect(((await first.result()) as RunReport).outcome).toBe('complete');
  expect((await shop.run()).outcome).toBe('complete');
  const runs = await shop.state.query('SELECT outcome FROM partner_sync.runs ORDER BY id');
  expect(runs.map((r) => r['outcome'] as string)).toEqual(['complete', 'failed', 'complete']);
});

it('lets exactly one of many simultaneous runs proceed', async () => {
  const shop = await shopForTest({ sandbox: { processingDelay: 500 } });
  await fill(shop, 50);

  const ends = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const handle = await shop.start('sync', { sync: 'shop' });
      return handle.result().then(
        (report) => (report as RunReport).outcome as string,
        async () => (await failureOf(handle)).type,
      );
    }),
  );

  expect(ends.filter((end) => end === 'complete')).toHaveLength(1);
  expect(ends.filter((end) => end === 'run_in_progress')).toHaveLength(5);
  expect(await shop.differences()).toBe(0);
});

for (const kind of ['sync', 'backfill'] as const)
  it(`takes over from a ${kind} that was terminated in the Web UI, and delivers what it left unfinished`, async () => {
    const shop = await shopForTest({ upload: { batchSize: 10 } });
    const first = await stuckRun(shop, kind);
    await first.terminate('by hand');
    // Its attempt must not come to its end after all.
    await shop.rest();
    expect((await openEnds(shop))['batches']).toBeGreaterThan(0);
    shop.proxy.fail(undefined);
    await shop.work();

    const report = await shop.run();

    expect(report).toMatchObject({ outcome: 'complete', total: { read: 300, waiting: 0 } });
    expect(await stopsOf(shop)).toMatchObject([
      { action: 'run_terminated', who: IDENTITY, subject: { run: '1', reason: 'by hand' } },
    ]);
    expect(await shop.differences()).toBe(0);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  });

it('stops cleanly when it is cancelled, and the next run continues from there', async () => {
  const shop = await shopForTest({ upload: { batchSize: 10, requestsAtOnce: 2 }, sandbox: { processingDelay: 100 } });
  await fill(shop, 200);
  const run = await shop.start('sync', { sync: 'shop' });
  await eventually('some uploads', () => Promise.resolve(shop.proxy.uploads() >= 5));

  await run.cancel();

  expect((await failureOf(run)).type).toBe('CancelledFailure');
  expect(await stopsOf(shop)).toMatchObject([{ action: 'run_cancelled', who: IDENTITY, subject: { run: '1' } }]);
  expect(await openEnds(shop)).toMatchObject({ leases: 0 });
  const sent = shop.proxy.uploads();
  expect(sent).toBeLessThan(60);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 600 } });
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  // At most the batches that were cut off while they were on their way are sent twice.
  expect(shop.proxy.uploads()).toBeLessThanOrEqual(60 + 2);
});

it('continues while a backfill works on the same rows', async () => {
  const shop = await shopForTest({ upload: { batchSize: 10 }, sandbox: { processingDelay: 50 } });
  await fill(shop, 150);

  const reports = await Promise.all([shop.run(), shop.backfill(), shop.backfill({ mappings: ['customers'] })]);

  for (const { outcome, total } of reports)
    expect({ outcome, ...total }).toMatchObject({
      outcome: 'complete',
      waiting: 0,
      read: total.accepted + total.unchanged,
    });
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
