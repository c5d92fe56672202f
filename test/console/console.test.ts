/** What people see and do in the console, in a real browser, of a shop with everything that can need them. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Console } from '../../src/console/server.js';
import { openBrowser, takePicture } from '../browser.js';
import { runInProcess } from '../cli/in-process.js';
import { isHere } from '../here.js';
import { eventually, fill, openShop, reportOf, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { createNamespace } from '../temporal-namespace.js';
import { expectAccessible, fits, openConsole, strictPage } from './open-console.js';

const UI = 'http://temporal.example.com';
const CUSTOMERS = 40;

const schedules = 'schedules: [{ name: nightly, mode: full, cron: "30 3 * * *" }]\n';
const deletes = 'deletes: { action: { set: { status: gone } }, hold: { records: 2, percent: 1 } }\n';

let shop: Shop;
let browser: Browser;
let readOnly: Console;
let acting: Console;
let page: Page;
let wrong: string[];

beforeAll(async () => {
  if (!isHere('Chromium')) return;
  const namespace = await createNamespace();
  [shop, browser] = await Promise.all([openShop({ env: { TEMPORAL_NAMESPACE: namespace } }), openBrowser()]);
  await shop.work();
  const settings = { temporalUi: UI, temporalNamespace: namespace };
  [readOnly, acting] = await Promise.all([
    openConsole(shop, settings),
    openConsole(shop, { ...settings, allowActions: true }),
  ]);
  await fillWithTrouble();
});
afterAll(async () => {
  await browser?.close();
  await readOnly?.close();
  await acting?.close();
  await shop?.close();
});
beforeEach(async () => {
  ({ page, wrong } = await strictPage(browser, acting.url));
});
afterEach(async () => {
  await page.close();
  expect(wrong).toEqual([]);
});

/** Customers whose addresses are wrong, orders whose customers are missing, rows that are gone, and a schedule. */
async function fillWithTrouble(): Promise<void> {
  const files = filesOf({});
  shop.write('sync.yaml', files['sync.yaml']! + schedules);
  shop.write('customers.mapping.yaml', files['customers.mapping.yaml']! + deletes);
  await fill(shop, CUSTOMERS);
  expect(await reportOf(await shop.start('sync', { sync: SYNC }))).toMatchObject({ outcome: 'complete' });
  await shop.source.query(`INSERT INTO shop.customers (id, shop, name, email)
    SELECT i, CASE WHEN i % 3 = 0 THEN 's' ELSE 'n' END, '<b>Bobby</b>', 'no address ' || i FROM generate_series(901, 906) i`);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id) VALUES ('O-lost', 7777)`);
  await shop.source.query(`DELETE FROM shop.customers WHERE id <= 5`);
  const mirror = await shop.start('sync', { sync: SYNC, mode: 'mirror' });
  expect(await reportOf(mirror)).toMatchObject({ outcome: 'incomplete', removals: [{ state: 'awaiting_approval' }] });
  expect(await runInProcess(['schedules', 'apply', SYNC], shop.env)).toMatchObject({ code: 0 });
}

const open = (path: string): Promise<unknown> => page.goto(`${acting.url}${path}`);
const heading = (name: string) => page.getByRole('heading', { level: 1, name });
/** The row of a table in which this text stands. */
const rowWith = (text: string) => page.getByRole('row').filter({ hasText: text });
/** Confirms an action, and waits until its command has ended; returns what it has printed. */
async function confirm(button: string | RegExp): Promise<string> {
  await page.getByRole('button', { name: button }).click();
  await page.getByText(/^(✓ done|✕ failed|! complete with dead letters)$/).waitFor();
  return page.locator('pre').innerText();
}

const PAGES = [
  '/',
  '/syncs/shop',
  '/syncs/shop?ask=all',
  '/syncs/shop/runs/1',
  '/syncs/shop/dead-letters',
  '/syncs/shop/dead-letters?mapping=customers&code=record_invalid&field=%2Femail',
  '/syncs/shop/record?mapping=customers&id=901',
  '/syncs/shop/removals',
  '/syncs/shop/removals/1',
  '/syncs/shop/schedules',
  '/syncs/shop/tenants',
  '/syncs/shop/tenants/north',
  '/syncs/shop/reconcile',
  '/syncs/shop/audit',
  '/actions/run?sync=shop',
  '/actions/replay?sync=shop&mapping=customers',
];

describe.skipIf(!isHere('Chromium'))('every page of the console', () => {
  it.each(PAGES)('can be used by everybody, in light and dark and on a phone: %s', async (path) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: colorScheme === 'light' ? 1280 : 360, height: 900 });
      await open(path);
      await page.waitForLoadState('networkidle');
      await expectAccessible(page);
      expect(await fits(page), `${path} in ${colorScheme}`).toBe(true);
    }
  });

  it('names what is not there, without an error of the server', async () => {
    for (const [path, says] of [
      ['/syncs/shpo', 'did you mean "shop"'],
      ['/syncs/shop/runs/99', 'shop has no run 99'],
      ['/syncs/shop/tenants/east', 'no records of a tenant "east"'],
      ['/nowhere', 'there is no such page'],
      ['/actions/destroy?sync=shop', 'no action "destroy"'],
    ] as const) {
      const response = await page.request.get(`${acting.url}${path}`);
      expect(response.status(), path).toBe(404);
      expect((await response.text()).replaceAll('&quot;', '"'), path).toContain(says);
    }
  });
});

describe.skipIf(!isHere('Chromium'))('the console', () => {
  it('leads from the overview to the rows of a cause, and says what to do', async () => {
    await open('/');
    await page.getByText('0 of 1 are well').waitFor();
    await rowWith('shop').getByRole('link', { name: '7' }).click();
    await heading('Dead letters of shop').waitFor();
    await takePicture(page, 'console-dead-letters');
    await page.getByRole('link', { name: '/email format' }).click();
    await rowWith('905').getByText('north').waitFor();
    // The shape of the value, and never the value.
    await rowWith('905').getByText('aa aaaaaaa 999').waitFor();
    expect(await page.content()).not.toContain('no address');
    await page.getByText('record_invalid:').waitFor();
    await page
      .getByText('partner-sync dead-letters list shop --mapping customers --code record_invalid --field /email')
      .waitFor();
  });

  it('tells the whole story of a record, with values only where the operator allows it', async () => {
    await open('/syncs/shop/record');
    await page.getByLabel('Mapping').selectOption('customers');
    await page.getByLabel('External id').fill('905');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('its row cannot be mapped: /email').or(page.getByText('it is a dead letter')).waitFor();
    expect(await page.content()).not.toContain('Bobby');
    const showing = await openConsole(shop, { showValues: true });
    try {
      const response = await page.request.get(`${showing.url}/syncs/shop/record?mapping=customers&id=905`);
      expect(await response.text()).toContain('name=&lt;b>Bobby&lt;/b>');
    } finally {
      await showing.close();
    }
  });

  it('shows a sync: its stages, its runs with a link to Temporal, and how many records each mapping has', async () => {
    await open('/syncs/shop');
    await heading('shop').waitFor();
    await takePicture(page, 'console-sync');
    const stages = page.getByRole('list').filter({ hasText: 'Stage 1' });
    expect(await stages.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Stage 1\s+customers$/),
      expect.stringMatching(/^Stage 2\s+orders\s+refers to customers$/),
      expect.stringMatching(/^Stage 3\s+lines\s+refers to orders$/),
    ]);
    await rowWith('customers').filter({ hasText: '2026' }).or(rowWith('customers')).first().waitFor();
    await page
      .getByRole('table', { name: 'Records of each mapping' })
      .getByRole('row', { name: /^customers 40 0 6/ })
      .waitFor();
    const link = page.getByRole('table', { name: 'The latest runs' }).getByRole('link').last();
    expect(await link.getAttribute('href')).toMatch(new RegExp(`^${UI}/namespaces/test-[-0-9a-f]+/workflows/`));
  });

  it('shows the failures of one tenant only', async () => {
    await open('/syncs/shop/tenants');
    await page.getByRole('row', { name: /^north \d+ \d+ 5$/ }).waitFor();
    await page.getByRole('link', { name: 'south' }).click();
    await page.getByRole('row', { name: /^\/email format: email 2 customers record_invalid/ }).waitFor();
    await page.getByRole('link', { name: '/email format' }).click();
    expect(
      await page
        .getByRole('table', { name: 'Rows' })
        .getByRole('link', { name: /^customers/ })
        .allInnerTexts(),
    ).toEqual(['customers 903', 'customers 906']);
  });

  it('has no button and carries nothing out while it is read-only', async () => {
    for (const path of PAGES.filter((each) => each.startsWith('/syncs'))) {
      const text = await (await page.request.get(`${readOnly.url}${path}`)).text();
      expect(text, path).not.toContain('/actions/');
    }
    const post = await page.request.post(`${readOnly.url}/actions/run`, {
      form: { sync: SYNC },
      headers: { origin: readOnly.url },
    });
    expect(post.status()).toBe(404);
  });

  it('can be walked with the keyboard alone', async () => {
    await open('/');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await heading('shop').waitFor();
  });
});

describe.skipIf(!isHere('Chromium'))('an action of the console', () => {
  it('asks first, does nothing if it is not confirmed, and then shows what its command has printed', async () => {
    await open('/syncs/shop');
    await page.getByRole('link', { name: 'Start a run' }).click();
    await page.getByText('partner-sync run shop --detach').waitFor();
    const runs = async (): Promise<number> => (await (await shop.parts.ledger()).runs.latest(SYNC, 100)).length;
    const before = await runs();
    await page.getByRole('link', { name: 'Do nothing' }).click();
    expect(await runs()).toBe(before);
    await page.getByRole('link', { name: 'Start a run' }).click();
    await page.getByLabel('Mode').selectOption('full');
    expect(await confirm('Start a run of shop')).toContain('started workflow');
    await eventually('the run', async () => (await runs()) === before + 1);
    await untilIdle();
  });

  it('replays the dead letters of one cause after their rows were corrected', async () => {
    await shop.source.query(`UPDATE shop.customers SET email = 'a@b.example' WHERE id IN (903, 906)`);
    await open('/syncs/shop/dead-letters?mapping=customers&tenant=south');
    await page.getByRole('link', { name: 'Replay these' }).click();
    await page.getByText('partner-sync dead-letters replay shop --mapping=customers --tenant=south --detach').waitFor();
    await confirm('Replay dead letters of shop');
    await eventually(
      'they are delivered',
      async () => (await (await shop.parts.ledger()).deadLetters.count(SYNC, { tenants: ['south'] })) === 0,
    );
    await untilIdle();
  });

  it('carries out a removal plan that somebody has looked at', async () => {
    await open('/syncs/shop/removals');
    await page.getByRole('link', { name: '1', exact: true }).first().click();
    await page.getByText('5 records of customers, of 40 accepted.').waitFor();
    await open('/syncs/shop/removals');
    await page.getByRole('link', { name: 'Carry out' }).click();
    await confirm('Carry out removal plan 1 of shop');
    await eventually('they are marked', async () => {
      const { removals } = await shop.parts.ledger();
      return (await removals.needingAttention(SYNC)).length === 0;
    });
    await untilIdle();
  });

  it('pauses a schedule with a reason, and resumes it', async () => {
    await open('/syncs/shop/schedules');
    await page.getByRole('link', { name: 'Pause nightly' }).click();
    await page.getByLabel('Reason').fill('--stocktaking "today"');
    await confirm('Pause the schedule nightly of shop');
    await open('/syncs/shop/schedules');
    await rowWith('nightly').getByText('--stocktaking "today"').waitFor();
    await page.getByRole('link', { name: 'Resume nightly' }).click();
    await confirm('Resume the schedule nightly of shop');
    await open('/syncs/shop/schedules');
    await rowWith('nightly').getByText('✓ ok').waitFor();
  });

  it('reconciles, and shows what differs', async () => {
    await open('/syncs/shop/reconcile');
    await page.getByRole('link', { name: 'Reconcile' }).last().click();
    const printed = await confirm('Reconcile shop');
    expect(printed).toContain('customers');
    expect(printed).toContain('differences');
  });

  it('is in the audit, under the name of whoever has done it', async () => {
    await open('/syncs/shop/audit');
    const who = 'ana@ops, in the console';
    for (const action of [
      'run started',
      'dead letters replayed',
      'removals approved',
      'schedules paused',
      'reconcile started',
    ])
      await rowWith(action).filter({ hasText: who }).first().waitFor();
  });

  it('lets a run continue that the guard holds, pauses and resumes it', async () => {
    shop.write(
      'sync.yaml',
      `${filesOf({ guard: '{ changed: 10 %, deadLettered: 100 %, records: 1, wait: 1h }' })['sync.yaml']!}${schedules}`,
    );
    await shop.source.query(`UPDATE shop.customers SET name = 'Changed', updated_at = clock_timestamp()`);
    const run = await shop.start('sync', { sync: SYNC });
    await eventually(
      'the run is on hold',
      async () => (await run.query<{ holds: object[] }, []>('progress')).holds.length > 0,
    );
    await open('/syncs/shop');
    await page.getByText(/^On hold: customers: \d+ records would change/).waitFor();
    await page.getByRole('link', { name: 'Pause', exact: true }).click();
    expect(await confirm('Pause the run of shop')).toContain('paused');
    await open('/syncs/shop');
    await page.getByRole('link', { name: 'Resume', exact: true }).click();
    expect(await confirm('Resume the run of shop')).toContain('resumed');
    await open('/syncs/shop');
    await page.getByRole('link', { name: 'Let customers continue' }).click();
    await page.getByLabel('Reason').fill('new names');
    expect(await confirm(/^Let run \d+ of shop continue with customers$/)).toContain('approved');
    await reportOf(run);
  });

  it('shows a command that fails as failed, with its message', async () => {
    await open('/actions/pause?sync=shop');
    expect(await confirm('Pause the run of shop')).toContain('no run of shop is active');
    await page.getByText('✕ failed').waitFor();
  });

  /** Waits until no run of the shop is active. */
  const untilIdle = () =>
    eventually('no run is active', async () => (await (await shop.parts.ledger()).runs.notEnded(SYNC)).length === 0);
});
