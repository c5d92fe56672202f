/** `init` finds out how a sync can hear of changes, says why, and writes what is possible now. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { createDatabase, type Database } from '../databases.js';
import { dropSlot, startSlotServer, type SlotServer } from '../source/slot-server.js';
import { runInProcess } from './in-process.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'init-feeds-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function shopWith(sql: string, url?: string): Promise<Database> {
  const database = await createDatabase(url);
  onTestFinished(() => database.drop());
  await database.query(sql);
  return database;
}
const CUSTOMERS =
  'CREATE TABLE customers (id int PRIMARY KEY, name text, updated_at timestamptz NOT NULL DEFAULT now())';

const init = (database: Database, sync = 'shop') =>
  runInProcess(['init', sync, '--source', 'SHOP_URL', '--tenant', 'demo', '--json'], envOf(database));
const envOf = (database: Database) => ({ PARTNER_SYNC_MAPPINGS: folder, SHOP_URL: database.url });
const proposal = (stdout: string) => (JSON.parse(stdout) as { changes: { state: string; why: string[] } }).changes;
const syncYaml = (): string => readFileSync(join(folder, 'shop', 'sync.yaml'), 'utf8');

it('declares the feed if it is installed, and suggests a schedule that is always on', async () => {
  const database = await shopWith(CUSTOMERS, server.url('postgres'));
  expect(proposal((await init(database)).stdout)).toMatchObject({ state: 'to-install' });
  const commented = syncYaml();
  expect(commented).toContain('# changes: { slot: partner_sync_shop, publication: partner_sync_shop }');
  expect(commented).toContain('partner-sync changes install shop');

  writeFileSync(join(folder, 'shop', 'sync.yaml'), syncYaml().replace('# changes:', 'changes:'));
  onTestFinished(() => dropSlot(database, 'partner_sync_shop'));
  expect(await runInProcess(['changes', 'install', 'shop', '--apply'], envOf(database))).toMatchObject({ code: 0 });
  rmSync(join(folder, 'shop'), { recursive: true });
  const { code, stdout } = await init(database);
  expect(code).toBe(0);
  expect(proposal(stdout)).toEqual({
    state: 'ready',
    changes: '{ slot: partner_sync_shop, publication: partner_sync_shop }',
    why: ['Changed and deleted rows are found by the change feed, which is installed.'],
  });
  expect(syncYaml()).toMatch(/^changes: \{ slot/m);
  expect(syncYaml()).toContain('#   - name: live\n#     mode: live\n');
  expect(await runInProcess(['check', 'shop'], envOf(database))).toMatchObject({ code: 0 });
});

it('names what is in the way: of the server, and of tables', async () => {
  const other = await startSlotServer({ wal_level: 'replica' });
  onTestFinished(() => other.stop());
  const database = await createDatabase(other.url('postgres'));
  await database.query(CUSTOMERS);
  expect(proposal((await init(database)).stdout)).toMatchObject({
    state: 'obstacles',
    why: expect.arrayContaining([
      'Changed rows are found by cursor columns; deleted rows are not noticed.',
      'wal_level is replica; logical is needed, and a restart of the server for it',
    ]) as string[],
  });
  await database.drop();
  rmSync(join(folder, 'shop'), { recursive: true });
  const keyless = await shopWith('CREATE TABLE notes (id int UNIQUE NOT NULL, body text)', server.url('postgres'));
  const { why } = proposal((await init(keyless)).stdout);
  expect(why[0]).toContain('Every run reads all rows');
  expect(why.join('\n')).toContain('notes: it has no primary key');
  expect(syncYaml()).toContain('it has no primary key');
});
