/** How runs appear in Temporal: what they can be searched by, and what its Web UI says of them. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect, inject, it, onTestFinished } from 'vitest';
import { attributeStates } from '../../src/observability/search-attributes.js';
import { runInProcess } from '../cli/in-process.js';
import { eventually, failureOf, fill, reportOf, shopForTest, UNSURE_CUSTOMERS, type Shop } from '../pipeline/shop.js';

/** The runs of this shop's workers that match, once Temporal has indexed `count` of them. */
const found = (shop: Shop, query: string, count: number): Promise<string[]> =>
  eventually(`${count} runs with ${query}`, async () => {
    const ids: string[] = [];
    for await (const { workflowId } of shop.client.workflow.list({
      query: `TaskQueue = '${shop.taskQueue}' AND ${query}`,
    }))
      ids.push(workflowId);
    return ids.length === count && ids;
  });

it('finds the runs of a sync by how they ended, how they were started, and what they left undelivered', async () => {
  const shop = await shopForTest({ wait: '5m', upload: { waitForPending: '1s' } });
  await fill(shop, 20);
  await reportOf(await shop.start('sync', { sync: 'shop' }, `complete-${shop.taskQueue}`));
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 777, 1)`);
  const report = await reportOf(await shop.start('sync', { sync: 'shop', mode: 'full' }, `gap-${shop.taskQueue}`));
  expect(report.outcome).toBe('incomplete');

  const ofShop = "PartnerSyncName = 'shop' AND PartnerSyncTrigger = 'other'";
  expect(await found(shop, `${ofShop} AND PartnerSyncOutcome = 'complete'`, 1)).toEqual([`complete-${shop.taskQueue}`]);
  const gaps = `${ofShop} AND PartnerSyncMode = 'full' AND PartnerSyncWaiting >= 1 AND PartnerSyncDeadLetters = 0`;
  expect(await found(shop, gaps, 1)).toEqual([`gap-${shop.taskQueue}`]);
});

it('shows a run that leaves records undelivered as failed, with its report and the reason', async () => {
  const shop = await shopForTest({ wait: '5m', upload: { waitForPending: '1s' } });
  await fill(shop, 20);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 777, 1)`);
  const handle = await shop.start('sync', { sync: 'shop' });

  expect(await failureOf(handle)).toEqual({
    type: 'run_incomplete',
    message: expect.stringMatching(/^run \d+ of shop ended incomplete: 1 record waits$/) as string,
  });
  expect(await reportOf(handle)).toMatchObject({ outcome: 'incomplete', total: { waiting: 1 } });
  expect(await shop.state.query('SELECT outcome, trigger, failure_code FROM partner_sync.runs')).toEqual([
    { outcome: 'incomplete', trigger: 'other', failure_code: null },
  ]);
});

it.each([
  { failOn: 'never', fails: false },
  { failOn: 'incomplete', fails: false },
  { failOn: 'dead-letters', fails: true },
])('with failOn: $failOn, a run with dead letters fails: $fails', async ({ failOn, fails }) => {
  const shop = await shopForTest({ failOn });
  await fill(shop, 5);
  await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id = 1`);
  const handle = await shop.start('sync', { sync: 'shop' });
  expect(await reportOf(handle)).toMatchObject({ outcome: 'complete_with_dead_letters' });
  expect((await handle.describe()).status.name).toBe(fails ? 'FAILED' : 'COMPLETED');
});

it('runs without search attributes in a namespace that lacks them, until doctor registers them', async () => {
  const namespace = `bare-${randomUUID()}`;
  await createNamespace(namespace);
  const shop = await shopForTest({ env: { TEMPORAL_NAMESPACE: namespace } });
  await fill(shop, 5);

  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  const doctor = (...options: string[]) => runInProcess(['doctor', ...options], shop.env);
  const before = await doctor();
  expect(before.stdout).toMatch(/warn +attributes +the namespace lacks PartnerSyncName, PartnerSyncMode/);
  expect(before.stdout).toContain(
    `temporal operator search-attribute create --namespace ${namespace} --name PartnerSyncName --type Keyword`,
  );
  expect((await doctor('--fix')).stdout).toMatch(/ok +attributes +registered PartnerSyncName/);

  await eventually('registered', async () => (await attributeStates(shop.client)).missing.length === 0);
  expect((await doctor()).stdout).toMatch(/ok +attributes +6 of runs/);
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await found(shop, "PartnerSyncName = 'shop' AND PartnerSyncOutcome = 'complete'", 1)).toHaveLength(1);
});

it("tells in Temporal's timeline what each step works on and waits for, without any id of a row", async () => {
  const shop = await shopForTest({ wait: '5m', upload: { waitForPending: '2s' }, files: UNSURE_CUSTOMERS });
  await fill(shop, 5);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 777, 1)`);
  const handle = await shop.start('sync', { sync: 'shop' });
  await reportOf(handle);

  const { events } = await handle.fetchHistory();
  const summaries = events!.flatMap(({ userMetadata }) =>
    userMetadata?.summary?.data ? [JSON.parse(Buffer.from(userMetadata.summary.data).toString()) as string] : [],
  );
  expect(summaries.join('\n')).toMatch(/^orders: rows until \d{4}-\d\d-\d\d /m);
  expect(summaries.join('\n')).toMatch(/^waiting for parents: \d records of orders need customer; until /m);
  expect(summaries.join()).not.toMatch(/orphan|777/);
});

async function createNamespace(namespace: string): Promise<void> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  const client = new Client({ connection, namespace });
  await eventually('the namespace', () =>
    attributeStates(client).then(
      () => true,
      () => false,
    ),
  );
}
