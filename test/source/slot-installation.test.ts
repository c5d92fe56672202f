/** What an administrator runs for a slot, on real servers: it works for a plain account, harms no writer and leaves nothing. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FeedFinding, InstallationStatement, PlannedTable } from '../../src/domain/source/feed-installation.js';
import { findSlotProblems } from '../../src/source/postgres/changes/slot-findings.js';
import { slotInstallation, slotRemoval, type SlotPlan } from '../../src/source/postgres/changes/slot-installation.js';
import { openPostgresSession } from '../../src/source/postgres/session.js';
import { createDatabase, type Database } from '../databases.js';
import { open } from './reading.js';
import { dropSlot, groupsFrom, keysOf, startSlotServer, turn, type SlotServer } from './slot-server.js';

let server: SlotServer;

beforeAll(async () => {
  server = await startSlotServer();
});
afterAll(() => server.stop());

const planned = (name: string, ...key: string[]): PlannedTable => ({ table: { schema: 'public', name }, key });

/** A database, and an account that may only read it. */
async function shop(sql: string): Promise<{ database: Database; name: string; url: string }> {
  const database = await createDatabase(server.url('postgres'));
  const name = new URL(database.url).pathname.slice(1);
  await database.query(sql);
  await database.query(
    `CREATE ROLE ${name} LOGIN PASSWORD 'r'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${name}`,
  );
  onTestFinished(async () => {
    await dropSlot(database, name);
    await database.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    await database.drop();
  });
  return { database, name, url: Object.assign(new URL(database.url), { username: name, password: 'r' }).href };
}

const planOf = (name: string, tables: readonly PlannedTable[], publication = name): SlotPlan => ({
  version: server.version,
  slot: name,
  publication,
  account: name,
  tables,
});

async function runAll(database: Database, statements: readonly InstallationStatement[]): Promise<void> {
  for (const { sql } of statements) await database.query(sql);
}

const PARTITIONED = `
  CREATE TABLE visits (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
  CREATE TABLE visits_1 PARTITION OF visits FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');`;

