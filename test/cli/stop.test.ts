/** `stop` ends the active run, whatever its mode, and says who did so. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { fedShop, untilLoaded } from '../pipeline/fed-shop.js';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { runInProcess } from './in-process.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

const audit = async (shop: Shop) =>
  shop.state.query(`SELECT who, subject->>'reason' AS reason FROM partner_sync.audit WHERE action = 'run_cancelled'`);

it('lets a run in mode live deliver what is left and end with its report, and keeps who did it and why', async () => {
  const shop = await fedShop(server);
  await fill(shop, 5);
  await shop.start('sync', { sync: SYNC, mode: 'live' });
  await untilLoaded(shop);
  const env = { ...shop.env, PARTNER_SYNC_ACTOR: 'ana@ops' };
  const { code, stdout } = await runInProcess(['stop', SYNC, '--reason', 'stocktaking', '--json'], env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ run: '1', report: { mode: 'live', outcome: 'complete' } });
  expect(await audit(shop)).toEqual([{ who: 'ana@ops', reason: 'stocktaking' }]);
  expect(await runInProcess(['stop', SYNC], env)).toMatchObject({ code: 2 });
});

it('ends any other run as failed, so that the next one continues where it stopped', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await fill(shop, 5);
  await shop.work();
  shop.proxy.fail(() => ({ forward: false, answer: 'cut' }));
  await shop.start('sync', { sync: SYNC });
  await eventually('that it works', async () => (await shop.state.query('SELECT FROM partner_sync.runs')).length > 0);
  const { code, stdout } = await runInProcess(['stop', SYNC], shop.env);
  expect(code).toBe(0);
  expect(stdout).toBe(`run 1 of ${SYNC} has ended: run_stopped: cancelled\n`);
  shop.proxy.fail(undefined);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
});
