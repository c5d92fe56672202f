/** The commands for dead letters against a real shop: list, show, export, replay and drop. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fill, openShop, shopForTest, SYNC, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';
import { runInProcess } from './in-process.js';
import type { CommandEnd } from './command-line.js';

let shop: Shop;
let worker: WorkerProcess;

const deadLetters = (...args: string[]): Promise<CommandEnd> => runInProcess(['dead-letters', ...args], shop.env);

beforeAll(async () => {
  await build();
  shop = await openShop();
  await fill(shop, 30);
  await shop.source.query(`UPDATE shop.customers SET email = 'canary' WHERE id <= 25`);
  await shop.source.query(`UPDATE shop.customers SET status = '=canary()' WHERE id IN (26, 27)`);
  worker = await startWorkerProcess(shop);
  expect((await runInProcess(['run', SYNC, '--mapping', 'customers'], shop.env)).code).toBe(3);
});
afterAll(async () => {
  worker.child.kill('SIGTERM');
  await worker.ended;
  await shop.close();
});

it('lists causes with their counts, and some of the dead letters', async () => {
  const { code, stdout } = await deadLetters('list', SYNC);
  expect(code).toBe(0);
  expect(stdout).toContain('27 dead letters of shop, 2 causes');
  expect(stdout).toMatch(/25\s+customers\s+\/email\s+format: email\s+record_invalid/);
  expect(stdout).toMatch(/customers\s+1\s+1\s+\/email\s+text\(6\) aaaaaa\s+1\s+20/);
  expect(stdout).toContain('... and 7 more');

  const narrowed = await deadLetters('list', SYNC, '--field', '/status', '--since', '1h', '--json');
  expect(narrowed.json()).toMatchObject({ version: 1, total: 2, causes: [{ code: 'mapping_failed', count: 2 }] });
  expect((await deadLetters('list', SYNC, '--since', '2999-01-01')).stdout).toContain(
    'no dead letters of shop with --since',
  );
});

it('shows one dead letter, with what to do about it', async () => {
  const [deadLetter] = (await deadLetters('list', SYNC, '--json')).json<{
    deadLetters: { id: string; externalId: string }[];
  }>().deadLetters;
  const { code, stdout } = await deadLetters('show', SYNC, deadLetter!.id);
  expect(code).toBe(0);
  expect(stdout).toContain('reason  not a valid email');
  expect(stdout).toContain('to do   Correct the row or the mapping');

  const unknown = await deadLetters('show', SYNC, '999999');
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('there is no dead letter 999999 of shop');
});

it('are told by reconcile from the differences of which nobody knows, with the command that lists them', async () => {
  const reconcile = (...args: string[]) =>
    runInProcess(['reconcile', SYNC, '--mapping', 'customers', ...args], shop.env);
  const allDead = await reconcile();
  expect(allDead.code).toBe(1);
  expect(allDead.stdout).toMatch(
    /27 differences\n27 of them are known dead letters: partner-sync dead-letters list shop\n$/,
  );

  // One that could be mapped by now is missing, and its dead letter is still there; another one has changed since.
  await shop.source.query(`UPDATE shop.customers SET email = 'right@example.org' WHERE id = 1`);
  await shop.source.query(`UPDATE shop.customers SET name = 'Changed' WHERE id = 30`);
  const { json } = await reconcile('--json');
  expect(json()).toMatchObject({ mappings: [{ missing: 1, stale: 1, unmappable: 26, deadLetters: 27 }] });
  await shop.source.query(`UPDATE shop.customers SET email = 'canary' WHERE id = 1`);
});

it('exports all dead letters as JSON, and as CSV without formulas that a spreadsheet would run', async () => {
  const csv = (await deadLetters('export', SYNC)).stdout.trimEnd().split('\r\n');
  expect(csv[0]).toBe(
    'dead_letter,mapping,tenant,external_id,source_key,code,field,rule,reason,shape,times,first_seen,last_seen,run,mapping_version',
  );
  expect(csv).toHaveLength(28);
  expect(csv.join('\n')).not.toMatch(/(^|,)"?[=+@-]/m);
  const { deadLetters: all } = (await deadLetters('export', SYNC, '--json')).json<{ deadLetters: object[] }>();
  expect(all).toHaveLength(27);
  expect(JSON.stringify([csv, all])).not.toContain('canary');
});

it('drops only the selected dead letters, and only after confirmation', async () => {
  const unasked = await deadLetters('drop', SYNC, '--code', 'mapping_failed');
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toContain('This deletes 2 dead letters of shop --code mapping_failed.');
  expect(unasked.stderr).toContain('--yes');

  const dropped = await deadLetters('drop', SYNC, '--code', 'mapping_failed', '--yes', '--json');
  expect(dropped.json()).toMatchObject({ dropped: 2 });
  expect((await deadLetters('list', SYNC, '--json')).json()).toMatchObject({ total: 25 });
  expect((await deadLetters('drop', SYNC, '--code', 'mapping_failed')).stdout).toContain(
    'no dead letters of shop to drop',
  );
});

it('starts a replay of the selected dead letters and leaves', async () => {
  const { code, json } = await deadLetters('replay', SYNC, '--field', '/email', '--detach', '--json');

  expect(code).toBe(0);
  const { workflowId } = json<{ workflowId: string }>();
  expect(await shop.client.workflow.getHandle(workflowId).result()).toMatchObject({
    mode: 'replay',
    total: { read: 25, deadLettered: 25 },
  });
});

it('replays dead letters, reports the outcome of each, and exits with 3 while some fail again', async () => {
  await shop.source.query(`UPDATE shop.customers SET email = 'fixed@example.org' WHERE id <= 20`);
  await shop.source.query(`DELETE FROM shop.customers WHERE id = 21`);
  const { code, json } = await deadLetters('replay', SYNC, '--json');
  expect(code).toBe(3);
  expect(json()).toMatchObject({ mode: 'replay', replayed: 25, gone: 1, waiting: 0, stillDead: 4 });

  await shop.source.query(`UPDATE shop.customers SET email = NULL`);
  const rest = await deadLetters('replay', SYNC);
  expect(rest.code).toBe(0);
  expect(rest.stdout).toContain(
    '4 dead letters replayed: 4 delivered, 0 with rows that are gone, 0 waiting, 0 dead-lettered again',
  );
  expect(rest.stdout).toMatch(/^customers +4 /m);
  expect(rest.stdout + rest.stderr).not.toMatch(/orders|lines|^total/m);
  expect((await deadLetters('replay', SYNC)).stdout).toContain('no dead letters of shop to replay');
});

it('does not report the dead letters of a skipped mapping as replayed, or their rows as gone', async () => {
  await shop.source.query(`UPDATE shop.customers SET email = 'canary', updated_at = clock_timestamp() WHERE id <= 2`);
  expect((await runInProcess(['run', SYNC, '--mapping', 'customers'], shop.env)).code).toBe(3);
  await shop.source.query(`ALTER TABLE shop.customers RENAME COLUMN email TO elsewhere`);

  const { code, stdout } = await deadLetters('replay', SYNC);

  expect(stdout).toContain('0 dead letters replayed: 0 delivered, 0 with rows that are gone');
  // Two of the emails, and the two statuses whose dead letters were dropped.
  expect(stdout).toContain('4 dead letters not replayed, as the mappings were skipped because of schema drift');
  expect(code).toBe(1);
  expect((await deadLetters('list', SYNC, '--json')).json()).toMatchObject({ total: 4 });
});

describe('a replay that frees the children of its rows', () => {
  /** Customers 1 and 2 are dead letters, and with each of them its order and its line. */
  const shopWithFamilies = async (): Promise<Shop> => {
    const own = await shopForTest({ upload: { waitForPending: '1s' } });
    await fill(own, 3);
    await own.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id <= 2`);
    expect((await own.run()).total.deadLettered).toBe(6);
    await own.source.query(`UPDATE shop.customers SET email = NULL`);
    return own;
  };

  it('counts the rows of the dead letters that were selected, and not the children', async () => {
    const own = await shopWithFamilies();
    await own.source.query(`DELETE FROM shop.customers WHERE id = 2`);

    const { json } = await runInProcess(['dead-letters', 'replay', SYNC, '--mapping', 'customers', '--json'], own.env);

    expect(json()).toMatchObject({ total: { read: 3 }, replayed: 2, gone: 1, waiting: 0, stillDead: 0 });
  });

  it('takes no row for gone that was brought back before its own turn came', async () => {
    const own = await shopWithFamilies();
    await own.source.query(`DELETE FROM shop.lines WHERE order_no = 'o2'`);

    const { stdout, stderr, code } = await runInProcess(['dead-letters', 'replay', SYNC], own.env);

    expect(stderr).not.toContain('error');
    expect(stdout).toContain(
      '6 dead letters replayed: 5 delivered, 1 with rows that are gone, 0 waiting, 0 dead-lettered again',
    );
    expect(code).toBe(0);
  });
});
