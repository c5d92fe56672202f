/** `changes`: an administrator installs the feed of a sync, sees how it stands, and removes it, on a real server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, fill, SYNC } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { dropSlot, startSlotServer, type SlotServer } from '../source/slot-server.js';
import { openFedShop, type FedShop } from './fed-shop.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

const fedShop = (files?: Record<string, string>): Promise<FedShop> => openFedShop(server, files);

/** The statements of a script, as psql takes it apart: without comments, at semicolons outside of quotes. */
const statementsOf = (script: string): string[] =>
  (script.replaceAll(/^--.*\n/gm, '').match(/(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^;'"])+;/g) ?? []).map((sql) =>
    sql.trim(),
  );

/** What of a feed is in the source. */
const partsOf = ({ source, slot }: FedShop) =>
  source.query<{ part: string }>(
    `SELECT 'slot' AS part FROM pg_replication_slots WHERE slot_name = $1
     UNION ALL SELECT 'publication' FROM pg_publication UNION ALL SELECT 'schema' FROM pg_namespace WHERE nspname LIKE 'partner%'
     UNION ALL SELECT 'role' FROM pg_roles WHERE rolname = $1 || '_owner'`,
    [slot],
  );

interface InstallDocument {
  readonly blocked: boolean;
  readonly feeds: readonly {
    readonly feed: string;
    readonly findings: readonly {
      kind: string;
      blocks: boolean;
      table: string | null;
      mappings: string[];
      fix: string;
    }[];
    readonly statements: readonly { sql: string; why: string; outcome: string }[];
  }[];
  readonly failure: { readonly code: string; readonly message: string; readonly remedy: string } | null;
}

const outcomesOf = ({ feeds }: InstallDocument): string[] =>
  feeds.flatMap(({ statements }) => statements.map(({ outcome }) => outcome));

it('prints a script that installs the feed statement by statement, and changes nothing by itself', async () => {
  const shop = await fedShop();
  const { code, stdout } = await shop.changes('install');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^-- warning: max_slot_wal_keep_size is -1/m);
  expect(stdout).toContain(`TO "${shop.reader}"`);
  expect(await partsOf(shop)).toEqual([]);

  for (const sql of statementsOf(stdout)) await shop.source.query(sql);

  const again = await shop.changes('install');
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('-- everything is there');
  expect(statementsOf(again.stdout)).toEqual([]);
});

it('installs what is missing, so that a run works with an account that may only read, and then nothing more', async () => {
  const shop = await fedShop();
  await fill(shop, 5);
  const { code, stdout } = await shop.changes('install --apply');
  expect(stdout).toMatch(/done {6}SELECT pg_create_logical_replication_slot/);
  expect(code).toBe(0);

  await shop.work();
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 15, accepted: 15 } });
  await shop.source.query(`UPDATE shop.customers SET name = 'Anna' WHERE id = 3`);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 1, accepted: 1 } });

  const again = await shop.changes('install --apply');
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('everything is there, and nothing was changed');
});

it("uses the sync's own connection if no other one is named", async () => {
  const shop = await fedShop();
  const own = await shop.changes('install --apply --json', {
    SOURCE_URL: shop.env['SOURCE_ADMIN_URL']!,
    SOURCE_ADMIN_URL: '',
  });
  expect(own.code).toBe(0);
  expect(new Set(outcomesOf(own.json()))).toEqual(new Set(['done']));
});