describe('an installed slot', () => {
  it('is read and confirmed by an account that may do nothing else with it', async () => {
    const isPartitioned = server.version >= 13;
    const { database, name, url } = await shop(
      `CREATE TABLE orders (id int PRIMARY KEY, note text); ${isPartitioned ? PARTITIONED : ''}`,
    );
    const plan = planOf(
      name,
      [planned('orders', 'id'), ...(isPartitioned ? [planned('visits', 'id', 'day')] : [])],
      `The "people's" publication`,
    );
    await runAll(database, slotInstallation(plan));
    onTestFinished(() => runAll(database, slotRemoval(plan)));
    const source = open(url);
    onTestFinished(() => source.close());
    const feed = source.changes({ kind: 'slot', slot: name, publication: plan.publication });
    const start = await feed.begin();
    await database.query(`INSERT INTO orders VALUES (1, 'a')`);
    await database.query('UPDATE orders SET id = 2');
    if (isPartitioned) await database.query(`INSERT INTO visits VALUES (1, '2024-05-01')`);

    const [keys, position] = await turn(feed, start);

    expect(keys).toEqual(['orders:1', 'orders:1', 'orders:2', ...(isPartitioned ? ['visits:1|2024-05-01'] : [])]);
    expect((await feed.state()).position).toEqual(position);
    await expect(
      source.readPage(
        {
          relation: {
            query: `SELECT lsn::text AS lsn FROM pg_logical_slot_peek_binary_changes('${name}', NULL, NULL, 'proto_version', '1', 'publication_names', 'p')`,
          },
          columns: ['lsn'],
          key: ['lsn'],
          cursor: null,
        },
        { after: null, cursorFrom: null, cursorBefore: null, throughKey: null },
        10,
      ),
    ).rejects.toThrow('42501');
  });

  it('cannot be called by other accounts, and does not look for names in schemas of others', async () => {
    const { database, name } = await shop('CREATE TABLE orders (id int PRIMARY KEY)');
    const { name: stranger } = await shop('');
    const plan = planOf(name, [planned('orders', 'id')]);
    await runAll(database, slotInstallation(plan));
    onTestFinished(() => runAll(database, slotRemoval(plan)));

    const functions = await database.query(
      `SELECT proname, prosecdef, proconfig::text, rolname, rolcanlogin, rolsuper, rolreplication,
         has_function_privilege($1, p.oid, 'EXECUTE') AS stranger, has_function_privilege($2, p.oid, 'EXECUTE') AS account
       FROM pg_proc p JOIN pg_roles r ON r.oid = proowner
       WHERE pronamespace = 'partner_sync_changes'::regnamespace ORDER BY proname`,
      [stranger, name],
    );

    const expected = {
      prosecdef: true,
      proconfig: '{"search_path=pg_catalog, pg_temp"}',
      rolname: `${name}_owner`,
      rolcanlogin: false,
      rolsuper: false,
      rolreplication: true,
      stranger: false,
      account: true,
    };
    expect(functions).toEqual([
      { proname: `${name}_advance`, ...expected },
      { proname: `${name}_peek`, ...expected },
    ]);
  });

  it('leaves nothing behind when it is removed, not even if only a part of it was installed', async () => {
    const { database, name } = await shop('CREATE TABLE orders (id int PRIMARY KEY)');
    const plan = planOf(name, [planned('orders', 'id')]);
    const statements = slotInstallation(plan);
    const left = () =>
      database.query(
        `SELECT slot_name::text AS name FROM pg_replication_slots WHERE slot_name = $1
         UNION ALL SELECT pubname FROM pg_publication UNION ALL SELECT nspname FROM pg_namespace WHERE nspname LIKE 'partner%'
         UNION ALL SELECT rolname FROM pg_roles WHERE rolname = $1 || '_owner'`,
        [name],
      );
    for (const count of [0, 1, 3, 5, 8, statements.length]) {
      await runAll(database, statements.slice(0, count));
      await runAll(database, slotRemoval(plan));
      expect(await left()).toEqual([]);
    }
  });

  it('is refused to a feed of another publication', async () => {
    const { database, name, url } = await shop('CREATE TABLE orders (id int PRIMARY KEY)');
    const plan = planOf(name, [planned('orders', 'id')]);
    await runAll(database, slotInstallation(plan));
    onTestFinished(() => runAll(database, slotRemoval(plan)));
    await database.query('CREATE PUBLICATION other FOR TABLE orders');
    const source = open(url);
    onTestFinished(() => source.close());

    const feed = source.changes({ kind: 'slot', slot: name, publication: 'other' });
    expect((await feed.state()).problem).toBe(`the function ${name}_peek is not about the publication "other"`);
    await database.query('DROP PUBLICATION other');
  });

  it('gives each statement a line that says what it is for', () => {
    for (const { sql, why } of [...slotInstallation(planOf('s', [])), ...slotRemoval(planOf('s', []))]) {
      expect(sql).not.toBe('');
      expect(why).toMatch(/^[a-z][^\n]+$/);
    }
  });

  it.each(['', 'A', 'a-b', `a'b`, 'x'.repeat(55)])('has a name that a slot can have: not %j', (slot) => {
    expect(() => slotInstallation(planOf(slot, []))).toThrow('the name of a slot has up to 54');
  });
});

/** What is found about tables, without what is found about the server. */
const findingsOf = (database: Database, ...tables: PlannedTable[]): Promise<readonly FeedFinding[]> =>
  findingsWithin(database, null, tables);

/** The same of a slot with this limit. */
async function findingsWithin(
  database: Database,
  maxBytes: number | null,
  tables: readonly PlannedTable[] = [],
): Promise<readonly FeedFinding[]> {
  const limit = maxBytes === null ? null : ({ maxBytes, whenExceeded: 'alert' } as const);
  const session = openPostgresSession({ connection: database.url, poolMax: 1, statementTimeout: 10 });
  try {
    return (await findSlotProblems((query) => session.run(query), tables, limit)).findings;
  } finally {
    await session.close();
  }
}

