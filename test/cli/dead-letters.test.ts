/** The commands of dead letters against a real shop: looked at, exported, replayed, dropped. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';
import { partnerSync, type CommandEnd } from './command-line.js';

let shop: Shop;
let worker: WorkerProcess;

const letters = (...args: string[]): Promise<CommandEnd> => partnerSync(['dead-letters', ...args], shop.env);

beforeAll(async () => {
  await build();
  shop = await openShop();
  await fill(shop, 30);
  await shop.source.query(`UPDATE shop.customers SET email = 'canary' WHERE id <= 25`);
  await shop.source.query(`UPDATE shop.customers SET status = '=canary()' WHERE id IN (26, 27)`);
  worker = await startWorkerProcess(shop);
  expect((await partnerSync(['run', SYNC, '--mapping', 'customers'], shop.env)).code).toBe(3);
}, 180_000);
afterAll(async () => {
  worker.child.kill('SIGTERM');
  await worker.ended;
  await shop.close();
});

it('lists causes with their counts, and some of the letters', async () => {
  const { code, stdout } = await letters('list', SYNC);
  expect(code).toBe(0);
  expect(stdout).toContain('27 dead letters of shop, 2 causes');
  expect(stdout).toMatch(/25\s+customers\s+\/email\s+format: email\s+record_invalid/);
  expect(stdout).toMatch(/customers\s+1\s+1\s+\/email\s+text\(6\) aaaaaa\s+1\s+20/);
  expect(stdout).toContain('... and 7 letters more');

  const narrowed = await letters('list', SYNC, '--field', '/status', '--since', '1h', '--json');
  expect(narrowed.json()).toMatchObject({ version: 1, total: 2, causes: [{ code: 'mapping_failed', count: 2 }] });
  expect((await letters('list', SYNC, '--since', '2999-01-01')).stdout).toContain(
    'no dead letters of shop with --since',
  );
});

it('shows one letter, with what to do', async () => {
  const [letter] = (await letters('list', SYNC, '--json')).json<{ letters: { id: string; externalId: string }[] }>()
    .letters;
  const { code, stdout } = await letters('show', SYNC, letter!.id);
  expect(code).toBe(0);
  expect(stdout).toContain('reason  not a valid email');
  expect(stdout).toContain('to do   Correct the row or the mapping');

  const unknown = await letters('show', SYNC, '999999');
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('there is no dead letter 999999 of shop');
});

it('exports all of them as CSV that no spreadsheet runs, and as JSON', async () => {
  const csv = (await letters('export', SYNC)).stdout.trimEnd().split('\r\n');
  expect(csv[0]).toBe(
    'letter,mapping,tenant,external_id,source_key,code,field,rule,reason,shape,times,first_seen,last_seen,run,mapping_version',
  );
  expect(csv).toHaveLength(28);
  expect(csv.join('\n')).not.toMatch(/(^|,)"?[=+@-]/m);
  const { letters: all } = (await letters('export', SYNC, '--json')).json<{ letters: object[] }>();
  expect(all).toHaveLength(27);
  expect(JSON.stringify([csv, all])).not.toContain('canary');
});

it('drops only what is meant, and only when it is told to', async () => {
  const unasked = await letters('drop', SYNC, '--code', 'mapping_failed');
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toContain('This forgets 2 dead letters of shop --code mapping_failed.');
  expect(unasked.stderr).toContain('--yes');

  const dropped = await letters('drop', SYNC, '--code', 'mapping_failed', '--yes', '--json');
  expect(dropped.json()).toMatchObject({ dropped: 2 });
  expect((await letters('list', SYNC, '--json')).json()).toMatchObject({ total: 25 });
  expect((await letters('drop', SYNC, '--code', 'mapping_failed')).stdout).toContain('no dead letters of shop to drop');
});

it('replays, says what became of each, and ends with 3 while some fail again', async () => {
  await shop.source.query(`UPDATE shop.customers SET email = 'mended@example.org' WHERE id <= 20`);
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 21`);
  const { code, json } = await letters('replay', SYNC, '--json');
  expect(code).toBe(3);
  expect(json()).toMatchObject({ mode: 'replay', replayed: 25, gone: 1, waiting: 0, stillDead: 4 });

  await shop.source.query(`UPDATE shop.customers SET email = NULL`);
  const rest = await letters('replay', SYNC);
  expect(rest.code).toBe(0);
  expect(rest.stdout).toContain('4 replayed: 4 delivered, 0 whose rows are gone, 0 waiting, 0 dead letters again');
  expect((await letters('replay', SYNC)).stdout).toContain('no dead letters of shop to replay');
});

it('does not say of the letters of a stopped mapping that they were replayed, or their rows gone', async () => {
  await shop.source.query(`UPDATE shop.customers SET email = 'canary', updated_at = clock_timestamp() WHERE id <= 2`);
  expect((await partnerSync(['run', SYNC, '--mapping', 'customers'], shop.env)).code).toBe(3);
  await shop.source.query(`ALTER TABLE shop.customers RENAME COLUMN email TO elsewhere`);

  const { code, stdout } = await letters('replay', SYNC);

  expect(stdout).toContain('0 replayed: 0 delivered, 0 whose rows are gone');
  // Two of the emails, and the two statuses whose letters were dropped.
  expect(stdout).toContain('4 left as they are: their mappings were stopped');
  expect(code).toBe(1);
  expect((await letters('list', SYNC, '--json')).json()).toMatchObject({ total: 4 });
});