it('says which statements were run and which not if the account may not run one, and goes on from there', async () => {
  const shop = await fedShop();
  // Who owns the tables may publish them, and may not create a role that reads slots.
  await shop.source.query(`GRANT CREATE ON DATABASE ${shop.slot} TO ${shop.reader}`);
  for (const table of ['customers', 'orders', 'lines'])
    await shop.source.query(`ALTER TABLE shop.${table} OWNER TO ${shop.reader}`);
  const plain = await shop.changes('install --apply', { SOURCE_ADMIN_URL: '' });
  expect(plain.code).toBe(1);
  expect(plain.stdout).toMatch(/done {6}CREATE PUBLICATION/);
  expect(plain.stdout).toMatch(/failed {4}CREATE ROLE/);
  expect(plain.stdout).toMatch(/not run {3}SELECT pg_create/);
  expect(plain.stdout).toContain('SQLSTATE 42501: the account lacks the privilege');

  const failed = await shop.changes('install --apply --json', { SOURCE_ADMIN_URL: '' });
  expect(failed.code).toBe(1);
  const document = failed.json<InstallDocument>();
  expect(outcomesOf(document).slice(0, 2)).toEqual(['failed', 'not run']);
  expect(document.failure).toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('SQLSTATE 42501') as string,
    remedy: expect.stringContaining('SOURCE_ADMIN_URL') as string,
  });

  expect((await shop.changes('install --apply')).code).toBe(0);
  expect((await shop.changes('install')).stdout).toContain('everything is there');
});

