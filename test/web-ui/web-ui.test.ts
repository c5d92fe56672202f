/** What an operator sees and does in Temporal's Web UI, in a real browser; the pictures of the documentation. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-cli.js';
import { startTemporal, type EmbeddedTemporal } from '../../src/embedded/temporal-server.js';
import { dataConverterOf } from '../../src/worker/data-converter.js';
import { openBrowser } from '../browser.js';
import { runInProcess } from '../cli/in-process.js';
import { readPage, ROOT, sectionOf, tableIn, withoutTicks } from '../docs/pages.js';
import { isHere } from '../here.js';
import { eventually, openShop, reportOf, type Shop } from '../pipeline/shop.js';
import { serveCodec } from './codec-server.js';
import {
  CUSTOMERS,
  demoShop,
  insertCustomers,
  insertOrderLines,
  insertOrders,
  SCHEDULE,
  syncFile,
} from './demo-shop.js';
import { WebUi } from './web-ui.js';

let folder: string;
let temporal: EmbeddedTemporal;
let shop: Shop;
let browser: Browser;
let ui: WebUi;
/** A run that the guard holds, in the last tests. */
let held: WorkflowHandle;

beforeAll(async () => {
  if (!isHere('Chromium')) return;
  folder = mkdtempSync(join(tmpdir(), 'partner-sync-ui-'));
  const log = (): void => undefined;
  // A server of its own: in the list of workflows are those of this shop, and of no other test.
  [temporal, browser] = await Promise.all([
    findTemporal({ log }).then(({ path }) => startTemporal({ path, folder, log, history: 'memory' })),
    openBrowser(),
  ]);
  shop = await openShop(demoShop(temporal.address));
  await shop.work();
  ui = new WebUi(await newPage(), temporal.uiUrl);
  expect(await runInProcess(['schedules', 'apply', 'shop'], shop.env)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await browser?.close();
  await shop?.close();
  await temporal?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** A page that shares no settings with others. */
async function newPage(): Promise<Page> {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 1040 },
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  page.setDefaultTimeout(30_000);
  return page;
}

/** Triggers the shop's schedule and returns the run that it has started. */
async function triggered(): Promise<WorkflowHandle> {
  const started = async (): Promise<string[]> => {
    const { info } = await shop.client.schedule.getHandle(SCHEDULE).describe();
    return info.recentActions.map(({ action }) => action.workflow.workflowId);
  };
  const before = await started();
  await shop.client.schedule.getHandle(SCHEDULE).trigger();
  const id = await eventually('the schedule starts a run', async () =>
    (await started()).find((each) => !before.includes(each)),
  );
  return shop.client.workflow.getHandle(id);
}

/** Waits until what a run says of itself is as it should be. */
const until = (run: WorkflowHandle, what: 'waits' | 'holds') =>
  eventually(what, async () => (await run.query<Record<typeof what, object[]>, []>('progress'))[what].length > 0);

/** The filter of this saved view on the page; its date is that of a week ago. */
function filterOf(view: string): string {
  const views = sectionOf(readPage('docs/monitoring.md'), 'Find runs in the Temporal Web UI').split('| View ')[1]!;
  const filter = withoutTicks(tableIn(`| View ${views}`).find(([name]) => name === view)![1]!);
  const lastWeek = new Date(Date.now() - 7 * 86_400_000).toISOString();
  return filter.replace(/\d{4}-\d\d-\d\dT/, lastWeek.slice(0, 11));
}

/** Waits until Temporal finds so many workflows, which it indexes a moment later. */
const indexed = (query: string, found: number) =>
  eventually(`${found} workflows with ${query}`, async () => (await shop.client.workflow.count(query)).count === found);

describe.skipIf(!isHere('Chromium'))("Temporal's Web UI", () => {
  it('lists the incomplete runs of a sync by the filter of the documentation', async () => {
    expect(await reportOf(await triggered())).toMatchObject({ outcome: 'complete' });
    await insertOrders(shop.source, { first: 1001, count: 3 });
    const incomplete = await triggered();
    expect(await reportOf(incomplete)).toMatchObject({ outcome: 'incomplete' });
    const view = 'Incomplete runs of shop';
    await indexed(filterOf(view), 1);
    await ui.list(filterOf(view));
    await ui.page.getByRole('heading', { name: '1 Workflow' }).waitFor();
    await ui.setColumns({
      remove: ['Run ID', 'Type', 'Start', 'End'],
      add: ['PartnerSyncOutcome', 'PartnerSyncWaiting'],
    });
    await ui.page.getByRole('button', { name: 'Save as New' }).click();
    const saving = ui.page.getByRole('dialog', { name: 'Save as New View' });
    await saving.getByRole('textbox').fill(view);
    await saving.getByRole('button', { name: 'Save', exact: true }).click();
    await ui.page.getByRole('button', { name: view }).waitFor();
    const rows = ui.page.getByRole('table', { name: 'Workflows' }).getByRole('row');
    expect(await rows.count()).toBe(2);
    const cells = await rows.nth(1).getByRole('cell').allInnerTexts();
    expect(cells).toEqual(expect.arrayContaining(['Failed', incomplete.workflowId, 'incomplete', '3']));
    await ui.picture('incomplete-runs', 560);

    await ui.workflow(incomplete.workflowId, 'History');
    await ui.page.getByText('of shop ended incomplete: 3 records wait').first().waitFor();
  });

  it('shows of a run what it is, what it has done and what it waits for', async () => {
    shop.write('sync.yaml', syncFile('10m'));
    await insertOrders(shop.source, { first: 2001, count: 45 });
    const run = await triggered();
    await until(run, 'waits');
    await ui.workflow(run.workflowId, 'User Metadata');
    const { summary, details, current } = ui.metadata;
    await summary.getByText('full run of shop, by its schedule nightly').waitFor();
    await details.getByText('mode: full').waitFor();
    await details.getByText('schedule: nightly (cron').waitFor();
    await current.getByText('stages: customers -> orders -> order-lines').waitFor();
    const wait = 'waiting for parents: 48 records of orders need customer; until';
    await current.getByText(wait).waitFor();
    const read = CUSTOMERS + 48;
    await current.getByText(`orders: done; ${read} read, 48 waiting, ${CUSTOMERS} unchanged`).waitFor();
    await ui.picture('waiting-sync', 640);

    await ui.page.getByRole('tab', { name: 'History' }).click();
    await ui.page.getByText('loadPartition • customers: all rows').first().waitFor();
    await ui.page.getByText(`pollPending • ${wait}`).first().waitFor();
    await insertCustomers(shop.source);
  });

  it('says on the page of a schedule when it starts runs, and where that is declared', async () => {
    await ui.schedule(SCHEDULE);
    await ui.page.getByRole('heading', { name: SCHEDULE }).waitFor();
    await ui.page.getByText(/^cron 30 \d+ \* \* \*, UTC; declared in shop\/sync.yaml$/).waitFor();
    await ui.picture('schedule', 970);
  });

  it('starts a backfill by hand, beside a run that waits', async () => {
    await ui.start({
      id: 'first-week-again',
      type: 'backfill',
      input: { sync: 'shop', mappings: ['orders'], from: '2010-12-01', to: '2010-12-08' },
    });
    await reportOf(shop.client.workflow.getHandle('first-week-again'));
    await ui.workflow('first-week-again', 'History');
    await ui.page.getByText('"outcome": "complete"').first().waitFor();
  });

  it('starts a run with an encoded input, and shows the input, only through a codec server', async () => {
    vi.stubEnv('CODEC_KEY', '0123456789abcdef'.repeat(4));
    onTestFinished(() => void vi.unstubAllEnvs());
    const module = join(ROOT, 'test/worker/codecs/aes-gcm.mjs');
    const dataConverter = (await dataConverterOf({ PARTNER_SYNC_DATA_CONVERTER: module }))!;
    const codecServer = await serveCodec(dataConverter.payloadCodecs![0]!, new URL(temporal.uiUrl).origin);
    onTestFinished(() => codecServer.close());
    const page = await newPage();
    onTestFinished(() => page.close());
    const decoding = new WebUi(page, temporal.uiUrl);
    await decoding.useCodecServer(codecServer.url);

    // Nobody works for this task queue.
    const input = { sync: 'shop', mapping: 'customers', externalIds: ['C47110815'] };
    await decoding.start({ id: 'encoded', type: 'backfill', input, taskQueue: 'none' });
    const run = shop.client.workflow.getHandle('encoded');
    onTestFinished(async () => void (await run.terminate()));
    const { events } = await run.fetchHistory();
    const [payload] = events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads!;
    expect(Buffer.from(payload!.metadata!['encoding']!).toString()).toBe('binary/encrypted');

    await decoding.workflow('encoded', 'History');
    await page.getByText('C47110815').first().waitFor();
    await ui.workflow('encoded', 'History');
    await ui.page.getByText('"encoding"').first().waitFor();
    expect(await ui.page.content()).not.toContain('C47110815');
  });

  it('pauses a run by an Update, resumes it and changes its request rate, and says why if that is not possible', async () => {
    await indexed("PartnerSyncOutcome = 'running'", 0);
    await shop.source.query(`UPDATE shop.customers SET name = 'Ms ' || name`);
    await insertOrderLines(shop.source);
    held = await triggered();
    await until(held, 'holds');
    // A page that is open goes on showing the details that the run had when it was opened.
    const shown = async () => {
      await ui.workflow(held.workflowId, 'User Metadata');
      return ui.metadata.current;
    };
    await (await shown()).getByText('on hold: customers').waitFor();
    expect(await ui.refusalOf('resume')).toContain('resume: the run is not paused');
    await ui.send('pause', { reason: 'maintenance' });
    await (await shown()).getByText(/^paused since [\d:]+ UTC \(maintenance\)/).waitFor();
    expect(await ui.refusalOf('pause')).toMatch(/pause: the run is paused since [\d:]+ UTC \(maintenance\) already/);
    await ui.send('resume');
    await (await shown()).getByText('on hold: customers').waitFor();
    expect(await ui.metadata.current.getByText('paused since').count()).toBe(0);

    const refusal = await ui.refusalOf('setRate', { requestsPerSecond: 0 });
    expect(refusal).toContain('setRate: "requestsPerSecond" must be a number from 0.1 to 1000');
    await ui.send('setRate', { requestsPerSecond: 20 });
    const rates = await shop.state.query('SELECT at_once, per_second FROM partner_sync.sync_rates');
    expect(rates).toEqual([{ at_once: null, per_second: 20 }]);
  });

  it('approves by an Update what a run is on hold for, and shows how far it is then', async () => {
    await ui.workflow(held.workflowId, 'User Metadata');
    const { current } = ui.metadata;
    const records = CUSTOMERS + 48;
    const hold = `on hold: customers: ${records} records would change, of ${records} (guard.changed: 30 %)`;
    await current.getByText(hold).waitFor();

    const refusal = await ui.refusalOf('approve', { mappings: ['orders'], reason: 'new titles' });
    expect(refusal).toContain('approve: not on hold: orders; on hold: customers');
    expect(refusal).not.toContain('.ts:');

    const right = await ui.update('approve', { mappings: ['customers'], reason: 'new titles' });
    await ui.picture('approve', 760);
    await right.getByRole('button', { name: 'Submit' }).click();

    await eventually('lines are read', async () => {
      const { mappings } = await held.query<{ mappings: { mapping: string; read: number }[] }, []>('progress');
      return mappings.some(({ mapping, read }) => mapping === 'order-lines' && read > 0);
    });

    await ui.workflow(held.workflowId, 'User Metadata');
    await current
      .getByText(/^order-lines: reading, \d+ % of about [\d,]+ rows, about [\dhms ]+ left; [\d,]+ read, /)
      .waitFor();
    await ui.picture('running-sync', 900);
    await ui.page.getByRole('tab', { name: 'History' }).click();
    await ui.page.getByText('order-lines: keys 250001 to 500000').first().waitFor();

    await ui.page.getByRole('button', { name: 'Request Cancellation' }).click();
    await ui.page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
    await expect(held.result()).rejects.toThrow();
    await indexed("PartnerSyncOutcome = 'stopped'", 1);
  });
});
