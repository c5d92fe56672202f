/** A mapping whose `schema` is another one than before: what its records were sent to is not what they go to now. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRun } from '../../src/delivery/run/open-run.js';
import { runInProcess } from '../cli/in-process.js';
import { fill, NO_OPEN_ENDS, openEnds, openRunByHand, shopForTest, SYNC, type Shop } from './shop.js';
import { filesOf, type SyncSettings } from './shop-files.js';

/** The files of a shop, in which the schema of the lines, which nothing refers to, has another name. */
function renameLines(shop: Shop, settings: SyncSettings = {}): void {
  const files = filesOf(settings);
  shop.write('line2.schema.json', files['line.schema.json']!.replace('"name":"line"', '"name":"line2"'));
  shop.write('lines.mapping.yaml', files['lines.mapping.yaml']!.replace('schema: line\n', 'schema: line2\n'));
  rmSync(join(shop.folder, SYNC, 'line.schema.json'));
}

/** The files as they were. */
function bringBack(shop: Shop, settings: SyncSettings): void {
  const files = filesOf(settings);
  for (const name of ['line.schema.json', 'lines.mapping.yaml']) shop.write(name, files[name]!);
  rmSync(join(shop.folder, SYNC, 'line2.schema.json'));
}

const command = (shop: Shop, ...args: string[]) => runInProcess(args, shop.env);

it('the next run sends every row to the new schema, and says so; until then, nothing counts as delivered', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  renameLines(shop);
  expect((await command(shop, 'schema', 'push', SYNC)).code).toBe(0);

  const before = await command(shop, 'reconcile', SYNC, '--json');
  expect(before.code).toBe(1);
  expect(before.stdout).toMatch(/"missing": ?5/);
  // Neither cursor nor position make it read any row: nothing has changed.
  const report = await shop.run();

  expect(report).toMatchObject({ outcome: 'complete', total: { accepted: 5 } });
  expect(report.notes).toEqual([
    { mapping: 'lines', message: 'it fills the schema line2 now, and no longer line: all rows are sent' },
  ]);
  expect(await shop.stored('line2', 'o1-1')).toMatchObject({ sku: 'sku-1' });
  expect(await shop.stored('line', 'o1-1')).toMatchObject({ sku: 'sku-1' });
  expect((await command(shop, 'reconcile', SYNC, '--read-back', 'all')).code).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.run()).toMatchObject({ total: { accepted: 0 } });
});

it('a backfill of other mappings begins anew, too, so that the next run sends every row', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  renameLines(shop);
  await command(shop, 'schema', 'push', SYNC);

  await shop.backfill({ mappings: ['customers'] });
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 5 } });
  expect(await shop.differences()).toBe(0);
});

it('a mapping that goes by a change feed is loaded again', async () => {
  const settings = { changes: '{ table: partner_changes }' };
  const shop = await shopForTest(settings);
  await fill(shop, 5);
  expect((await command(shop, 'changes', 'install', SYNC, '--apply')).code).toBe(0);
  await shop.run();
  expect(await shop.run()).toMatchObject({ total: { read: 0 } });
  renameLines(shop, settings);
  await command(shop, 'schema', 'push', SYNC);

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 5, accepted: 5 } });
  expect(await shop.differences()).toBe(0);
});

it('a run fails while the platform may still apply what was sent to the earlier schema, and tells what to do', async () => {
  const settings = { wait: '10m', upload: { waitForPending: '1s' } };
  const shop = await shopForTest(settings);
  await fill(shop, 5);
  await shop.source.query(`INSERT INTO shop.lines (order_no, line, sku) VALUES ('late', 1, 'sku')`);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', total: { waiting: 1 } });
  renameLines(shop, settings);
  await command(shop, 'schema', 'push', SYNC);

  const refused = await command(shop, 'run', SYNC);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /lines fills line2 now, and no longer line\), and the platform may still apply 1 batch of run \d+, pending since \S+: let a run deliver them with the earlier schemas first/,
  );
  bringBack(shop, settings);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('late', 1, 1)`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  renameLines(shop, settings);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 6 } });
  expect(await shop.differences()).toBe(0);
});

it('a run fails while another one still fills the earlier schema', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  const { runId } = await openRunByHand(shop);
  renameLines(shop);

  const opening = {
    kind: 'backfill',
    input: { sync: SYNC, mapping: 'lines' },
    firstExecutionRunId: randomUUID(),
    start: { trigger: 'other', by: null },
  } as const;
  const isRunning = () => Promise.resolve(true);
  const workflows = { isRunning, stopOf: () => Promise.resolve(null) };
  await expect(openRun(await shop.parts.dependencies(), opening, 'by-hand-too', workflows)).rejects.toMatchObject({
    code: 'run_in_progress',
    message: expect.stringContaining(`run ${runId}, which has been active since`) as string,
  });
});