it('creates nothing for a table whose REPLICA IDENTITY is FULL, and says which SQL corrects it', async () => {
  const shop = await fedShop();
  await shop.source.query('ALTER TABLE shop.orders REPLICA IDENTITY FULL');
  for (const options of ['', ' --apply']) {
    const { code, stdout } = await shop.changes(`install${options}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^-- error: shop\.orders \(orders\): its REPLICA IDENTITY is FULL/m);
    expect(stdout).toContain('ALTER TABLE "shop"."orders" REPLICA IDENTITY DEFAULT;');
    expect(statementsOf(stdout)).toEqual([]);
  }
  const json = (await shop.changes('install --apply --json')).json<InstallDocument>();
  expect(json).toMatchObject({ blocked: true, feeds: [{ statements: [] }] });
  expect(json.feeds[0]!.findings).toContainEqual(
    expect.objectContaining({ kind: 'identity-full', blocks: true, table: 'shop.orders', mappings: ['orders'] }),
  );
  expect(await partsOf(shop)).toEqual([]);

  await shop.source.query(json.feeds[0]!.findings.find(({ kind }) => kind === 'identity-full')!.fix);
  expect((await shop.changes('install --apply')).code).toBe(0);
});

it('adds the table of a mapping that was added later to the publication', async () => {
  const shop = await fedShop({ 'lines.mapping.yaml': `${filesOf({})['lines.mapping.yaml']}changes: none\n` });
  await shop.changes('install --apply');
  shop.write('lines.mapping.yaml', filesOf({})['lines.mapping.yaml']!);
  const { stdout } = await shop.changes('install');
  const columns = server.version >= 15 ? ' ("order_no", "line")' : '';
  expect(statementsOf(stdout)).toEqual([`ALTER PUBLICATION "${shop.slot}" ADD TABLE "shop"."lines"${columns};`]);
  expect(outcomesOf((await shop.changes('install --apply --json')).json())).toEqual(['done']);
  expect((await shop.changes('install')).stdout).toContain('everything is there');
});

it('leaves a part that differs as it is, and says what would correct it', async () => {
  const shop = await fedShop();
  await shop.changes('install --apply');
  await shop.source.query(`ALTER PUBLICATION ${shop.slot} SET (publish = 'insert')`);
  await shop.source.query(`ALTER ROLE ${shop.slot}_owner LOGIN`);
  await shop.source
    .query(`CREATE OR REPLACE FUNCTION partner_sync_changes.${shop.slot}_advance(upto pg_lsn) RETURNS pg_lsn
    LANGUAGE sql AS 'SELECT upto'`);
  const { code, json } = await shop.changes('install --apply --json');
  expect(code).toBe(1);
  const { findings, statements } = json<InstallDocument>().feeds[0]!;
  expect(statements).toEqual([]);
  const fixes = findings.filter(({ blocks }) => blocks).map(({ fix }) => fix);
  expect(fixes).toEqual([
    `ALTER PUBLICATION "${shop.slot}" SET (publish = 'insert, update, delete, truncate')`,
    `ALTER ROLE "${shop.slot}_owner" NOLOGIN REPLICATION NOSUPERUSER`,
    `DROP FUNCTION partner_sync_changes."${shop.slot}_advance"(pg_lsn)`,
  ]);

  for (const fix of fixes) await shop.source.query(fix);
  expect((await shop.changes('install --apply')).code).toBe(0);
});

it('corrects a publication that lacks a column of a key, or sends more than the key', async (context) => {
  if (server.version < 15) context.skip('publications name columns since PostgreSQL 15');
  const shop = await fedShop();
  await shop.source.query(
    `CREATE PUBLICATION ${shop.slot} FOR TABLE shop.customers, shop.orders (no), shop.lines (order_no)`,
  );
  const { code, json } = await shop.changes('install --json');
  expect(code).toBe(1);
  const { findings } = json<InstallDocument>().feeds[0]!;
  expect(findings.filter(({ table }) => table !== null)).toMatchObject([
    { kind: 'more-columns', blocks: false, table: 'shop.customers' },
    { kind: 'part-differs', blocks: true, table: 'shop.lines' },
  ]);
  for (const { table, fix } of findings) if (table !== null) await shop.source.query(fix);
  const corrected = await shop.changes('install --json');
  expect(corrected.code).toBe(0);
  expect(corrected.json<InstallDocument>().feeds[0]!.findings.map(({ kind }) => kind)).toEqual(['log-unlimited']);
});

it('refuses a slot that is older than the publication that it is to report', async () => {
  const shop = await fedShop();
  await shop.changes('install --apply');
  await shop.source.query(`DROP PUBLICATION ${shop.slot}`);
  const { code, stdout } = await shop.changes('install --apply');
  expect(code).toBe(1);
  expect(stdout).toContain(`SELECT pg_drop_replication_slot('${shop.slot}')`);
});

it('runs nothing in another database than the one that the sync reads', async () => {
  const [shop, other] = [await fedShop(), await fedShop()];
  const { code, stderr } = await shop.changes('install --apply', {
    SOURCE_ADMIN_URL: other.env['SOURCE_ADMIN_URL']!,
  });
  expect(code).toBe(2);
  expect(stderr).toContain('leads to another server or database');
  expect(await partsOf(other)).toEqual([]);
});

interface StatusDocument {
  readonly ok: boolean;
  readonly feeds: readonly {
    readonly problem: string | null;
    readonly sourcePosition: string | null;
    readonly ledgerPosition: string | null;
    readonly keptBytes: number | null;
    readonly bytesLeft: number | null;
    readonly readAt: string | null;
    readonly tables: readonly object[];
    readonly mappings: readonly { mapping: string; loaded: boolean; changedRows: number; oldestAt: string | null }[];
  }[];
}

it('shows a feed that is not installed yet, also without a ledger', async () => {
  const shop = await fedShop();
  const env = { PARTNER_SYNC_STATE_URL: '' };
  const { code, json } = await shop.changes('status --json', env);
  expect(code).toBe(1);
  expect(json<StatusDocument>()).toMatchObject({
    ok: false,
    feeds: [{ problem: `there is no slot "${shop.slot}"`, sourcePosition: null, ledgerPosition: null, readAt: null }],
  });
  const { stdout } = await shop.changes('status', env);
  expect(stdout).toContain(`CANNOT BE READ: there is no slot "${shop.slot}"`);
  expect(stdout).toContain('do: partner-sync changes install shop');
  expect(stdout).toMatch(/shop\.lines +MISSING +lines/);
});

it('shows how far a feed has been read, and which changed rows wait in the ledger', async () => {
  const shop = await fedShop();
  await fill(shop, 3);
  await shop.changes('install --apply');
  const installed = await shop.changes('status --json');
  expect(installed.code).toBe(0);
  expect(installed.json<StatusDocument>().feeds[0]).toMatchObject({
    problem: null,
    ledgerPosition: null,
    readAt: null,
    bytesLeft: null,
    tables: [
      { table: 'shop.customers', mappings: ['customers'], isReported: true },
      { table: 'shop.lines', mappings: ['lines'], isReported: true },
      { table: 'shop.orders', mappings: ['orders'], isReported: true },
    ],
  });

  await shop.work();
  await shop.run();
  await shop.state.query(
    `INSERT INTO partner_sync.changed_rows (mapping_id, key_hash, key, recorded_at)
     SELECT id, sha256(i::text::bytea), ARRAY[i::text], '2024-05-01T12:00:00Z' FROM partner_sync.mappings, generate_series(1, 2) i
     WHERE name = 'orders'`,
  );
  const { code, json } = await shop.changes('status --json');
  expect(code).toBe(0);
  const [feed] = json<StatusDocument>().feeds;
  expect(feed!.sourcePosition).toBe(feed!.ledgerPosition);
  expect(feed!.readAt).toMatch(/^\d{4}-/);
  expect(feed!.keptBytes).toBeGreaterThanOrEqual(0);
  // A slot tells how much of its log nobody has read, and not of how many changes.
  expect(feed).toMatchObject({ unreadBytes: expect.any(Number) as number, unreadChanges: null });
  const deliveredUntil = expect.stringMatching(/^\d{4}-.*Z$/) as string;
  expect(feed!.mappings).toEqual([
    { mapping: 'customers', loaded: true, changedRows: 0, deliveredUntil, oldestAt: null },
    { mapping: 'lines', loaded: true, changedRows: 0, deliveredUntil, oldestAt: null },
    { mapping: 'orders', loaded: true, changedRows: 2, deliveredUntil, oldestAt: '2024-05-01T12:00:00.000Z' },
  ]);
  const { stdout } = await shop.changes('status');
  expect(stdout).toContain('can be read');
  expect(stdout).toMatch(/orders +yes +\S+Z +2 rows +2024-05-01T12:00:00\.000Z/);

  // The ledger has a position that another slot of the name knows nothing of.
  await dropSlot(shop.source, shop.slot);
  expect((await shop.changes('status')).stdout).toContain('there is no slot');
  await shop.source.query(`SELECT pg_create_logical_replication_slot('${shop.slot}', 'pgoutput')`);
  const anew = await shop.changes('status');
  expect(anew.code).toBe(1);
  expect(anew.stdout).toContain('the slot was created anew');
});

it('shows a table that the publication lacks, and a source that cannot be reached', async () => {
  const shop = await fedShop({ 'lines.mapping.yaml': `${filesOf({})['lines.mapping.yaml']}changes: none\n` });
  await shop.changes('install --apply');
  expect((await shop.changes('status')).code).toBe(0);
  shop.write('lines.mapping.yaml', filesOf({})['lines.mapping.yaml']!);
  const lacking = await shop.changes('status');
  expect(lacking.code).toBe(1);
  expect(lacking.stdout).toMatch(/shop\.lines +MISSING +lines/);
  const gone = await shop.changes('status --json', { SOURCE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' });
  expect(gone.code).toBe(1);
  expect(gone.json<StatusDocument>().feeds[0]!.problem).toContain('ECONNREFUSED');
});

it.each([
  ['postgres://u:hunter3@127.0.0.1:99999/x', 2, 'SOURCE_ADMIN_URL is no URL'],
  [
    'mysql://u:hunter3@127.0.0.1:1/x',
    2,
    'SOURCE_ADMIN_URL is the address of a database of MySQL, and the source is one of',
  ],
  ['u:hunter3@127.0.0.1:1/x', 2, 'SOURCE_ADMIN_URL must be one of: postgres://user@host'],
  ['postgres://u:hunter3@127.0.0.1:1/x', 1, 'ECONNREFUSED'],
])('says what is wrong with the address of the administrator: %s', async (url, expected, why) => {
  const shop = await fedShop();
  const { code, stderr } = await shop.changes('install --apply', { SOURCE_ADMIN_URL: url });
  expect(stderr).toContain(why);
  expect(code).toBe(expected);
  expect(await partsOf(shop)).toEqual([]);
});

it('says that the server has given a slot up, and begins anew once it is removed and installed', async (context) => {
  if (server.version < 13) context.skip('slots are not given up before PostgreSQL 13');
  const shop = await fedShop();
  await fill(shop, 2);
  await shop.changes('install --apply');
  await shop.work();
  await shop.run();
  await giveUp(shop);
  const { code, stdout } = await shop.changes('status');
  expect(code).toBe(1);
  expect(stdout).toContain(`CANNOT BE READ: the server has given up the slot "${shop.slot}"`);
  const refused = await shop.changes('install');
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain('drop it, and install again');
  expect((await shop.changes('remove --apply')).code).toBe(0);
  expect((await shop.changes('install --apply')).code).toBe(0);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 6, unchanged: 6 } });
});

/** Lets the server keep next to nothing of its log, until it has given up the slot. */
async function giveUp({ source, slot }: FedShop): Promise<void> {
  await source.query(`ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'`);
  await source.query('SELECT pg_reload_conf()');
  try {
    await eventually('that the slot is given up', async () => {
      await source.query('SELECT pg_switch_wal()');
      await source.query('CREATE TABLE IF NOT EXISTS filler (i int)');
      await source.query('DROP TABLE filler');
      await source.query('CHECKPOINT');
      const lost = await source.query(`SELECT FROM pg_replication_slots WHERE slot_name = $1 AND wal_status = 'lost'`, [
        slot,
      ]);
      return lost.length > 0;
    });
  } finally {
    await source.query('ALTER SYSTEM RESET max_slot_wal_keep_size');
    await source.query('SELECT pg_reload_conf()');
  }
}

it('prints what removes the feed, removes it, and begins anew if it is installed again', async () => {
  const shop = await fedShop();
  await fill(shop, 3);
  await shop.changes('install --apply');
  await shop.work();
  await shop.run();
  const printed = await shop.changes('remove');
  expect(printed.code).toBe(0);
  expect(statementsOf(printed.stdout)).toHaveLength(4);
  expect(await partsOf(shop)).toHaveLength(4);

  const { code, stdout } = await shop.changes('remove --apply');
  expect(stdout).toContain('forgotten in the ledger');
  expect(code).toBe(0);
  expect(await partsOf(shop)).toEqual([]);
  const left = await shop.state.query(
    `SELECT sync FROM partner_sync.change_feeds UNION ALL SELECT feed FROM partner_sync.fed_mappings`,
  );
  expect(left).toEqual([]);
  const again = await shop.changes('remove --apply');
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('nothing of it is there');

  await shop.changes('install --apply');
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { read: 9, unchanged: 9 } });
});

it('removes nothing while a run of the sync is active', async () => {
  const shop = await fedShop();
  await shop.changes('install --apply');
  await shop.state.query(
    `INSERT INTO partner_sync.runs (sync, kind, mode, input, mapping_version, workflow_id, first_execution_run_id, trigger)
     VALUES ('${SYNC}', 'sync', 'incremental', '{}', 'v', 'w', 'f', 'other')`,
  );
  const { code, stderr } = await shop.changes('remove --apply');
  expect(code).toBe(1);
  expect(stderr).toMatch(/run_in_progress: run \d+ of shop is active/);
  expect(await partsOf(shop)).toHaveLength(4);
});

it('says that a sync has no feed, and that a database has none of this kind, or none at all', async () => {
  const shop = await fedShop();
  shop.write('sync.yaml', filesOf({})['sync.yaml']!);
  const none = await shop.changes('install');
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('no mapping of shop goes by a change feed');
  shop.write('sync.yaml', filesOf({ changes: `{ slot: ${shop.slot}, publication: p }` })['sync.yaml']!);
  for (const [url, why] of [
    [
      'mysql://u@127.0.0.1:1/x',
      'a slot is a change feed of PostgreSQL, and the source is a database of MySQL or MariaDB',
    ],
    ['sqlite:nowhere.db', 'a slot is a change feed of PostgreSQL, and the source is a database of SQLite'],
    ['sqlserver://u@127.0.0.1:1/x', 'no change feed of SQL Server is supported yet'],
  ] as const) {
    const other = await shop.changes('install', { SOURCE_URL: url });
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(why);
  }
});
