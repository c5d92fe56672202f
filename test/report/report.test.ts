/** The report of a run: on the command line, and as one HTML file in a real browser. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { addCounts, NO_COUNTS, type RunReport } from '../../src/domain/run/run.js';
import type { RunHistory } from '../../src/domain/run/run-history.js';
import { outcomesOverTime } from '../../src/report/plots/over-time.js';
import { sparkline } from '../../src/report/plots/bars.js';
import { reportFile } from '../../src/report/report-file.js';
import { openBrowser, RECORDS, takePicture } from '../browser.js';
import { runInProcess } from '../cli/in-process.js';
import { isHere } from '../here.js';
import { fill, openShop, type Shop } from '../pipeline/shop.js';

let shop: Shop;
let folder: string;
let report: RunReport;
const inFolder = (name: string): string => join(folder, name);
const command = (...args: string[]) => runInProcess(['report', ...args], shop.env);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'partner-sync-report-'));
  // The picture of the documentation is of a longer run.
  shop = await openShop({
    upload: { batchSize: 20, requestsAtOnce: RECORDS ? 4 : 16 },
    sandbox: { processingDelay: RECORDS ? 250 : 0 },
  });
  await fill(shop, RECORDS ? 2000 : 60);
  await shop.work();
  await shop.run({ mode: 'full' });
  await shop.source.query(`UPDATE shop.customers SET email = 'no address' WHERE id % 3 = 0`);
  await shop.source.query(`UPDATE shop.customers SET name = 'Changed' WHERE id % 5 = 1`);
  report = await shop.run({ mode: 'full' });
});
afterAll(async () => {
  await shop?.close();
  rmSync(folder, { recursive: true, force: true });
});

const history = async (): Promise<RunHistory> => (await command('shop', '--json')).json<RunHistory>();

describe('report', () => {
  it('shows what became of the rows, the slowest parts, the requests and the runs before', async () => {
    const { code, stdout } = await command('shop');
    expect(code).toBe(0);
    expect(stdout).toContain(`run ${report.run} of shop (full)`);
    expect(stdout).toContain('the partitions that took longest:');
    expect(stdout).toMatch(/uploadResources +2xx +\d/);
    expect(stdout).toMatch(/runs of this kind and mode before it:\n.*\n\d+ .*complete/);
  });

  it('has periods that add up to the counts of the report', async () => {
    const { periods, total, requests, causes, before } = await history();
    const { read, accepted, unchanged, waiting, deadLettered } = periods.reduce(addCounts, NO_COUNTS);
    expect({ read, accepted, unchanged, waiting, deadLettered }).toEqual(report.total);
    expect(total).toEqual(report.total);
    expect(requests.some(({ operation, status }) => operation === 'uploadResources' && status === '2xx')).toBe(true);
    expect(causes[0]).toMatchObject({ mapping: 'customers', pointer: '/email', count: report.total.deadLettered });
    expect(causes[0]!.shape).not.toContain('no address');
    expect(before).toHaveLength(1);
  });

  it('says which runs there are if it is asked for another one', async () => {
    expect(await command('shop', '999999')).toMatchObject({ code: 2 });
    expect((await command('shop', '999999')).stderr).toContain(
      `shop has no run 999999 in the ledger; its latest are ${report.run}, `,
    );
    expect((await command('shpo')).stderr).toContain('did you mean "shop"?');
    expect((await command('shop', '--force')).stderr).toContain('--force needs --html');
  });

  it('takes a run that was refused for no failure, and shows the one before it as the latest', async () => {
    const [refused] = await shop.state.query<{ id: string }>(
      `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger, ended_at, outcome, failure_code, failure_message)
       VALUES ('shop', 'sync', 'full', '{}', 'v', 'w', gen_random_uuid(), 'schedule', now(), 'failed', 'run_in_progress', 'run 1 is in progress') RETURNING id`,
    );
    onTestFinished(() =>
      shop.state.query(`DELETE FROM partner_sync.runs WHERE id = $1`, [refused!.id]).then(() => undefined),
    );
    expect((await command('shop')).stdout).toContain(`run ${report.run} of shop (full)`);
    const { stdout } = await command('shop', refused!.id);
    expect(stdout).toContain(`run ${refused!.id} of shop (full)  REFUSED`);
    expect(stdout).toContain('run_in_progress: run 1 is in progress');
    expect(await command('shop', refused!.id, '--html', inFolder('refused.html'))).toMatchObject({ code: 0 });
    const page = readFileSync(inFolder('refused.html'), 'utf8');
    expect(page).toContain('refused');
    expect(page).not.toContain('✗');
  });

  it('writes a file only for the user, and replaces one only with --force', async () => {
    const file = inFolder('run.html');
    expect(await command('shop', report.run, '--html', file)).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(file).size).toBeLessThan(200_000);
    writeFileSync(file, 'mine');
    const refused = await command('shop', '--html', file);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('exists; --force replaces it');
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(await command('shop', '--html', file, '--force')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain('<!doctype html>');
  });
});

describe('plots', () => {
  it('are the same for the same run, and contain no style that a strict policy would refuse', async () => {
    const run = await history();
    const svg = outcomesOverTime(run);
    expect(outcomesOverTime(run)).toBe(svg);
    expect(svg).toMatch(/^<svg [^>]*role="img"/);
    expect(svg).toContain('aria-label="Rows by outcome over time: ');
    expect(svg).not.toMatch(/<style|style=|<script| on\w+=/);
  });

  it('show the last days of a sync in a line, whether it has run on them or not', () => {
    const runs = { complete: 1, complete_with_dead_letters: 0, incomplete: 0, failed: 1 };
    const days = [{ ...NO_COUNTS, sync: 's', day: '2026-11-20', accepted: 7, runs }];
    const svg = sparkline(days, new Date('2026-11-26T12:00:00Z'));
    expect(svg).toContain('The last 30 days: 7 rows accepted; runs failed or ended incomplete on 1 of them.');
    expect(sparkline([], new Date('2026-11-26T12:00:00Z'))).toContain('0 rows accepted');
  });
});

describe.runIf(isHere('Chromium'))('the HTML file', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  /** Opens the text as a file from the disk; returns the page, and what it has asked for or complained about. */
  async function opened(
    html: string,
    colorScheme: 'light' | 'dark',
    width = 1000,
  ): Promise<{ page: Page; noticed: string[] }> {
    const file = inFolder('opened.html');
    writeFileSync(file, html);
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const noticed: string[] = [];
    page.on('console', (message) => noticed.push(message.text()));
    page.on('pageerror', (error) => noticed.push(String(error)));
    page.on('request', (request) => noticed.push(request.url()));
    await page.addInitScript({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
    await page.goto(pathToFileURL(file).href);
    return { page, noticed: noticed.slice(1) };
  }

  /** What axe, which the browser brings into the page whatever its policy, finds wrong with it: by rule and place. */
  async function violations(page: Page): Promise<string[]> {
    const found = await page.evaluate(
      `axe.run(document).then(({ violations, passes }) => [
         ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')),
         ...(passes.length < 10 ? ['hardly anything was looked at'] : [])])`,
    );
    return found as string[];
  }

  it.each([
    ['light', 1000],
    ['dark', 360],
  ] as const)(
    'can be read in %s on a page %d wide: no request, no complaint, nothing that axe objects to',
    async (scheme, width) => {
      const { page, noticed } = await opened(reportFile(await history()), scheme, width);
      expect(noticed).toEqual([]);
      expect(await page.locator('svg.plot').count()).toBeGreaterThan(4);
      // The stylesheet is in force, so its hash is right.
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(background).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 26)');
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      if (scheme === 'light') await takePicture(page, 'run-report');
      expect(await violations(page)).toEqual([]);
      await page.close();
    },
  );

  it('shows names and messages as text, whatever is in them', async () => {
    const hostile = `</style></title><script>alert(1)</script><img src=x onerror=alert(1)>"'&`;
    const run = await history();
    const named = <T extends { readonly mapping: string }>(all: readonly T[]): T[] =>
      all.map((each) => ({ ...each, mapping: hostile }));
    const { page, noticed } = await opened(
      reportFile({
        ...run,
        sync: hostile,
        startedBy: hostile,
        outcome: 'failed',
        failure: { code: 'unexpected', message: hostile },
        mappings: named(run.mappings),
        slowest: named(run.slowest),
        periods: named(run.periods),
        causes: named(run.causes).map((cause) => ({ ...cause, reason: hostile, pointer: hostile })),
      }),
      'light',
    );
    expect(noticed).toEqual([]);
    expect(await page.locator('script, img').count()).toBe(0);
    expect(await page.locator('h1').textContent()).toBe(`Run ${run.run} of ${hostile}`);
    await page.close();
  });

  it('says of a run that goes on that it does', async () => {
    const { page } = await opened(
      reportFile({ ...(await history()), outcome: 'running', endedAt: null, report: null }),
      'light',
    );
    expect(await page.locator('main').textContent()).toContain('still going; this is its state at ');
    await page.close();
  });
});
