/** Runs that go by a change table, from its installation to its removal, on each kind of database. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { CHANGES, SET_BACK, undisturbed } from '../source/change-table-database.js';
import { here, sqlite, TEST_DIALECTS, type TestDatabase } from '../source/dialect-databases.js';
import { isHere } from '../here.js';
import { open } from '../source/reading.js';
import { failureOf, openShop, SYNC } from './shop.js';
import { filesOf } from './shop-files.js';

const CUSTOMERS = `CREATE TABLE customers (id integer NOT NULL PRIMARY KEY, shop varchar(10) NOT NULL DEFAULT 'n',
  name varchar(40), email varchar(40), status varchar(10), updated_at timestamp NOT NULL DEFAULT '2024-01-01 00:00:00')`;

/** The customers, of whose rows no column tells that they have changed; records of deleted rows are marked. */
function files(): Record<string, string> {
  const all = filesOf({ changes: '{ table: partner_changes }' });
  const mapping = all['customers.mapping.yaml']!.replace('shop.customers', 'customers').replace(
    'overlap: 0s',
    'overlap: 0s, zone: Etc/UTC',
  );
  return {
    'sync.yaml': all['sync.yaml']!,
    'customers.mapping.yaml': `${mapping}deletes: { action: { set: { status: gone }, clear: [name] } }\n`,
    'customer.schema.json': all['customer.schema.json']!,
  };
}

interface Status {
  readonly feeds: readonly {
    readonly problem: string | null;
    readonly unreadChanges: number | null;
    readonly sourcePosition: string | null;
    readonly ledgerPosition: string | null;
    readonly tables: readonly { table: string; isReported: boolean }[];
    readonly warnings: readonly object[];
  }[];
}

/** A shop of this database's customers, with its change table installed and a worker. */
async function installedShop(database: Pick<TestDatabase, 'url'>) {
  const load = () => Promise.resolve();
  const shop = await openShop({ sourceUrl: database.url, other: { files: files(), load } });
  onTestFinished(() => shop.close());
  const install = () => runInProcess(['changes', 'install', SYNC, '--apply'], shop.env);
  expect(await install()).toMatchObject({ code: 0 });
  await shop.work();
  return { shop, install };
}

