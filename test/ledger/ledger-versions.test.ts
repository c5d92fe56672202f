/** Ledgers and programs of different versions: what adds is applied beside old workers, what breaks them is not. */
import type { Knex } from 'knex';
import { expect, it, onTestFinished } from 'vitest';
import { assertMigrated, migrateLedger, openLedgerDatabase } from '../../src/ledger/database/connection.js';
import type { LedgerMigration } from '../../src/ledger/database/ledger-versions.js';
import { openLedger, type Ledger } from '../../src/ledger/ledger.js';
import { isHere } from '../here.js';
import * as first from '../../src/ledger/migrations/0001-ledger.js';
import {
  createDatabase,
  eventually,
  fill,
  NO_OPEN_ENDS,
  openEnds,
  shopForTest,
  SYNC,
  type Database,
} from '../pipeline/shop.js';

const step = (name: string, sql: string, more: Partial<LedgerMigration> = {}): LedgerMigration => ({
  name,
  up: (knex) => knex.raw(sql),
  ...more,
});
const EXPAND = step('0002-expand-colour', 'ALTER TABLE tenants ADD COLUMN colour text');
const CONTRACT = step('0003-drop-kind', 'ALTER TABLE runs DROP COLUMN kind', { breaksBefore: EXPAND.name });

async function databaseForTest(): Promise<Database> {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  return database;
}

/** A program that knows these migrations, and has opened the ledger or been refused. */
async function program(database: Database, migrations: readonly LedgerMigration[]): Promise<Knex> {
  const knex = openLedgerDatabase(database.url, { migrations, poolMin: 1 });
  onTestFinished(() => knex.destroy());
  await migrateLedger(knex, migrations);
  return knex;
}

/** This release, at work. */
async function oldWorker(database: Database): Promise<Ledger> {
  const ledger = await openLedger(database.url);
  onTestFinished(() => ledger.close());
  return ledger;
}

const applied = async (database: Database): Promise<string[]> =>
  (await database.query<{ name: string }>('SELECT name FROM partner_sync.migrations ORDER BY name')).map(
    ({ name }) => name,
  );

it('adds to the ledger while an old worker works, which goes on, and may be started again', async () => {
  const database = await databaseForTest();
  const old = await oldWorker(database);

  await program(database, [first, EXPAND]);

  expect(await applied(database)).toEqual([first.name, EXPAND.name]);
  expect(await old.ids.tenantIds(['north'])).toEqual(new Map([['north', expect.any(Number)]]));
  const again = await oldWorker(database);
  expect(await again.runs.latest(undefined, 1)).toEqual([]);
});

// The sandbox, which the run sends to, needs a newer PostgreSQL than the ledger.
it.skipIf(!isHere('Sandbox'))(
  'adds to every table while an old worker is loading, whose run then delivers everything once',
  async () => {
    const shop = await shopForTest({ upload: { batchSize: 10, requestsAtOnce: 1 } });
    await fill(shop, 20);
    let isHeld = true;
    shop.proxy.fail(({ upload }) =>
      upload && isHeld && shop.proxy.uploads() > 1
        ? { forward: false, answer: { status: 503, headers: { 'retry-after': '1' }, body: '{}' } }
        : undefined,
    );
    const run = await shop.start('sync', { sync: SYNC });
    await eventually('some batches are sent, and others not yet', async () => {
      const rows = await shop.state.query<{ state: string }>(
        'SELECT DISTINCT state FROM partner_sync.batches ORDER BY 1',
      );
      return rows.map(({ state }) => state).join() === 'intended,sent';
    });

    const tables = await shop.state.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'partner_sync' AND tablename NOT LIKE 'migrations%'`,
    );
    const expansions = tables.map(({ name }, i) =>
      step(
        `${String(i + 2).padStart(4, '0')}-expand-${name}`,
        `ALTER TABLE ${name} ADD added text NOT NULL DEFAULT ''`,
      ),
    );
    await program(shop.state, [first, ...expansions]);
    expect(await applied(shop.state)).toHaveLength(1 + tables.length);
    expect((await run.describe()).status.name).toBe('RUNNING');
    isHeld = false;

    expect(await run.result()).toMatchObject({ outcome: 'complete', total: { read: 60, accepted: 60 } });
    expect(await shop.differences()).toBe(0);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  },
);

it('does not take away what a connected older program needs, and says what to do', async () => {
  const database = await databaseForTest();
  const old = await openLedger(database.url);

  await expect(program(database, [first, EXPAND, CONTRACT])).rejects.toMatchObject({
    code: 'state_not_ready',
    message: expect.stringMatching(
      /^the ledger cannot be upgraded \(0003-drop-kind\) while an older partner-sync is connected to it \(\d+ sessions?\): stop the older workers first$/,
    ) as string,
  });
  expect(await applied(database)).toEqual([first.name]);

  await old.close();
  await program(database, [first, EXPAND, CONTRACT]);
  expect(await applied(database)).toEqual([first.name, EXPAND.name, CONTRACT.name]);
});

it('takes away what only programs used that are not connected any more, beside one that does without', async () => {
  const database = await databaseForTest();
  await program(database, [first, EXPAND]);

  await program(database, [first, EXPAND, CONTRACT]);

  expect(await applied(database)).toContain(CONTRACT.name);
});

it('sees an old worker that has had nothing to do for long', async () => {
  const database = await databaseForTest();
  const old = openLedgerDatabase(database.url, { poolMin: 1 });
  onTestFinished(() => old.destroy());
  await migrateLedger(old);
  const pool = (old.client as { pool: { idleTimeoutMillis: number; check(): void; numFree(): number } }).pool;
  pool.idleTimeoutMillis = 0;
  pool.check();

  expect(pool.numFree()).toBe(1);
  await expect(program(database, [first, CONTRACT])).rejects.toMatchObject({ code: 'state_not_ready' });
});

it('is refused by an older program once it does more than add', async () => {
  const database = await databaseForTest();
  await program(database, [first, CONTRACT]);

  const refusal = {
    code: 'state_not_ready',
    message: 'the ledger was made by a newer partner-sync (it has 0003-drop-kind), and this one could damage it',
  };
  await expect(openLedger(database.url)).rejects.toMatchObject(refusal);
  const view = openLedgerDatabase(database.url, { readOnly: true });
  onTestFinished(() => view.destroy());
  await expect(assertMigrated(view)).rejects.toMatchObject(refusal);
});
