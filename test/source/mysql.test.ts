/** What only MySQL and MariaDB do: values that they send in several forms, and settings of a server that change what is read. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Source, SourceKey } from '../../src/domain/source/source.js';
import { here, mariadb, mysql, type TestDatabase } from './dialect-databases.js';
import { codeOf, open, plan, query, readAll } from './reading.js';

const SERVERS = here([mariadb, mysql]);

// A file without any test fails.
describe.skipIf(SERVERS.length === 0).each(SERVERS.length === 0 ? [mariadb] : SERVERS)('$name', (dialect) => {
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

  describe('bits', () => {
    beforeAll(async () => {
      await database.run(`CREATE TABLE bits (id int PRIMARY KEY, flag bit(1), flags bit(64))`);
      await database.run(
        `INSERT INTO bits VALUES (1, 1, 18446744073709551615), (2, 0, 0), (3, NULL, NULL), (4, 1, 48)`,
      );
    });

    it.each([
      ['COALESCE(flag, flag)', 'COALESCE(flags, flags)'],
      ['IF(id > 0, flag, NULL)', 'IF(id > 0, flags, NULL)'],
      ['CASE WHEN id > 0 THEN flag END', 'CASE WHEN id > 0 THEN flags END'],
      ['flag', 'flags'],
    ])('have their value where an expression gives them: %s', async (flag, flags) => {
      const sql = `SELECT id, ${flag} AS flag, ${flags} AS flags FROM bits`;
      const whole = ['1|t|18446744073709551615', '2|f|0', '3|NULL|NULL', '4|t|48'];
      expect(await readAll(source, query(sql, ['id', 'flag', 'flags'], ['id']), 3)).toEqual(whole);
      await database.run(`CREATE OR REPLACE VIEW seen_bits AS ${sql}`);
      expect(await readAll(source, plan('seen_bits', ['id'], null, ['flag', 'flags']), 3)).toEqual(whole);
    });

    it('of which a key or a cursor consists have each row read once, in the order of their numbers', async () => {
      await database.run(`CREATE TABLE bit_keys (flag bit(1) NOT NULL, no bit(8) NOT NULL, PRIMARY KEY (flag, no))`);
      await database.run(`INSERT INTO bit_keys SELECT i % 2, i FROM ${dialect.numbers(120)}`);
      const numbers = Array.from({ length: 120 }, (_, i) => i + 1);
      const even = numbers.filter((i) => i % 2 === 0).map((i) => `f|${i}`);
      const odd = numbers.filter((i) => i % 2 === 1).map((i) => `t|${i}`);
      const computed = 'SELECT COALESCE(flag, flag) AS flag, COALESCE(no, no) AS no FROM bit_keys';
      const columns = ['flag', 'no'];
      for (const read of [plan('bit_keys', columns), query(computed, columns, columns)])
        for (const size of [1000, 60, 7, 1]) expect(await readAll(source, read, size)).toEqual([...even, ...odd]);
      for (const read of [plan('bit_keys', ['no'], 'flag'), query(computed, ['no', 'flag'], ['no'], 'flag')])
        for (const size of [1000, 7])
          expect((await readAll(source, read, size)).map((row) => row.split('|').reverse().join('|'))).toEqual([
            ...even,
            ...odd,
          ]);
    });

    it('of a key split a table into even parts', async () => {
      await database.run(`CREATE TABLE many_bits (no bit(16) NOT NULL)`);
      await database.run(`INSERT INTO many_bits SELECT i FROM ${dialect.numbers(1000)}`);
      await database.run(`ANALYZE TABLE many_bits`);
      const ranges = await source.splitKeys(plan('many_bits', ['no']), 250);
      expect(ranges.length).toBeGreaterThan(2);
      const step = Math.floor(1000 / ranges.length);
      expect(Number(ranges.at(-1)!.after![0])).toBeGreaterThanOrEqual(1000 - step - 1);
      expect(Number(ranges.at(-1)!.after![0])).toBeLessThan(1000);
    });

    it('of a key are found by what an external id has of them', async () => {
      await database.run(
        `CREATE TABLE archived (archived bit(1) NOT NULL, id int NOT NULL, PRIMARY KEY (archived, id))`,
      );
      await database.run(`INSERT INTO archived VALUES (1, 7), (0, 8), (1, 8)`);
      const read = plan('archived', ['archived', 'id']);
      const found = async (values: readonly SourceKey[]) => [
        ...(await source.readByValues(read, read.key, values)).rows,
      ];
      expect(
        await found([
          ['true', '7'],
          ['false', '8'],
        ]),
      ).toEqual([
        ['f', '8'],
        ['t', '7'],
      ]);
      expect(await codeOf(found([['yes', '7']]))).toBe('config_invalid');
    });
  });

  it.each(['enum', 'set'])(
    'a unique key of %s has each row read once that only its own collation tells apart',
    async (type) => {
      await database.run(
        `CREATE TABLE cased_${type} (k ${type}('a', 'A', 'b') COLLATE utf8mb4_bin, id int, PRIMARY KEY (k, id))`,
      );
      await database.run(`INSERT INTO cased_${type} VALUES ('a', 1), ('A', 1), ('b', 1), ('a', 2), ('A', 2)`);
      for (const size of [1000, 3, 2, 1])
        expect((await readAll(source, plan(`cased_${type}`, ['k', 'id']), size)).sort(), `pages of ${size}`).toEqual([
          'A|1',
          'A|2',
          'a|1',
          'a|2',
          'b|1',
        ]);
    },
  );

  describe('whatever the settings of the server', () => {
    /** What an account without privileges reads while the server has other settings than usual. */
    async function withSettings(settings: Readonly<Record<string, string>>, read: (reader: Source) => Promise<void>) {
      const url = new URL(database.url);
      Object.assign(url, { username: 'reader', password: 'secret' });
      const reader = open(url.href);
      try {
        for (const [name, value] of Object.entries(settings)) await database.run(`SET GLOBAL ${name} = ${value}`);
        await read(reader);
      } finally {
        await reader.close();
        for (const name of Object.keys(settings)) await database.run(`SET GLOBAL ${name} = DEFAULT`);
      }
    }

    beforeAll(async () => {
      await database.run(`CREATE USER reader@'%' IDENTIFIED BY 'secret'`);
      await database.run(`GRANT SELECT ON ${new URL(database.url).pathname.slice(1)}.* TO reader@'%'`);
    });

    it('texts and keys keep all their characters', async () => {
      const whole = ['>', '@', 'łódź', '😀a', '😁'];
      await database.run(`CREATE TABLE characters (k varchar(20) COLLATE utf8mb4_bin PRIMARY KEY)`);
      for (const k of whole) await database.run(`INSERT INTO characters VALUES ('${k}')`);
      for (const names of ['latin1', 'utf8'])
        await withSettings({ init_connect: `'SET NAMES ${names}'` }, async (reader) => {
          for (const size of [1000, 2, 1])
            expect(await readAll(reader, plan('characters', ['k']), size)).toEqual(whole);
        });
    });

    it('a key longer than what a server compares has each row read once, in its order', async () => {
      await database.run(`CREATE TABLE addresses (url text NOT NULL, no int NOT NULL)`);
      await database.run(
        `INSERT INTO addresses SELECT CONCAT(REPEAT('x', 3000), 1000 + i * 7 % 60), i FROM ${dialect.numbers(60)}`,
      );
      // The least that it can be: a server refuses to sort long keys in it.
      await withSettings({ sort_buffer_size: '32768' }, async (reader) => {
        for (const size of [1000, 50, 7]) {
          const rows = await readAll(reader, plan('addresses', ['url'], null, ['no']), size);
          expect(rows.map((row) => row.slice(3000, 3004))).toEqual(Array.from({ length: 60 }, (_, i) => `${1000 + i}`));
        }
      });
    });

    it('an account with as many connections as it may have is told so, and that this passes by itself', async () => {
      await database.run(`CREATE USER busy@'%' IDENTIFIED BY 'secret' WITH MAX_USER_CONNECTIONS 1`);
      const url = new URL(database.url);
      Object.assign(url, { username: 'busy', password: 'secret', pathname: '/information_schema' });
      const [first, second] = [open(url.href), open(url.href)];
      onTestFinished(async () => {
        await first.close();
        await second.close();
      });
      await first.describe({ table: 'schemata' });
      await expect(second.describe({ table: 'schemata' })).rejects.toMatchObject({
        code: 'source_unreachable',
        retryable: true,
        message: expect.stringContaining('the account has as many connections') as string,
      });
    });

    it('rows that are looked for by their values are all found', async () => {
      await database.run(`CREATE TABLE twenty (id int PRIMARY KEY)`);
      await database.run(`INSERT INTO twenty SELECT i FROM ${dialect.numbers(20)}`);
      const values = Array.from({ length: 20 }, (_, i) => [String(i + 1)]);
      await withSettings({ sql_select_limit: '5' }, async (reader) => {
        expect([...(await reader.readByValues(plan('twenty', ['id']), ['id'], values)).rows]).toEqual(values);
      });
    });
  });
});
