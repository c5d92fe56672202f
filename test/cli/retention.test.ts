/** The commands `prune`, `forget` and `audit` against a real shop. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startedBy } from '../../src/cli/actor.js';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import type { CommandEnd } from './command-line.js';
import { runInProcess } from './in-process.js';

let shop: Shop;
const command = (...args: string[]): Promise<CommandEnd> => runInProcess(args, shop.env);

beforeAll(async () => {
  shop = await openShop({ upload: { waitForPending: '1s' } });
  await shop.work();
  await fill(shop, 30);
  await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id IN (3, 4)`);
  await shop.run();
});
afterAll(() => shop.close());

/** Makes everything in the ledger so many days older. */
async function age(days: number): Promise<void> {
  const past = `interval '${days} days'`;
  await shop.state.query(
    `UPDATE partner_sync.runs SET started_at = started_at - ${past}, ended_at = ended_at - ${past}`,
  );
  await shop.state.query(`UPDATE partner_sync.batches SET settled_at = settled_at - ${past}`);
}
const rowsOf = async (table: string): Promise<number> =>
  (await shop.state.query<{ n: number }>(`SELECT count(*)::int AS n FROM partner_sync.${table}`))[0]!.n;

it('forgets a record after confirmation, and says what remains', async () => {
  const unasked = await command('forget', SYNC, '--external-id', '5', '--mapping', 'customers');
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toContain('The ledger of shop knows 1 records that were sent. This cannot be undone.');
  expect(unasked.stderr).toContain('--yes');

  const known = await command('forget', SYNC, '--external-id', '5', '--mapping', 'customers', '--dry-run');
  expect(known).toMatchObject({ code: 0, stderr: '' });
  expect(known.stdout).toContain('nothing was forgotten (--dry-run)');

  const forgotten = await command('forget', SYNC, '--external-id', '5', '--mapping', 'customers', '--yes');
  expect(forgotten.code).toBe(0);
  expect(forgotten.stdout).toContain('forgotten by the ledger of shop:');
  expect(forgotten.stdout).toContain('the source and the platform are not touched');
  expect(forgotten.stdout).toContain("Temporal's history of a backfill");

  const again = await command('forget', SYNC, '--external-id', '5', '--mapping', 'customers');
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('the ledger of shop knows nothing of it');
});

it('forgets dead letters, and a full run delivers again what the source still has', async () => {
  const { json } = await command('forget', SYNC, '--external-id', '3', '--mapping', 'customers', '--yes', '--json');
  expect(json()).toMatchObject({ version: 1, forgotten: true, known: { deadLetters: 1, references: 1 } });
  expect((await command('dead-letters', 'list', SYNC, '--json')).stdout).not.toContain('"externalId":"3"');

  const report = await shop.run({ mode: 'full' });
  expect(report.mappings.find(({ mapping }) => mapping === 'customers')).toMatchObject({
    accepted: 1,
    deadLettered: 2,
  });
});

it.each([
  [
    ['forget', SYNC],
    'say what to forget: --tenant, --external-id, a --mapping that the files no longer have, or --all',
  ],
  [['forget', SYNC, '--all', '--tenant', 'north'], '--all is about the whole sync'],
  [['forget', SYNC, '--mapping', 'customers'], 'mapping customers is still in the files of shop'],
  [
    ['forget', SYNC, '--external-id', '1', '--mapping', 'custmers'],
    'sync shop has no mapping "custmers"; did you mean "customers"?',
  ],
  [['forget', SYNC, '--external-id', '1', '--external-id', '2'], 'Forget one record at a time'],
  [['forget', 'shup', '--tenant', 'x'], 'there is no sync "shup"'],
  [['prune', 'shup'], 'there is no sync "shup"'],
  [['audit', 'shup'], 'there is no sync "shup"'],
])('says what is wrong with %j', async (args, says) => {
  const { code, stderr } = await command(...args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) as string });
});

