/** `status` shows every run, including those that failed before they began, and exits with 1 if the latest failed. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { eventually, failureOf, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { build, CLI } from '../pipeline/worker-process.js';
import { runInProcess } from './in-process.js';

let shop: Shop;
beforeAll(async () => {
  await build();
  shop = await openShop();
  await fill(shop, 3);
});
afterAll(() => shop.close());

/** Adds runs that ended more than 400 days ago, of which a sync keeps those among its latest. */
const addOldRuns = (): Promise<unknown> =>
  shop.state.query(
    `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger,
       started_at, ended_at, outcome)
     SELECT 'shop', 'backfill', 'backfill', '{}', 'v', 'w', gen_random_uuid(), 'other', t, t, 'complete'
     FROM generate_series(1, 40), (SELECT now() - interval '401 days') past(t)`,
  );
const oldRuns = async (): Promise<number> =>
  (await shop.state.query(`SELECT FROM partner_sync.runs WHERE ended_at < now() - interval '400 days'`)).length;

const status = (env: Record<string, string> = {}, ...args: string[]) =>
  runInProcess(['status', ...(args.length > 0 ? args : [SYNC])], { ...shop.env, ...env });

it('says that it cannot see all runs if Temporal cannot be reached', async () => {
  const { code, stdout } = await status({ TEMPORAL_ADDRESS: '127.0.0.1:1' });

  expect(stdout).toContain('no runs of shop in the ledger yet');
  expect(stdout).toContain(
    'Runs that failed before the ledger recorded them are not shown: no Temporal server can be reached at 127.0.0.1:1',
  );
  expect(code).toBe(1);
});

it('says that there are no runs yet', async () => {
  expect(await status()).toMatchObject({ code: 0, stdout: 'no runs of shop in the ledger yet\n' });
});

it('shows a run that no worker has picked up, and one that was terminated before that', async () => {
  const waiting = await shop.start('sync', { sync: SYNC });
  const begun = await status();
  expect(begun.stdout).toMatch(new RegExp(`${waiting.workflowId} +shop +sync +not started`));
  expect(begun.code).toBe(0);

  await waiting.terminate('by hand');

  const ended = await status();
  expect(ended.stdout).toMatch(new RegExp(`${waiting.workflowId} +shop +sync +failed`));
  expect(ended.stdout).toContain('shop: the latest run failed');
  expect(ended.stdout).toContain('run_stopped: terminated: by hand');
  expect(ended.code).toBe(1);
  expect((await status({}, '--json')).code).toBe(1);
});

