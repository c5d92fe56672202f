/** A worker that dies during its work, repeatedly: the run continues where it was. */
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { addCounts, NO_COUNTS, type RunReport } from '../../src/domain/run/run.js';
import { eventually, fill, NO_OPEN_ENDS, openEnds, openShop } from './shop.js';
import { noteWhatComes, twiceAtOnce, twiceInLedger } from './twice-at-once.js';
import { build, startWorkerProcess } from './worker-process.js';

beforeAll(build);

it('finishes a run whose worker is killed three times, with no record ever in two unfinished batches', async () => {
  const shop = await openShop({
    upload: { batchSize: 50, requestsAtOnce: 4, inDoubtDelay: '2s' },
    sandbox: { processingDelay: 300 },
  });
  onTestFinished(() => shop.close());
  await noteWhatComes(shop);
  await fill(shop, 1200);
  const run = await shop.start('sync', { sync: 'shop' });

  for (const killedAt of [6, 20, 30]) {
    const worker = await startWorkerProcess(shop);
    // At that very upload: a test that looks from time to time would, on a busy machine, kill it when few are left.
    let uploads = 0;
    shop.proxy.fail((request) => {
      if (request.upload && ++uploads === killedAt) worker.child.kill('SIGKILL');
      return undefined;
    });
    expect(await worker.ended).toBe('SIGKILL');
    expect(await twiceInLedger(shop)).toEqual([]);
  }
  const last = await startWorkerProcess(shop);
  const report = (await run.result()) as RunReport;
  last.child.kill('SIGTERM');
  expect(await last.ended, last.output()).toBe(0);

  expect(report).toMatchObject({ outcome: 'complete', total: { read: 3600, accepted: 3600 } });
  const { periods } = (await (await shop.parts.ledger()).runHistories.of(report.run))!;
  expect(periods.reduce(addCounts, NO_COUNTS)).toEqual(report.total);
  expect(await twiceAtOnce(shop)).toEqual([]);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.differences()).toBe(0);
});

it('lets a frozen worker resume without harm', async () => {
  const shop = await openShop({
    upload: { batchSize: 50, requestsAtOnce: 4, inDoubtDelay: '2s' },
    sandbox: { processingDelay: 300 },
  });
  onTestFinished(() => shop.close());
  await noteWhatComes(shop);
  await fill(shop, 600);
  const frozen = await startWorkerProcess(shop);
  onTestFinished(() => void frozen.child.kill('SIGKILL'));
  const run = await shop.start('sync', { sync: 'shop' });
  await eventually('some uploads', () => Promise.resolve(shop.proxy.uploads() >= 6));
  frozen.child.kill('SIGSTOP');
  const successor = await startWorkerProcess(shop);
  onTestFinished(() => void successor.child.kill('SIGKILL'));
  const takenOver = async (): Promise<boolean> => {
    const [row] = await shop.state.query<{ fencing_token: number }>(
      'SELECT max(fencing_token) AS fencing_token FROM partner_sync.partitions',
    );
    return row!.fencing_token >= 2;
  };
  // Temporal hands the frozen worker more attempts through its open polls; each takes a heartbeat timeout to be missed.
  await eventually('the successor takes over', takenOver, 180);
  // Both work now: the frozen one goes on with what it had begun.
  frozen.child.kill('SIGCONT');

  expect((await run.result()) as RunReport).toMatchObject({
    outcome: 'complete',
    total: { read: 1800, accepted: 1800 },
  });
  expect(await twiceAtOnce(shop)).toEqual([]);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.differences()).toBe(0);
});
