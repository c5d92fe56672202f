/** `init` finds out how a sync can hear of changes, says why, and writes what is possible now. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type * as Files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDatabase, type Database } from '../databases.js';
import { here, mariadb, mysql, sqlite } from '../source/dialect-databases.js';
import { dropSlot, startSlotServer, type SlotServer } from '../source/slot-server.js';
import { isHere } from '../here.js';
import { unwritable } from '../unwritable-folders.js';
import { runInProcess } from './in-process.js';

vi.mock('node:fs/promises', async (original) =>
  (await import('../unwritable-folders.js')).withUnwritable(original as () => Promise<typeof Files>),
);

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

const init = (database: Pick<Database, 'url'>, sync = 'shop') =>
  runInProcess(['init', sync, '--source', 'SHOP_URL', '--tenant', 'demo', '--json'], envOf(database));
const envOf = (database: Pick<Database, 'url'>) => ({ PARTNER_SYNC_MAPPINGS: folder, SHOP_URL: database.url });
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

it('proposes a change table where the server or a table cannot have a slot, and says why', async () => {
  const other = await startSlotServer({ wal_level: 'replica' });
  onTestFinished(() => other.stop());
  const database = await createDatabase(other.url('postgres'));
  await database.query(CUSTOMERS);
  expect(proposal((await init(database)).stdout)).toEqual({
    state: 'to-install',
    changes: '{ table: partner_sync_shop }',
    why: [
      'Changed rows are found by cursor columns; rows that are gone are not noticed.',
      'A change feed would tell every change, and deleted rows, too.',
      'A slot is not possible yet:',
      'wal_level is replica; logical is needed, and a restart of the server for it',
      'A change table is possible, which triggers fill.',
      expect.stringContaining('with its triggers, bulk writes to a table take') as string,
      'To use it, remove the # before changes, then run: partner-sync changes install shop',
    ],
  });
  await database.drop();
  rmSync(join(folder, 'shop'), { recursive: true });
  const keyless = await shopWith('CREATE TABLE notes (id int UNIQUE NOT NULL, body text)', server.url('postgres'));
  const { why } = proposal((await init(keyless)).stdout);
  expect(why[0]).toContain('Every run reads all rows');
  expect(why.join('\n')).toContain('notes: it has no primary key');
  expect(syncYaml()).toContain('it has no primary key');
  expect(syncYaml()).toContain('# changes: { table: partner_sync_shop }');
});

it('names what is in the way of both a slot and a change table', async () => {
  const unlogged = await shopWith('CREATE UNLOGGED TABLE notes (id int PRIMARY KEY)', server.url('postgres'));
  const { state, why } = proposal((await init(unlogged)).stdout);
  expect(state).toBe('obstacles');
  expect(why.filter((line) => line.endsWith('is not possible yet:'))).toHaveLength(2);
  expect(why.join('\n')).toContain('notes: it is not logged');
});

describe.each(here([mariadb, mysql, sqlite]))('on $name', (dialect) => {
  it('proposes a change table, says what to know about it, and declares it once it is installed', async () => {
    const database = await dialect.create();
    onTestFinished(() => database.drop());
    await database.run('CREATE TABLE customers (id int NOT NULL PRIMARY KEY, name varchar(40))');
    expect(proposal((await init(database)).stdout)).toEqual({
      state: 'to-install',
      changes: '{ table: partner_sync_shop }',
      why: [
        'Every run reads all rows, as no table has a column that shows changes; rows that are gone are not noticed.',
        'A change feed would tell every change, and deleted rows, too.',
        'A change table is possible, which triggers fill.',
        expect.stringContaining('with its triggers, bulk writes to a table take') as string,
        'To use it, remove the # before changes, then run: partner-sync changes install shop',
      ],
    });
    expect(syncYaml()).toContain('# changes: { table: partner_sync_shop }');

    writeFileSync(join(folder, 'shop', 'sync.yaml'), syncYaml().replace('# changes:', 'changes:'));
    expect(await runInProcess(['changes', 'install', 'shop', '--apply'], envOf(database))).toMatchObject({ code: 0 });
    rmSync(join(folder, 'shop'), { recursive: true });
    expect(proposal((await init(database)).stdout)).toEqual({
      state: 'ready',
      changes: '{ table: partner_sync_shop }',
      why: ['Changed and deleted rows are found by the change feed, which is installed.'],
    });
    expect(syncYaml()).toMatch(/^changes: \{ table: partner_sync_shop \}$/m);
    expect(await runInProcess(['check', 'shop'], envOf(database))).toMatchObject({ code: 0 });
  });
});

it.runIf(isHere('SQLite'))('says which changes the change table of a database would not tell', async () => {
  const database = await sqlite.create();
  onTestFinished(() => database.drop());
  await database.run('CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT UNIQUE)');
  expect(proposal((await init(database)).stdout).why).toContainEqual(
    expect.stringContaining('customers: a row that REPLACE removes because of its email is told only if') as string,
  );
});

it.runIf(isHere('SQLite'))(
  'says that nobody would delete what was read of a file that the account may not write',
  async () => {
    const database = await sqlite.create();
    onTestFinished(() => database.drop());
    await database.run('CREATE TABLE customers (id INTEGER PRIMARY KEY)');
    unwritable.add(dirname(database.url.slice('sqlite:'.length)));
    expect(proposal((await init(database)).stdout).why).toContainEqual(
      expect.stringContaining('the account may not delete rows of the change table') as string,
    );
  },
);