it('shows it again with --follow when it changes, and only then, until interrupted', async () => {
  const child = spawn(process.execPath, [CLI, 'status', SYNC, '--follow'], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'] ?? '', ...shop.env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const shown = () => stdout.match(/^no runs of shop in the ledger yet$/gm)?.length ?? 0;
  await eventually('the status', () => Promise.resolve(shown() === 1));

  const waiting = await shop.start('sync', { sync: SYNC });
  await eventually('the new run', () => Promise.resolve(stdout.includes(waiting.workflowId)));
  await waiting.terminate('by hand');
  await eventually('its end', () =>
    Promise.resolve(new RegExp(`${waiting.workflowId} +shop +sync +failed`).test(stdout)),
  );
  expect(shown()).toBe(3);

  child.kill('SIGINT');
  expect(await ended).toBe('SIGINT');
});

it('shows runs that failed on their files, however many in a row, until one succeeds', async () => {
  await shop.work();
  onTestFinished(() => shop.rest());
  const file = 'customers.mapping.yaml';
  const good = readFileSync(join(shop.folder, SYNC, file), 'utf8');
  shop.write(file, good.replace('name: name', 'name: { colunm: name }'));
  await addOldRuns();
  for (let i = 0; i < 3; i++)
    expect(await failureOf(await shop.start('sync', { sync: SYNC, mode: 'full' }))).toMatchObject({
      type: 'config_invalid',
    });

  // They have pruned, by the sync.yaml beside the broken mapping.
  expect(await oldRuns()).toBeLessThan(25);
  const failing = await status();

  expect(failing.stdout.match(/^\d+ +shop +full +failed/gm)).toHaveLength(3);
  expect(failing.stdout).toContain('the latest 5 runs failed');
  expect(failing.stdout).toMatch(/config_invalid: .*colunm/);
  expect(failing.code).toBe(1);

  shop.write(file, good);
  expect((await shop.run()).outcome).toBe('complete');
  const well = await status();
  expect(well.stdout).not.toContain('the latest');
  expect(well.code).toBe(0);
});

it('shows runs with a wrong input, with and without the name of a sync', async () => {
  await shop.work();
  onTestFinished(() => shop.rest());
  await failureOf(await shop.start('sync', { sync: SYNC, mappings: ['custmers'] }));
  await failureOf(await shop.start('backfill', { sync: SYNC, form: '2020-01-01' }));
  const nameless = await shop.start('sync', { snyc: SYNC });
  await failureOf(nameless);

  const ofShop = await status();
  expect(ofShop.stdout).toContain('the latest 2 runs failed');
  expect(ofShop.stdout).toMatch(/input_invalid: Input of the backfill workflow: unknown field "form"/);
  expect(ofShop.stdout).not.toContain(nameless.workflowId);
  const all = await runInProcess(['status'], shop.env);
  expect(all.stdout).toContain(nameless.workflowId);
  expect(all.stdout).toContain('a run without a sync: the latest run failed');
  expect(all.code).toBe(1);
});

it('says why a run failed in the middle, and lists a second run as refused, which is no failure of the sync', async () => {
  await shop.work();
  onTestFinished(() => shop.rest());
  await addOldRuns();
  shop.proxy.fail(() => ({ forward: false, answer: { status: 401, body: '{"message":"no"}' } }));
  await shop.source.query(`UPDATE shop.customers SET name = 'New', updated_at = clock_timestamp()`);
  expect(await failureOf(await shop.start('sync', { sync: SYNC }))).toMatchObject({ type: 'platform_unauthorized' });
  expect(await oldRuns()).toBeLessThan(30);
  const failed = await status();
  expect(failed.stdout).toMatch(/the latest \d runs failed, most recently .*: platform_unauthorized: /);
  expect(failed.stdout).toContain('Renew PLATFORM_TOKEN');

  shop.proxy.fail(({ upload }) =>
    upload ? undefined : { forward: false, answer: { status: 503, body: '{"message":"busy"}' } },
  );
  const before = shop.proxy.uploads();
  const first = await shop.start('sync', { sync: SYNC });
  await expect.poll(() => shop.proxy.uploads(), { timeout: 30_000 }).toBeGreaterThan(before);
  expect(await failureOf(await shop.start('sync', { sync: SYNC }))).toMatchObject({ type: 'run_in_progress' });
  shop.proxy.fail(undefined);
  await first.result();
  const well = await status();
  expect(well.stdout).toMatch(/shop +incremental +refused/);
  expect(well.code).toBe(0);
});

it('says that records are as earlier files made them, until a run has read every row with these', async () => {
  await shop.work();
  onTestFinished(() => shop.rest());
  await shop.run({ mode: 'full' });
  expect((await status()).stdout).not.toContain('have changed');

  const lines = readFileSync(join(shop.folder, SYNC, 'lines.mapping.yaml'), 'utf8');
  shop.write('lines.mapping.yaml', `${lines}deletes: { action: ignore }\n`);
  await shop.run();
  const { stdout } = await status();
  expect(stdout).toContain('The files of the sync have changed since all rows were last read');
  expect(stdout).toContain('partner-sync run shop --mode full');
  expect(JSON.parse((await status({}, SYNC, '--json')).stdout)).toMatchObject({ recordsOfEarlierFiles: true });

  await shop.run({ mode: 'full' });
  expect((await status()).stdout).not.toContain('have changed');
  // Wherever they cannot be read, everything else is shown.
  shop.write('lines.mapping.yaml', 'schema: [');
  expect((await status()).stdout).toMatch(/lines +3/);
  shop.write('lines.mapping.yaml', lines);
});
