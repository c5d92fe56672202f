/** The overview of a hundred syncs: small enough for a telephone, and made with few questions to the ledger. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { composeView } from '../../src/composition/compose.js';
import { openJobs } from '../../src/console/actions/jobs.js';
import { serveConsole, type Console } from '../../src/console/server.js';
import { openBrowser, takePicture } from '../browser.js';
import { copyDatabase, STATE, type Database } from '../databases.js';
import { isHere } from '../here.js';
import { filesOf } from '../pipeline/shop-files.js';
import { expectAccessible, fits, strictPage } from './open-console.js';
import { SETTINGS } from './settings.js';

const SYNCS = 100;

let state: Database;
let folder: string;
let views: ReturnType<typeof composeView>;
let console: Console;

beforeAll(async () => {
  views = composeView(await manySyncs());
  console = await serveConsole(SETTINGS, {
    views,
    actions: { jobs: openJobs(['/bin/false'], {}), audit: () => Promise.reject(new Error()), operator: 'nobody' },
  });
});
afterAll(async () => {
  await console?.close();
  await views?.close();
  await state?.drop();
  rmSync(folder, { recursive: true });
});

const name = (i: number): string => `partner-${String(i).padStart(3, '0')}`;

/** Syncs that have run each hour for a month, a tenth of them failing now, with waiting records and dead letters. */
async function manySyncs(): Promise<Record<string, string>> {
  state = await copyDatabase(STATE);
  folder = mkdtempSync(join(tmpdir(), 'many-syncs-'));
  for (let i = 1; i <= SYNCS; i++) {
    mkdirSync(join(folder, name(i)));
    for (const [file, content] of Object.entries(filesOf({}))) writeFileSync(join(folder, name(i), file), content);
  }
  await state.query(`SET search_path TO partner_sync;
    INSERT INTO mappings (sync, name, read_until)
      SELECT 'partner-' || lpad(s::text, 3, '0'), m, now() FROM generate_series(1, ${SYNCS}) s, unnest(ARRAY['customers', 'orders', 'lines']) m;
    INSERT INTO runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger, started_by, started_at, ended_at, outcome, failure_code)
      SELECT 'partner-' || lpad(s::text, 3, '0'), 'sync', 'incremental', '{}', 'v', s || '-' || h, s || '-' || h, 'schedule', 'hourly',
        now() - h * interval '1 hour', now() - h * interval '1 hour' + interval '1 minute',
        CASE WHEN s % 10 = 0 AND h < 5 THEN 'failed' ELSE 'complete' END, CASE WHEN s % 10 = 0 AND h < 5 THEN 'source_unreachable' END
      FROM generate_series(1, ${SYNCS}) s, generate_series(1, 720) h;
    INSERT INTO sync_days (sync, day, complete, complete_with_dead_letters, incomplete, failed, read, accepted, unchanged, waiting, dead_lettered)
      SELECT 'partner-' || lpad(s::text, 3, '0'), current_date - d, 24, 0, 0, CASE WHEN (s + d) % 7 = 0 THEN 1 ELSE 0 END, 9, 9, 0, 0, 0
      FROM generate_series(1, ${SYNCS}) s, generate_series(0, 29) d;
    ANALYZE runs;`);
  return {
    PARTNER_SYNC_STATE_URL: state.url,
    PARTNER_SYNC_MAPPINGS: folder,
    SOURCE_URL: 'postgres://nobody@127.0.0.1:9/none',
  };
}

it('shows a hundred syncs in less than 100 kB with all that the page loads, the worst first', async () => {
  const sizes = await Promise.all(
    ['/', '/assets/console.css', '/assets/report.css', '/assets/live.js', '/assets/icon.svg'].map(async (path) => {
      const response = await fetch(`${console.url}${path}`);
      expect(response.status, path).toBe(200);
      return (await response.arrayBuffer()).byteLength;
    }),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
  const page = await (await fetch(`${console.url}/`)).text();
  expect(page).toContain(`90 of ${SYNCS} are well.`);
  const shown = [...page.matchAll(/href="\/syncs\/(partner-\d+)"/g)].map(([, sync]) => sync);
  expect(shown).toHaveLength(SYNCS);
  expect(shown.slice(0, 11)).toEqual([...Array.from({ length: 10 }, (_, i) => name(10 * (i + 1))), name(1)]);
});

it.skipIf(!isHere('Chromium')).each([
  ['light', 1280],
  ['dark', 360],
] as const)('can be read by everybody in %s, %i wide', async (colorScheme, width) => {
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const { page, wrong } = await strictPage(browser, console.url, { colorScheme, width });
  await page.goto(console.url);
  await page.waitForLoadState('networkidle');
  if (width > 1000) await takePicture(page, 'console-overview', { clip: { x: 0, y: 0, width, height: 700 } });
  await expectAccessible(page);
  expect(await fits(page)).toBe(true);
  expect(wrong).toEqual([]);
});
