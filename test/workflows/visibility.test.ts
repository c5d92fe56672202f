/** How runs appear in Temporal: what they can be searched by, and what its Web UI says of them. */
import { Client, Connection } from '@temporalio/client';
import { beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { startedBy } from '../../src/cli/actor.js';
import { describedStart } from '../../src/cli/runs/described-start.js';
import { attributeStates, usableAttributes } from '../../src/observability/search-attributes.js';
import { runInProcess } from '../cli/in-process.js';
import {
  eventually,
  failureOf,
  fill,
  openShop,
  reportOf,
  shopForTest,
  UNSURE_CUSTOMERS,
  type Shop,
} from '../pipeline/shop.js';
import { build, startWorkerProcess } from '../pipeline/worker-process.js';
import { createNamespace } from '../temporal-namespace.js';

beforeAll(build);

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

it('runs without search attributes in a namespace that lacks them, which its worker says once, until doctor registers them', async () => {
  const namespace = await createNamespace();
  const shop = await openShop({ env: { TEMPORAL_NAMESPACE: namespace } });
  onTestFinished(() => shop.close());
  const worker = await startWorkerProcess(shop);
  onTestFinished(() => void worker.child.kill('SIGKILL'));
  await fill(shop, 5);

  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  expect(await shop.run()).toMatchObject({ outcome: 'complete' });
  const warnings = worker.output().match(/runs go without the search attributes [^"]*/g);
  expect(warnings).toEqual([
    `runs go without the search attributes PartnerSyncName, PartnerSyncMode, PartnerSyncOutcome, PartnerSyncTrigger, PartnerSyncWaiting, PartnerSyncDeadLetters, which the namespace ${namespace} lacks: partner-sync doctor says what to do, and doctor --fix registers them`,
  ]);
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

it('sets none, and warns, if Temporal does not say which there are', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const warnings: string[] = [];
  const client = new Client({ connection, namespace: 'no-such-namespace' });

  expect(await usableAttributes(client, (message) => void warnings.push(message))).toEqual([]);
  expect(warnings).toEqual([
    expect.stringMatching(
      /^a run goes without search attributes: .* no-such-namespace has \(\w+\): partner-sync doctor/,
    ),
  ]);
});

it('tells who has started a run and in which mode, and in heartbeats how far a step is', async () => {
  const shop = await shopForTest({ upload: { batchSize: 500 } });
  // The first chunk has 4,000 rows. The upload of the next one is refused until a heartbeat has told of the first.
  await fill(shop, 4500);
  let isBusy = true;
  shop.proxy.fail(({ upload, body }) =>
    upload && isBusy && body.includes('"4500"')
      ? { forward: false, answer: { status: 503, headers: { 'retry-after': '1' }, body: '{}' } }
      : undefined,
  );
  const command = runInProcess(['run', 'shop', '--mode', 'full', '--mapping', 'customers', '--json'], shop.env);

  type Heartbeat = { readonly rows: number; readonly rowsPerSecond: number };
  const { handle, heartbeat } = await eventually('a heartbeat of the first chunk', async () => {
    for await (const { workflowId } of shop.client.workflow.list({ query: `TaskQueue = '${shop.taskQueue}'` })) {
      const found = shop.client.workflow.getHandle(workflowId);
      const { pendingActivities } = (await found.describe()).raw;
      const [payload] = pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
      const told = payload?.data ? (JSON.parse(Buffer.from(payload.data).toString()) as Heartbeat) : { rows: 0 };
      if (told.rows > 0) return { handle: found, heartbeat: told };
    }
    return undefined;
  });
  isBusy = false;
  expect(heartbeat).toEqual({
    rows: expect.toSatisfy((rows: number) => rows >= 4000 && rows < 4500) as number,
    rowsPerSecond: expect.toSatisfy((rate: number) => rate > 0 && rate < 4000) as number,
  });

  const described = await handle.describe();
  expect(await described.staticSummary()).toBe(`sync of shop, full, started by ${startedBy()}`);
  expect(await described.staticDetails()).toBe(
    `- sync: **shop**\n- mode: full\n- mappings: customers\n- started by ${startedBy()}`,
  );
  expect(await command).toMatchObject({ code: 0 });
});

it('summarizes what a command starts in at most 200 bytes, which is all that Temporal takes', () => {
  const { staticSummary, staticDetails } = describedStart(
    'sync',
    { sync: 's'.repeat(63), mode: 'incremental' },
    [],
    `${'u'.repeat(64)}@${'h'.repeat(253)}`,
  );
  expect(staticSummary).toHaveLength(200);
  expect(staticSummary).toMatch(/^sync of s{63}, incremental, started by u+@h+\.\.\.$/);
  expect(staticDetails).toContain('h'.repeat(253));
});

it('says in the details of a run what it was asked for, whoever started it, and no key but a number', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  const keys = (afterKey: readonly string[], throughKey: readonly string[]) =>
    describedStart('backfill', { sync: 'shop', mapping: 'customers', afterKey, throughKey }, [], 'ana@ops')
      .staticDetails;
  expect(keys(['1'], ['3'])).toBe(
    '- sync: **shop**\n- mode: backfill\n- mappings: customers\n- range: keys 2 to 3\n- started by ana@ops',
  );
  expect(keys(['ada@example.com'], ['bob@example.com'])).toContain('- range: a range of keys\n');

  const input = { sync: 'shop', mapping: 'customers', afterKey: ['1'], throughKey: ['3'] };
  const handle = await shop.start('backfill', input);
  await handle.result();
  const { currentDetails } = await handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata');
  expect(currentDetails).toMatch(/^Run 1 of \*\*shop\*\* \(backfill\); stages: customers\n/);
  expect(currentDetails).toContain(
    '\nStarted in the Web UI, or by another client of Temporal; mappings: customers; range: keys 2 to 3\n',
  );
});

it("tells in Temporal's timeline what each step works on and waits for, without any id of a row", async () => {
  const shop = await shopForTest({ wait: '5m', upload: { waitForPending: '2s' }, files: UNSURE_CUSTOMERS });
  await fill(shop, 5);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 987654321, 1)`);
  const handle = await shop.start('sync', { sync: 'shop' });
  await reportOf(handle);

  const { events } = await handle.fetchHistory();
  const summaries = events!.flatMap(({ userMetadata }) =>
    userMetadata?.summary?.data ? [JSON.parse(Buffer.from(userMetadata.summary.data).toString()) as string] : [],
  );
  const [opened, compared] = summaries;
  expect([opened, compared, ...summaries.slice(-2)]).toEqual([
    'the lease and the stages of the run',
    "columns, compared with those of the mappings' last run",
    'the report and the end of the run',
    'what is older than retention allows',
  ]);
  const activities = events!.filter((event) => event.activityTaskScheduledEventAttributes);
  expect(activities.filter(({ userMetadata }) => !userMetadata?.summary)).toEqual([]);
  expect(summaries.join('\n')).toMatch(/^orders: rows until \d{4}-\d\d-\d\d /m);
  expect(summaries.join('\n')).toMatch(/^waiting for parents: \d records of orders need customer; until /m);
  expect(summaries.join()).not.toMatch(/orphan|987654321/);
});