describe('before a slot is created', () => {
  it.each([
    ['no-primary-key', 'CREATE TABLE t (id int)', ['id']],
    ['identity-full', 'CREATE TABLE t (id int PRIMARY KEY); ALTER TABLE t REPLICA IDENTITY FULL', ['id']],
    ['identity-nothing', 'CREATE TABLE t (id int PRIMARY KEY); ALTER TABLE t REPLICA IDENTITY NOTHING', ['id']],
    [
      'identity-index',
      'CREATE TABLE t (id int PRIMARY KEY, no int NOT NULL UNIQUE); ALTER TABLE t REPLICA IDENTITY USING INDEX t_no_key',
      ['id'],
    ],
  ] as const)('SQL is given that corrects: %s', async (kind, sql, key) => {
    const { database } = await shop(sql);
    const [finding] = (await findingsOf(database, planned('t', ...key))).filter(({ table }) => table !== null);
    expect(finding).toMatchObject({ kind, blocks: true, table: { schema: 'public', name: 't' } });
    await database.query(finding!.fix!);
    expect((await findingsOf(database, planned('t', ...key))).filter(({ table }) => table !== null)).toEqual([]);
  });

  it('the publication has all columns by which a table identifies its rows, of which a mapping may need only some', async () => {
    const { database } = await shop('CREATE TABLE t (no int, line int, sku text, PRIMARY KEY (no, line))');
    expect((await findingsOf(database, planned('t', 'no'))).filter(({ table }) => table !== null)).toEqual([]);
    const source = open(database.url);
    onTestFinished(() => source.close());
    const feed = source.changes({ kind: 'slot', slot: 'unused', publication: 'unused' });
    const { statements } = await feed.installation([planned('t', 'no'), planned('t', 'line')]);
    expect(statements.map(({ sql }) => sql)).toContainEqual(
      expect.stringMatching(
        server.version >= 15
          ? /^CREATE PUBLICATION "?unused"? FOR TABLE [^,]*t"? \("?no"?, "?line"?\) WITH/
          : /^CREATE PUBLICATION "?unused"? FOR TABLE [^,(]*t"?( WITH|$)/,
      ),
    );
  });

  it.each([
    ['other-key', 'CREATE TABLE t (id int PRIMARY KEY, no int)', ['no']],
    ['other-key', 'CREATE TABLE t (id int PRIMARY KEY, no int)', ['id', 'no']],
    ['table-missing', '', ['id']],
    ['not-publishable', 'CREATE VIEW t AS SELECT 1 AS id', ['id']],
    ['not-publishable', 'CREATE UNLOGGED TABLE t (id int PRIMARY KEY)', ['id']],
    ['children', 'CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u () INHERITS (t)', ['id']],
    ['key-type', 'CREATE TABLE t (id int[] PRIMARY KEY)', ['id']],
    ['key-type', 'CREATE DOMAIN price AS money; CREATE TABLE t (id price PRIMARY KEY)', ['id']],
  ] as const)('a table is refused: %s', async (kind, sql, key) => {
    const { database } = await shop(sql);
    const findings = (await findingsOf(database, planned('t', ...key))).filter(({ table }) => table !== null);
    expect(findings.map((finding) => finding.kind)).toEqual([kind]);
  });

  it('nothing speaks against a key in another order, an index with the very columns, and partitions', async () => {
    const { database } = await shop(
      `CREATE TABLE lines (order_no text, line int, PRIMARY KEY (order_no, line));
       CREATE TABLE coded (id int PRIMARY KEY, code text NOT NULL UNIQUE);
       ALTER TABLE coded REPLICA IDENTITY USING INDEX coded_code_key; ${PARTITIONED}`,
    );
    const findings = await findingsOf(
      database,
      planned('lines', 'line', 'order_no'),
      planned('coded', 'code'),
      ...(server.version >= 13 ? [planned('visits', 'id', 'day')] : []),
    );
    expect(findings.filter(({ blocks }) => blocks)).toEqual([]);
  });

  it('a partition is named that refuses updates, and a partitioned table before PostgreSQL 13', async () => {
    const { database } = await shop(`${PARTITIONED} ALTER TABLE visits_1 REPLICA IDENTITY FULL`);
    const [finding] = (await findingsOf(database, planned('visits', 'id', 'day'))).filter(({ blocks }) => blocks);
    expect(finding).toMatchObject(
      server.version < 13
        ? { kind: 'not-publishable' }
        : { kind: 'identity-full', table: { schema: 'public', name: 'visits_1' } },
    );
  });

  it("the partner's own updates and deletions go on for every table that is not refused", async (context) => {
    if (server.version < 15) context.skip('publications name columns since PostgreSQL 15');
    const { database, name } = await shop(
      `CREATE TABLE good (id int PRIMARY KEY, note text); CREATE TABLE bad (id int PRIMARY KEY, note text);
       ALTER TABLE bad REPLICA IDENTITY FULL; INSERT INTO good VALUES (1); INSERT INTO bad VALUES (1)`,
    );
    await runAll(database, slotInstallation(planOf(name, [planned('good', 'id'), planned('bad', 'id')])).slice(0, 1));
    await database.query(`UPDATE good SET note = 'x'; DELETE FROM good`);
    await expect(database.query(`UPDATE bad SET note = 'x'`)).rejects.toThrow('cannot update table "bad"');
    await database.query(`DROP PUBLICATION ${name}`);
  });

  it('it is said that the server may keep its log without limit, and for how long it keeps the slot', async (context) => {
    const { database } = await shop('');
    expect(await findingsOf(database)).toMatchObject([{ kind: 'log-unlimited', blocks: false, table: null }]);
    if (server.version < 18) context.skip('slots are not given up for being idle before PostgreSQL 18');
    const strict = await startSlotServer({ idle_replication_slot_timeout: '2h', max_slot_wal_keep_size: '10GB' });
    onTestFinished(() => strict.stop());
    const other = await createDatabase(strict.url('postgres'));
    onTestFinished(() => other.drop());
    expect(await findingsOf(other)).toMatchObject([
      { kind: 'idle-limit', text: expect.stringContaining('2h') as string, blocks: false },
    ]);
    // A limit of the files is of use only below that of the server, and makes up for one that is missing.
    expect(await findingsWithin(other, 9 * 1024 ** 3)).toMatchObject([{ kind: 'idle-limit' }]);
    expect(await findingsWithin(other, 10 * 1024 ** 3)).toMatchObject([
      { kind: 'idle-limit' },
      { kind: 'limit-too-high', text: expect.stringContaining('max_slot_wal_keep_size, 10.0 GiB') as string },
    ]);
    expect(await findingsWithin(database, 1024 ** 3)).toEqual([]);
  });

  it('a server is refused that does not write what a slot needs, or has no slot left', async () => {
    const plain = await startSlotServer({ wal_level: 'replica', max_replication_slots: '0' });
    onTestFinished(() => plain.stop());
    const database = await createDatabase(plain.url('postgres'));
    onTestFinished(() => database.drop());
    const kinds = (await findingsOf(database)).filter(({ blocks }) => blocks).map(({ kind, fix }) => [kind, fix]);
    expect(kinds).toEqual([
      ['wal-level', 'ALTER SYSTEM SET wal_level = logical'],
      ['no-free-slot', null],
    ]);
  });
});

it('reads a slot with the rights of an account that has REPLICATION, without any function', async () => {
  const { database, name, url } = await shop('CREATE TABLE orders (id int PRIMARY KEY)');
  await database.query(`ALTER ROLE ${name} REPLICATION`);
  await database.query(`CREATE PUBLICATION ${name} FOR TABLE orders`);
  await database.query(`SELECT pg_create_logical_replication_slot('${name}', 'pgoutput')`);
  const source = open(url);
  onTestFinished(() => source.close());
  const feed = source.changes({ kind: 'slot', slot: name, publication: name });
  const start = await feed.begin();
  await database.query('INSERT INTO orders VALUES (1)');
  expect(keysOf(await groupsFrom(feed, start))).toEqual(['orders:1']);
});
