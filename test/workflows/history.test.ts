/** Temporal's history contains no row, no secret and little text, and the workflows replay it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { fill, reportOf, shopForTest, type Shop } from '../pipeline/shop.js';
import { workflowBundle } from '../workflow-bundle.js';

const FOLDER = new URL('histories/', import.meta.url);

async function historyOf(shop: Shop, kind: 'sync' | 'backfill', input: object): Promise<string> {
  const handle = await shop.start(kind, { sync: 'shop', ...input });
  await reportOf(handle);
  // Where the code stands on the machine that records it is nothing that a replay compares.
  return historyToJSON(await handle.fetchHistory()).replaceAll(/"stackTrace": ?"(?:[^"\\]|\\.)*"/g, '"stackTrace": ""');
}

/** Payloads are base64 in a history as JSON. */
const decoded = (history: string): string =>
  history.replace(/"data": ?"([A-Za-z0-9+/=]+)"/g, (_, data: string) => Buffer.from(data, 'base64').toString('utf8'));

it('contains no row data and no secret, whatever went wrong', async () => {
  const shop = await shopForTest({ wait: '5m', upload: { waitForPending: '1s' } });
  await fill(shop, 500);
  await shop.source.query(
    `UPDATE shop.customers SET id = 9000000 + id, name = 'Canary-Name', email = 'canary@example.org' WHERE id < 400`,
  );
  await shop.source.query(`UPDATE shop.customers SET email = 'canary-broken' WHERE id > 9000300`);
  await shop.source.query(`UPDATE shop.customers SET status = 'canary-status', shop = 'canary-shop' WHERE id < 450`);
  await shop.source.query(`UPDATE shop.orders SET no = 'canary-order-' || no WHERE customer_id < 100`);
  shop.proxy.fail(({ upload, no }) => (upload && no % 2 === 0 ? { forward: true, answer: 'cut' } : undefined));

  const history = decoded(await historyOf(shop, 'sync', {}));

  expect(history.includes('"outcome":"incomplete"')).toBe(true);
  const secrets = [
    /canary/i,
    /(?<!\d)90000\d\d(?!\d)/,
    /example\.org/,
    /postgres(ql)?:/,
    new RegExp(shop.token),
    /Customer \d/,
  ];
  expect(secrets.filter((secret) => secret.test(history))).toEqual([]);
  expect(history.length).toBeLessThan(100_000);
});

it('replays the recorded histories', async () => {
  // RECORD_HISTORIES=1 records them anew; after a release, only from the code of that release.
  if (process.env['RECORD_HISTORIES']) {
    const shop = await shopForTest({ wait: '5m', upload: { waitForPending: '1s' } });
    await fill(shop, 20);
    const record = async (name: string, kind: 'sync' | 'backfill', input: object): Promise<void> =>
      writeFileSync(new URL(`${name}.json`, FOLDER), `${await historyOf(shop, kind, input)}\n`);
    await record('sync-complete', 'sync', {});
    await record('backfill-external-ids', 'backfill', { mapping: 'customers', externalIds: ['1', '2'] });
    await record('backfill-range', 'backfill', { from: '2020-01-01' });
    await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 777, 1)`);
    await record('sync-incomplete', 'sync', { mode: 'full' });
  }
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

  expect(names.length).toBeGreaterThanOrEqual(4);
  for (const traced of [false, true])
    for (const name of names)
      await expect(
        Worker.runReplayHistory(
          { workflowBundle: await workflowBundle(traced) },
          JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')),
        ),
        `${name}${traced ? ', on a worker with traces' : ''}`,
      ).resolves.toBeUndefined();
});
