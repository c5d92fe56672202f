/** What every kind of database must do: the same tests on a real server, or file, of each. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { ReadPlan, Source } from '../../src/domain/source.js';
import { eventually } from '../pipeline/shop.js';
import { here, mariadb, postgres, sqlite, type TestDatabase } from './dialect-databases.js';
import { ALL, codeOf, open, plan, readAll } from './reading.js';

for (const dialect of here([postgres, mariadb, sqlite]))
  describe(dialect.name, () => {
    const { quote, numbers, instant, local } = dialect;
    let database: TestDatabase;
    let source: Source;
    beforeAll(async () => {
      database = await dialect.create();
      source = open(database.url);
    });
    afterAll(async () => {
      await source?.close();
      await database?.drop();
    });
    const query = (sql: string, columns: string[], key: string[], cursor: string | null = null): ReadPlan => ({
      relation: { query: sql },
      columns,
      key,
      cursor,
    });

    describe('pages', () => {
      it('hold each row once, in order, at every page size, with a composite key beyond 2^53', async () => {
        await database.run(`CREATE TABLE pairs (a varchar(10) NOT NULL, b bigint NOT NULL, PRIMARY KEY (a, b))`);
        await database.run(
          `INSERT INTO pairs SELECT CASE i % 3 WHEN 0 THEN 'x' WHEN 1 THEN 'y' ELSE 'z' END, 9007199254740990 + i FROM ${numbers(60)}`,
        );
        const whole = ['x', 'y', 'z'].flatMap((a, m) =>
          Array.from({ length: 60 }, (_, i) => i + 1)
            .filter((i) => i % 3 === m)
            .map((i) => `${a}|${9007199254740990n + BigInt(i)}`),
        );
        for (const size of [1, 2, 7, 20, 60, 100])
          expect(await readAll(source, plan('pairs', ['a', 'b']), size), `pages of ${size}`).toEqual(whole);
      });

      it('hold 10,000 rows with one cursor value in pages of 100', async () => {
        await database.run(`CREATE TABLE tied (id int PRIMARY KEY, at ${instant})`);
        await database.run(`INSERT INTO tied SELECT i, '2020-01-01 10:00:00.123456' FROM ${numbers(10_000)}`);
        const rows = await readAll(source, plan('tied', ['id'], 'at'), 100);
        expect(rows.map((row) => Number(row.split('|')[0]))).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
      });

      it('follow a cursor whose stamps differ by microseconds', async () => {
        await database.run(`CREATE TABLE close_by (id int PRIMARY KEY, at ${instant})`);
        for (let i = 0; i < 30; i++)
          await database.run(
            `INSERT INTO close_by VALUES (${100 - i}, '2020-01-01 10:00:00.0000${10 + Math.floor(i / 4)}')`,
          );
        const rows = await readAll(source, plan('close_by', ['id'], 'at'), 3);
        const stamps = rows.map((row) => row.split('|')[1]!);
        expect(new Set(rows).size).toBe(30);
        expect(stamps).toEqual([...stamps].sort());
      });

      it('keep apart keys that differ and compare equal in the database', async () => {
        const fold = { PostgreSQL: 'text', MariaDB: 'varchar(20)', SQLite: 'text COLLATE NOCASE' }[dialect.name]!;
        await database.run(`CREATE TABLE folded (k ${fold})`);
        const keys = ['a', 'A', 'b', 'B', 'é', 'e', 'E', 'a ', 'ss', 'ß', '😀', 'ﬀ'];
        for (const k of keys) await database.run(`INSERT INTO folded VALUES ('${k}')`);
        for (const size of [1, 2, 3, 5])
          expect((await readAll(source, plan('folded', ['k']), size)).sort(), `pages of ${size}`).toEqual(
            [...keys].sort(),
          );
      });

      it('skip no row that shares its key: where a page would end between the two, the key is refused', async () => {
        await database.run(`CREATE TABLE shared (k int)`);
        for (const k of [1, 2, 2, 3]) await database.run(`INSERT INTO shared VALUES (${k})`);
        const outcomes = [1, 2, 3, 4].map((size) =>
          readAll(source, plan('shared', ['k']), size).catch((e: PartnerSyncError) => e.code),
        );
        const refused = 'source_key_unusable';
        const whole = ['1', '2', '2', '3'];
        expect(await Promise.all(outcomes)).toEqual([refused, refused, whole, whole]);
      });

      it('refuse a key that is NULL in a row', async () => {
        await database.run(`CREATE TABLE holes (k int)`);
        for (const k of ['1', '2', 'NULL', '3']) await database.run(`INSERT INTO holes VALUES (${k})`);
        expect(await codeOf(readAll(source, plan('holes', ['k']), 2))).toBe('source_key_unusable');
      });

      it('go on past rows that are deleted, updated and inserted behind the position', async () => {
        await database.run(`CREATE TABLE moving (id int PRIMARY KEY, name varchar(10))`);
        await database.run(`INSERT INTO moving SELECT i * 10, 'n' FROM ${numbers(50)}`);
        const rows = await readAll(source, plan('moving', ['id'], null, ['name']), 5, ALL, async (page) => {
          const behind = (page + 1) * 50;
          await database.run(`DELETE FROM moving WHERE id = ${behind}`);
          await database.run(`INSERT INTO moving VALUES (${behind - 5}, 'late')`);
          await database.run(`UPDATE moving SET name = 'changed' WHERE id > ${behind}`);
        });
        expect(rows.map((row) => Number(row.split('|')[0]))).toEqual(
          Array.from({ length: 50 }, (_, i) => (i + 1) * 10),
        );
        expect(rows.at(-1)).toBe('500|changed');
      });

      it('keep to their bounds: from inclusive, to exclusive, through key inclusive', async () => {
        await database.run(`CREATE TABLE bounded (a int, b int, at int, PRIMARY KEY (a, b))`);
        await database.run(`INSERT INTO bounded SELECT i, i + 100, i FROM ${numbers(20)}`);
        const byCursor = plan('bounded', ['a', 'b'], 'at');
        const between = { ...ALL, cursorFrom: '5', cursorBefore: '8' };
        expect(await readAll(source, byCursor, 2, between)).toEqual(['5|105|5', '6|106|6', '7|107|7']);
        const through = { ...ALL, throughKey: ['3', '102'] };
        expect(await readAll(source, plan('bounded', ['a', 'b']), 2, through)).toEqual(['1|101', '2|102']);
      });

      it('follow a change of the table between two pages, with the types that it has then', async () => {
        await database.run(`CREATE TABLE changing (id int PRIMARY KEY, v int)`);
        await database.run(`INSERT INTO changing SELECT i, i FROM ${numbers(4)}`);
        const read = plan('changing', ['id'], null, ['v']);
        const first = await source.readPage(read, ALL, 2);
        expect(first.columns[1]!.type).toBe('integer');
        const widen = {
          PostgreSQL: 'ALTER TABLE changing ALTER v TYPE numeric(10,1)',
          MariaDB: 'ALTER TABLE changing MODIFY v decimal(10,1)',
          SQLite: `ALTER TABLE changing DROP COLUMN v; ALTER TABLE changing ADD COLUMN v decimal(10,1) DEFAULT 3.5`,
        }[dialect.name]!;
        await database.run(widen);
        const second = await source.readPage(read, { ...ALL, after: { cursor: null, key: ['2'] } }, 2);
        expect(second.columns[1]!.type).toBe('decimal');
        expect([...second.rows].map(([id]) => id)).toEqual(['3', '4']);
      });
    });

    describe('names and queries', () => {
      it('reads tables and columns with quotes, dots, capitals, blanks and reserved words', async () => {
        const table = 'select "a.b" `c` ?';
        const columns = ['Order', 'group by', 'q?', 'ünï', 'a.b', 'x as y', '*', '$1'];
        await database.run(
          `CREATE TABLE ${quote(table)} (${columns.map((c, i) => `${quote(c)} varchar(10)${i === 0 ? ' PRIMARY KEY' : ''}`).join(', ')})`,
        );
        await database.run(`INSERT INTO ${quote(table)} VALUES ('1', 'a', 'b', 'c', 'd', 'e', 'f', 'g')`);
        const written = (await source.tables()).find((t) => t.name === table)!.table;
        const read = plan(written, ['Order'], null, columns.slice(1));
        expect(await readAll(source, read, 1)).toEqual(['1|a|b|c|d|e|f|g']);
        expect((await source.describe(read.relation)).map((c) => c.name)).toEqual(columns);
        expect((await source.readByValues(read, ['a.b'], [['d'], ['x']])).rows).toHaveLength(1);
        expect(await source.hasNull(read, 'q?')).toBe(false);
        expect(await source.splitKeys(read, 10)).toEqual([{ after: null, through: null }]);
      });

      it('reads a view and a query, and leaves marks, comments and a last semicolon of a query alone', async () => {
        await database.run(`CREATE TABLE base (id int PRIMARY KEY, name varchar(10))`);
        await database.run(`INSERT INTO base SELECT i, 'n' FROM ${numbers(9)}`);
        await database.run(`CREATE VIEW odd AS SELECT id, name FROM base WHERE id % 2 = 1`);
        const odd = ['1|n', '3|n', '5|n', '7|n', '9|n'];
        expect(await readAll(source, plan('odd', ['id'], null, ['name']), 2)).toEqual(odd);
        const asked = query(`SELECT id, 'why? :x $1' AS q FROM odd -- really?\n;`, ['id', 'q'], ['id']);
        expect(await readAll(source, asked, 2)).toEqual(['1', '3', '5', '7', '9'].map((id) => `${id}|why? :x $1`));
      });

      it('reads generated columns', async () => {
        await database.run(
          `CREATE TABLE products (id int PRIMARY KEY, net int, gross int GENERATED ALWAYS AS (net * 2) STORED)`,
        );
        await database.run(`INSERT INTO products (id, net) VALUES (1, 21)`);
        expect(await readAll(source, plan('products', ['id'], null, ['gross']), 5)).toEqual(['1|42']);
        const [table] = await source.tables(['products']);
        expect(table!.columns.filter((c) => c.generated).map((c) => c.name)).toEqual(['gross']);
      });

      it('binds values, whatever they hold', async () => {
        await database.run(`CREATE TABLE hostile (k varchar(600) PRIMARY KEY)`);
        const odd = [`'; DROP TABLE hostile; --`, '$1', '?', '\\', `\\' OR 1=1 -- `, '"', '`', 'x'.repeat(500), ''];
        for (const k of odd)
          await database.run(
            `INSERT INTO hostile VALUES ('${k.replaceAll("'", "''").replaceAll('\\', dialect.name === 'MariaDB' ? '\\\\' : '\\')}')`,
          );
        const read = plan('hostile', ['k']);
        expect((await readAll(source, read, 1)).sort()).toEqual([...odd].sort());
        const found = await source.readByValues(
          read,
          ['k'],
          odd.map((k) => [k]),
        );
        expect(found.rows).toHaveLength(odd.length);
      });

      it('writes nothing, even when a query asks it to', async () => {
        await database.run(`CREATE TABLE guarded (id int PRIMARY KEY)`);
        for (const sql of [
          'INSERT INTO guarded VALUES (3)',
          'SELECT 1 AS id) q; INSERT INTO guarded VALUES (4); SELECT q.id FROM (SELECT 1 AS id',
          'DELETE FROM guarded RETURNING id',
        ])
          expect(await codeOf(source.readPage(query(sql, ['id'], ['id']), ALL, 1)), sql).toBe('config_invalid');
        expect(await readAll(source, plan('guarded', ['id']), 5)).toEqual([]);
      });
    });

    it('splits a table into key ranges that cover every row exactly once, where the database knows its size', async () => {
      await database.run(`CREATE TABLE gaps (id bigint PRIMARY KEY)`);
      await database.run(`INSERT INTO gaps SELECT CASE WHEN i < 500 THEN -i ELSE i * 1000 END FROM ${numbers(1000)}`);
      await database.run(
        { PostgreSQL: 'ANALYZE gaps', MariaDB: 'ANALYZE TABLE gaps', SQLite: 'ANALYZE' }[dialect.name]!,
      );
      const read = plan('gaps', ['id']);
      const ranges = await source.splitKeys(read, 100);
      expect(ranges.length).toBeGreaterThan(dialect.name === 'SQLite' ? 0 : 5);
      const ids: string[] = [];
      for (const { after, through } of ranges)
        ids.push(
          ...(await readAll(source, read, 64, {
            ...ALL,
            after: after === null ? null : { cursor: null, key: after },
            throughKey: through,
          })),
        );
      expect(ids).toHaveLength(1000);
      expect(new Set(ids).size).toBe(1000);
    });

    describe('the catalogue', () => {
      it('tells tables, views, keys, foreign keys and indexes', async () => {
        await database.run(
          `CREATE TABLE parents (id integer PRIMARY KEY, code varchar(10) NOT NULL UNIQUE, alias varchar(10) UNIQUE)`,
        );
        await database.run(
          `CREATE TABLE children (a int NOT NULL, b int NOT NULL, parent int, at ${instant}, PRIMARY KEY (b, a), FOREIGN KEY (parent) REFERENCES parents (id))`,
        );
        await database.run(`CREATE INDEX by_change ON children (at, a)`);
        const [children] = await source.tables(['children']);
        expect(children).toMatchObject({ table: 'children', kind: 'table', primaryKey: ['b', 'a'], readable: true });
        expect(children!.uniqueKeys).toEqual([['b', 'a']]);
        expect(
          children!.foreignKeys.map(({ columns, table, parentColumns }) => [columns, table, parentColumns]),
        ).toEqual([[['parent'], 'parents', ['id']]]);
        expect(children!.indexes.find((i) => i.name === 'by_change')!.columns).toEqual(['at', 'a']);
        expect(children!.columns.map((c) => [c.name, c.type, c.nullable])).toEqual([
          ['a', 'integer', false],
          ['b', 'integer', false],
          ['parent', 'integer', true],
          ['at', dialect.name === 'SQLite' ? 'timestamp' : 'timestamptz', dialect.name !== 'MariaDB'],
        ]);
        // The alias may be missing in many rows: it names none.
        expect((await source.tables(['parents']))[0]!.uniqueKeys).toEqual([['id'], ['code']]);
        expect(await source.tables(['no_such_table'])).toEqual([]);
      });

      it('tells server, version and clock', async () => {
        const server = await source.server();
        expect(server.product).toBe(dialect.name);
        expect(server.version).toMatch(/^\d+\./);
        expect(server.clock).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        expect(server).toMatchObject({ standby: false, seesOpenTransactions: true, grantForOpenTransactions: null });
        expect(Math.abs(Date.parse(server.clock) - Date.now())).toBeLessThan(60_000);
      });
    });

    describe('the overlap', () => {
      it('moves a cursor back in its own type and format, and leaves what is no time', async () => {
        await database.run(
          `CREATE TABLE cursors (id int PRIMARY KEY, tz ${instant}, naive ${local}, d date, n bigint)`,
        );
        const back = (column: string, value: string, zone?: string) =>
          source.cursorMinus({ ...plan('cursors', ['id'], column), cursorZone: zone ?? null }, value, 3600);
        expect(await back('tz', '2020-01-02 00:00:00.000001')).toBe('2020-01-01 23:00:00.000001');
        expect(await back('naive', '2020-01-02 00:00:00.5')).toBe('2020-01-01 23:00:00.5');
        expect(await back('d', '2020-01-02')).toBe('2020-01-01');
        expect(await back('n', '7')).toBe('7');
        // At 02:10 summer time the hour before began at 00:10, though the clock says 01:10 was never.
        expect(await back('naive', '2020-03-29 02:10:00', 'Europe/London')).toBe('2020-03-29 00:10:00');
      });
    });

    describe('the fence', () => {
      it('refuses a cursor without a zone until the mapping names one', async () => {
        await database.run(`CREATE TABLE zoneless (id int PRIMARY KEY, at ${local})`);
        const read = plan('zoneless', ['id'], 'at');
        expect(await codeOf(source.fence(read))).toBe('config_invalid');
        const utc = await source.fence({ ...read, cursorZone: 'UTC' });
        const kolkata = await source.fence({ ...read, cursorZone: 'Asia/Kolkata' });
        const minutes = (Date.parse(`${kolkata}Z`) - Date.parse(`${utc}Z`)) / 60_000;
        expect(Math.round(minutes)).toBe(330);
      });

      it('is not past the database clock, and passes what was committed before', async () => {
        await database.run(`CREATE TABLE committed (id int PRIMARY KEY, at ${instant})`);
        await database.run(`INSERT INTO committed VALUES (1, ${dialect.now})`);
        const read = { ...plan('committed', ['id'], 'at'), cursorZone: 'UTC' };
        await eventually('the row is read', async () => {
          const fence = await source.fence(read);
          return (await readAll(source, read, 5, { ...ALL, cursorBefore: fence })).length === 1;
        });
      });
    });

    describe('faults', () => {
      it('tells what is missing and what is wrong', async () => {
        const broken = query('SELECT 1 AS id FROM', ['id'], ['id']);
        expect(await codeOf(source.readPage(plan('no_such_table', ['id']), ALL, 1))).toBe('source_relation_missing');
        expect(await codeOf(source.readPage(plan('moving', ['nope']), ALL, 1))).not.toBe('no error');
        expect(await codeOf(source.describe(broken.relation))).toBe('config_invalid');
      });

      it('tells a bound that is no value of the column, and keeps the value to itself', async () => {
        if (dialect.name === 'SQLite') return;
        const read = plan('close_by', ['id'], 'at');
        const error = await source.readPage(read, { ...ALL, cursorFrom: 'soon' }, 1).catch((e: unknown) => e);
        expect(error).toMatchObject({ code: 'config_invalid' });
        expect((error as PartnerSyncError).message).not.toContain('soon');
      });
    });

    it('makes the page after a fat one smaller, loses no row of it, and bounds what it keeps', async () => {
      const wide = {
        PostgreSQL: `repeat('x', 1000000)`,
        MariaDB: `repeat('x', 1000000)`,
        SQLite: `hex(zeroblob(500000))`,
      };
      await database.run(
        `CREATE TABLE fat (id int PRIMARY KEY, v ${dialect.name === 'MariaDB' ? 'longtext' : 'text'})`,
      );
      await database.run(`INSERT INTO fat SELECT i, ${wide[dialect.name as keyof typeof wide]} FROM ${numbers(40)}`);
      const read = plan('fat', ['id'], null, ['v']);
      const sizes: number[] = [];
      const ids: string[] = [];
      let after: string[] | null = null;
      for (;;) {
        const page = await source.readPage(
          read,
          { ...ALL, after: after === null ? null : { cursor: null, key: after } },
          1000,
        );
        if (page.rows.length === 0) break;
        sizes.push(page.rows.length);
        ids.push(...[...page.rows].map(([id]) => id!));
        expect([...page.rows].every(([, v]) => v?.length === 1_000_000)).toBe(true);
        after = [page.rows.at(-1)![0]!];
      }
      expect(ids).toEqual(Array.from({ length: 40 }, (_, i) => String(i + 1)));
      expect(Math.max(...sizes)).toBeLessThanOrEqual(17);
      expect(sizes[1]).toBeLessThan(sizes[0]!);
    });

    if (dialect.name === 'SQLite') return;

    it('reads a partitioned table whole, in order, whichever partition a row is in', async () => {
      const parts = {
        PostgreSQL: `CREATE TABLE parted (id int, day date, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
          CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
          CREATE TABLE parted_2 PARTITION OF parted DEFAULT;`,
        MariaDB: `CREATE TABLE parted (id int, day date, PRIMARY KEY (day, id)) PARTITION BY RANGE COLUMNS (day)
          (PARTITION p1 VALUES LESS THAN ('2020-02-01'), PARTITION p2 VALUES LESS THAN (MAXVALUE))`,
      };
      await database.run(parts[dialect.name as keyof typeof parts]);
      for (const [id, day] of [
        [1, '2020-03-01'],
        [2, '2020-01-15'],
        [3, '2020-01-31'],
        [4, '2020-02-01'],
        [5, '2019-12-31'],
      ])
        await database.run(`INSERT INTO parted VALUES (${id}, '${day}')`);
      const [table] = await source.tables(['parted']);
      expect(table).toMatchObject({ primaryKey: ['day', 'id'], kind: 'table' });
      for (const size of [1, 2, 5])
        expect(await readAll(source, plan('parted', ['day', 'id']), size)).toEqual([
          ...['2019-12-31|5', '2020-01-15|2', '2020-01-31|3', '2020-02-01|4', '2020-03-01|1'],
        ]);
      // The partitions are the table's own affair.
      expect((await source.tables()).map((t) => t.name).filter((name) => /^parted/.test(name))).toEqual(['parted']);
    });

    it('keeps a distance to the clock where the account may not see the transactions of others, and says what to grant', async () => {
      const name = `reader_${Date.now()}`;
      const { username, password } = new URL(database.url);
      const grants = {
        PostgreSQL: `CREATE ROLE ${name} LOGIN PASSWORD 'secret'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${name}`,
        MariaDB: `CREATE USER ${name}@'%' IDENTIFIED BY 'secret'; GRANT SELECT ON *.* TO ${name}@'%'`,
      };
      await database.run(`CREATE TABLE watched (id int PRIMARY KEY, at ${instant} DEFAULT ${dialect.now})`);
      await database.run(grants[dialect.name as keyof typeof grants]);
      const reader = open(
        database.url.replace(`${username}${password === '' ? '' : `:${password}`}@`, `${name}:secret@`),
      );
      onTestFinished(() => reader.close());
      const server = await reader.server();
      expect(server).toMatchObject({ seesOpenTransactions: false });
      const fence = await reader.fence(plan('watched', ['id'], 'at'));
      const behind = (Date.parse(server.clock) - Date.parse(`${fence.slice(0, 19).replace(' ', 'T')}Z`)) / 1000;
      expect(behind).toBeGreaterThan(28);
      expect(behind).toBeLessThan(33);
      // Whoever follows the advice is no longer told it.
      await database.run(server.grantForOpenTransactions!);
      const seeing = open(
        database.url.replace(`${username}${password === '' ? '' : `:${password}`}@`, `${name}:secret@`),
      );
      onTestFinished(() => seeing.close());
      expect(await seeing.server()).toMatchObject({ seesOpenTransactions: true, grantForOpenTransactions: null });
    });

    it('reads a page again when its session is killed in the middle of it', async () => {
      const slow = query(`SELECT i AS id, ${dialect.slow(0.05)} AS s FROM ${numbers(30)}`, ['id', 's'], ['id']);
      const reading = source.readPage(slow, ALL, 1000);
      reading.catch(() => undefined);
      let killed = 0;
      await eventually('the session is killed', async () => {
        if (await database.kill('ORDER BY')) killed++;
        return killed > 0;
      });
      expect([...(await reading).rows].map(([id]) => Number(id))).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    });

    it('asks for fewer rows when a page takes too long, and goes on', async () => {
      const hasty = open(database.url, 1);
      onTestFinished(() => hasty.close());
      await database.run(`CREATE TABLE sluggish (id int PRIMARY KEY)`);
      await database.run(`INSERT INTO sluggish SELECT i FROM ${numbers(40)}`);
      const read = query(`SELECT id, ${dialect.slow(0.04)} AS s FROM sluggish ORDER BY id`, ['id', 's'], ['id']);
      expect((await readAll(hasty, read, 40)).length).toBe(40);
    });

    it('waits for no lock longer than the timeout, says that it may be tried again, and reads once it is free', async () => {
      const hasty = open(database.url, 1);
      await database.run(`CREATE TABLE locked (id int PRIMARY KEY)`);
      const holder = await database.connect();
      onTestFinished(async () => {
        await holder.end();
        await hasty.close();
      });
      await holder.run(
        dialect.name === 'PostgreSQL'
          ? 'BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE'
          : 'LOCK TABLES locked WRITE',
      );
      const error = await hasty.readPage(plan('locked', ['id']), ALL, 1).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'source_query_failed', retryable: true });
      await holder.run(dialect.name === 'PostgreSQL' ? 'COMMIT' : 'UNLOCK TABLES');
      expect(await readAll(hasty, plan('locked', ['id']), 1)).toEqual([]);
    });

    it('does not skip a row that a transaction commits after three reads', async () => {
      await database.run(`CREATE TABLE late (id int PRIMARY KEY, at ${instant} DEFAULT ${dialect.now})`);
      const read = plan('late', ['id'], 'at');
      const seen = new Set<string>();
      let from: string | null = null;
      const run = async (): Promise<void> => {
        const before = await source.fence(read);
        const rows = await readAll(source, read, 2, { ...ALL, cursorFrom: from, cursorBefore: before });
        for (const row of rows) seen.add(row.split('|')[0]!);
        from = rows.at(-1)?.split('|')[1] ?? from;
      };
      const older = await database.connect();
      onTestFinished(() => older.end());
      await older.run('BEGIN');
      await older.run('INSERT INTO late (id) VALUES (1)');
      for (const id of [2, 3, 4]) {
        await new Promise((resolve) => setTimeout(resolve, 1100));
        await database.run(`INSERT INTO late (id) VALUES (${id})`);
        await run();
      }
      await older.run('COMMIT');
      await eventually('every row is read', async () => {
        // InnoDB refreshes its list of transactions only for whoever has not asked within the last 100 ms.
        await new Promise((resolve) => setTimeout(resolve, 200));
        await run();
        return seen.size === 4;
      });
    });

    for (const [what, change, code] of [
      ['nobody listens', (url: URL) => (url.port = '1'), 'source_unreachable'],
      ['the password is wrong', (url: URL) => (url.username = 'nobody'), 'config_invalid'],
    ] as const)
      it(`tells it when ${what}, without the address`, async () => {
        const url = new URL(database.url);
        url.password = 'hunter2';
        change(url);
        const closed = open(url.href);
        onTestFinished(() => closed.close());
        const error = await closed.describe({ table: 'moving' }).catch((e: unknown) => e);
        expect(error).toBeInstanceOf(PartnerSyncError);
        expect((error as PartnerSyncError).code).toBe(code);
        expect((error as PartnerSyncError).message).not.toMatch(/hunter2|nobody|127\.0\.0\.1/);
      });
  });