it('shows what is old, removes it, and leaves the rest', async () => {
  expect((await command('prune', SYNC)).stdout).toBe('shop: nothing is old enough\n');
  await age(100);
  const before = await rowsOf('partitions');

  const dry = await command('prune', '--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.stdout).toMatch(/^shop: [\d,]+ rows would be removed\n/);
  expect(dry.stdout).toMatch(/settled batches\s+20\d\d-/);
  expect(await rowsOf('partitions')).toBe(before);

  const pruned = await command('prune', SYNC, '--json');
  expect(pruned.json()).toMatchObject({ dryRun: false, syncs: [{ sync: SYNC, done: true }] });
  expect([await rowsOf('partitions'), await rowsOf('batches')]).toEqual([0, 0]);
  expect(await rowsOf('runs')).toBeGreaterThan(0);
});

it('prunes all others if the retention of one sync cannot be read, whatever else is wrong with its files', async () => {
  const folder = (name: string) => join(shop.folder, name);
  mkdirSync(folder('a-broken'));
  mkdirSync(folder('b-wrong'));
  onTestFinished(() => ['a-broken', 'b-wrong'].forEach((name) => rmSync(folder(name), { recursive: true })));
  writeFileSync(join(folder('a-broken'), 'sync.yaml'), 'retention: { batches: soon }\n');
  writeFileSync(join(folder('b-wrong'), 'sync.yaml'), "source: { connection: '${env:NOWHERE}' }\ntenant: north\n");
  const { code, json } = await command('prune', '--json');
  expect(code).toBe(1);
  expect(json<{ syncs: object[] }>().syncs).toMatchObject([
    { sync: 'a-broken', removed: [], problem: expect.stringContaining('cannot be read') as string },
    { sync: 'b-wrong', problem: null },
    { sync: SYNC, done: true, problem: null },
  ]);
});

it('removes what is old at the end of a run, which goes on from its position', async () => {
  await shop.run();
  await age(100);
  const before = await rowsOf('partitions');
  expect(before).toBeGreaterThan(0);

  const report = await shop.run();

  expect(report.total).toMatchObject({ accepted: 0 });
  const [{ n }] = (await shop.state.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM partner_sync.partitions WHERE run_id <> $1',
    [report.run],
  )) as [{ n: number }];
  expect(n).toBe(0);
  expect(await rowsOf('dead_letters')).toBeGreaterThan(0);
});

it('keeps what sync.yaml says for longer', async () => {
  const { spec } = await shop.parts.openSync(SYNC);
  expect(spec.retention).toEqual({
    batches: 14 * 86_400,
    partitions: 90 * 86_400,
    removalPlans: 90 * 86_400,
    runs: 400 * 86_400,
    audit: 400 * 86_400,
  });
});

it('shows who has done what, newest first', async () => {
  await command('dead-letters', 'drop', SYNC, '--code', 'record_invalid', '--yes');
  const { code, stdout } = await command('audit', SYNC, '--since', '1h');

  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[1]).toMatch(/^\S+Z\s+shop\s+dead letters dropped\s+\S+\s+cli\s+rows \d; filter/);
  expect(lines[1]).toContain(startedBy());
  expect(stdout).toMatch(/forgotten\s+\S+\s+cli\s+by external id; records 1; mappings customers\n/);
  expect(stdout).toMatch(/pruned\s+\S+\s+cli/);
  expect(stdout).toMatch(/run started/);
  const { entries } = (await command('audit', '--limit', '2', '--json')).json<{ entries: { action: string }[] }>();
  expect(entries).toHaveLength(2);
  expect(entries[0]).toMatchObject({ action: 'dead_letters_dropped', actor: { who: startedBy(), origin: 'cli' } });
});

it('notes what was done to schedules, and does it without the ledger too', async () => {
  const env = { ...shop.env, PARTNER_SYNC_STATE_URL: 'postgres://nobody@127.0.0.1:1/nothing' };
  const applied = await command('schedules', 'apply', SYNC);
  expect(applied.code).toBe(0);
  await eventually('the audit has it', async () =>
    (await command('audit', SYNC, '--limit', '1')).stdout.includes('schedules applied'),
  );
  const without = await runInProcess(['schedules', 'pause', SYNC, '--reason', 'test'], env);
  expect(without.code).toBe(0);
  expect(await rowsOf(`audit WHERE action = 'schedules_paused'`)).toBe(0);
});