describe.each(here(TEST_DIALECTS))('a sync that goes by a change table of $name', (listed) => {
  const dialect = undisturbed(listed);
  it('is installed, tells changes and deletions, begins anew if its changes are lost, and is removed', async () => {
    const database = await dialect.create();
    onTestFinished(() => database.drop());
    await database.run(CUSTOMERS);
    const load = () => Promise.resolve();
    const shop = await openShop({ sourceUrl: database.url, other: { files: files(), load } });
    onTestFinished(() => shop.close());
    const call = (...args: string[]) => runInProcess(args, shop.env);
    const changes = (...args: string[]) => call('changes', args[0]!, SYNC, ...args.slice(1));

    const before = await changes('status');
    expect(before.code).toBe(1);
    expect(before.stdout).toContain('CANNOT BE READ: there is no change table "partner_changes"');
    expect((await changes('status', '--json')).json<Status>().feeds).toMatchObject([{ unreadChanges: null }]);
    expect(await call('check', SYNC, '--json')).toMatchObject({ code: 0 });
    const printed = await changes('install');
    expect(printed.code).toBe(0);
    expect(printed.stdout).toMatch(/^-- warning: with its triggers, bulk writes/m);
    expect(printed.stdout).toContain("let the database's own client run these lines");
    const installed = await changes('install', '--apply');
    expect(installed.stdout).toMatch(/done {6}CREATE TRIGGER/);
    expect(installed.code).toBe(0);
    const again = await changes('install', '--apply');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was changed') as string });

    await database.run(
      `INSERT INTO customers (id, name, email, status) SELECT i, 'Customer', 'c@example.org', 'A' FROM ${dialect.numbers(20)}`,
    );
    await shop.work();
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 20, accepted: 20 } });
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 0 } });
    await database.run(`UPDATE customers SET name = 'Anna' WHERE id = 7`);
    await database.run('DELETE FROM customers WHERE id = 3');
    const unread = await changes('status', '--json');
    expect(unread.json<Status>().feeds).toMatchObject([{ unreadBytes: null, unreadChanges: 2 }]);
    expect((await changes('status')).stdout).toMatch(/ {2}2 changes {2}/);
    await database.run('UPDATE customers SET id = 500 WHERE id = 5');
    const report = await shop.run();
    expect(report).toMatchObject({ outcome: 'complete' });
    expect(report.removals).toMatchObject([{ mapping: 'customers', records: 2, marked: 2, state: 'done' }]);
    expect(await shop.stored('customer', '7')).toMatchObject({ name: 'Anna' });
    expect(await shop.stored('customer', '3')).toMatchObject({ status: 'gone' });
    expect(await shop.stored('customer', '5')).toMatchObject({ status: 'gone' });
    expect(await shop.stored('customer', '500')).toMatchObject({ status: 'active' });

    const { json, code } = await changes('status', '--json');
    expect(code).toBe(0);
    expect(json<Status>().feeds).toMatchObject([
      {
        problem: null,
        unreadChanges: 0,
        tables: [{ isReported: true }],
        warnings: [],
        ledgerPosition: expect.any(String) as string,
      },
    ]);
    const doctor = await call('doctor', SYNC, '--json');
    expect(doctor.stdout).toContain('partner_changes can be read');

    const removed = await changes('remove', '--apply');
    expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining('forgotten in the ledger') as string });
    expect(await failureOf(await shop.start('sync', { sync: SYNC }))).toMatchObject({ type: 'config_invalid' });
    await database.run(`UPDATE customers SET name = 'Unheard' WHERE id = 8`);
    await database.run('DELETE FROM customers WHERE id = 9');
    expect(await changes('install', '--apply')).toMatchObject({ code: 0 });
    expect(await shop.run()).toMatchObject({ outcome: 'complete' });
    expect(await shop.stored('customer', '8')).toMatchObject({ name: 'Unheard' });
    expect(await shop.stored('customer', '9')).toMatchObject({ status: 'gone' });
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 0 } });
  });

  it('has lost its changes if its change table was dropped, and reads every row once that is installed again', async () => {
    const database = await dialect.create();
    onTestFinished(() => database.drop());
    await database.run(CUSTOMERS);
    await database.run(`INSERT INTO customers (id, name, email, status) VALUES (1, 'Customer', 'c@example.org', 'A')`);
    const { shop, install } = await installedShop(database);
    expect(await shop.run()).toMatchObject({ total: { read: 1, accepted: 1 } });

    await database.run(`DROP TABLE ${dialect.speaks === 'postgres' ? 'partner_sync_changes.' : ''}${CHANGES.table}`);
    await expect(async () => database.run(`UPDATE customers SET name = 'Anna'`)).rejects.toThrow();
    expect(await failureOf(await shop.start('sync', { sync: SYNC }))).toMatchObject({ type: 'changes_lost' });
    expect(await install()).toMatchObject({ code: 0 });
    // A connection of SQLite that was open meanwhile looks for the table only once it has read something.
    await database.run('SELECT 1 FROM customers');
    await database.run(`UPDATE customers SET name = 'Anna'`);
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 1, accepted: 1 } });
    expect(await shop.stored('customer', '1')).toMatchObject({ name: 'Anna' });
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 0 } });
  });

  it('reads every row again if its triggers were made again, or its database was restored from an older copy', async () => {
    const database = await dialect.create();
    onTestFinished(() => database.drop());
    await database.run(CUSTOMERS);
    const insert = (id: number) =>
      database.run(`INSERT INTO customers (id, name, email, status) VALUES (${id}, 'Customer', 'c@example.org', 'A')`);
    for (const id of [1, 2, 3]) await insert(id);
    const { shop, install } = await installedShop(database);
    expect(await shop.run()).toMatchObject({ total: { read: 3, accepted: 3 } });

    const source = open(database.url);
    onTestFinished(() => source.close());
    const { statements } = await source.changes(CHANGES).removal();
    await database.run(statements.find(({ sql }) => /^DROP (TRIGGER|FUNCTION) .*_[0-9a-f]{8}/.test(sql))!.sql);
    await database.run(`UPDATE customers SET name = 'Unheard' WHERE id = 2`);
    await database.run('DELETE FROM customers WHERE id = 3');
    expect(await install()).toMatchObject({ code: 0 });
    // Both rows that are there, and the record of the one that is gone.
    expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 3, unchanged: 1 } });
    expect(await shop.stored('customer', '2')).toMatchObject({ name: 'Unheard' });
    expect(await shop.stored('customer', '3')).toMatchObject({ status: 'gone' });

    for (const id of [4, 5]) await insert(id);
    expect(await shop.run()).toMatchObject({ outcome: 'complete' });
    expect(await shop.run()).toMatchObject({ total: { read: 0 } });
    await database.run(SET_BACK[listed.name]);
    const report = await shop.run();
    expect(report).toMatchObject({ outcome: 'complete', total: { read: 4 } });
    expect(report.notes).toMatchObject([
      { message: expect.stringContaining('gone back to an earlier state') as string },
    ]);
    expect(await shop.run()).toMatchObject({ total: { read: 0 } });
  });
});

it.runIf(isHere('SQLite'))('lets check warn of changes that no trigger sees', async () => {
  const database = await sqlite.create();
  onTestFinished(() => database.drop());
  await database.run(`${CUSTOMERS}; CREATE UNIQUE INDEX mails ON customers (email)`);
  const load = () => Promise.resolve();
  const shop = await openShop({ sourceUrl: database.url, other: { files: files(), load } });
  onTestFinished(() => shop.close());
  const { code, json } = await runInProcess(['check', SYNC, '--json'], shop.env);
  expect(code).toBe(0);
  expect(json<{ findings: object[] }>().findings).toContainEqual(
    expect.objectContaining({
      kind: 'changes_table',
      severity: 'warning',
      path: 'changes',
      message: expect.stringMatching(
        /does not report every change of customers: .*recursive_triggers; .* mode mirror$/,
      ) as string,
    }),
  );
});
