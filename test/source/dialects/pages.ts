/** Pages of rows, by key and by cursor. */
import { describe, expect, it } from 'vitest';
import type { PartnerSyncError } from '../../../src/domain/errors.js';
import type { SourceKey } from '../../../src/domain/source/source.js';
import { ALL, codeOf, plan, query, readAll } from '../reading.js';
import type { Opened } from './opened.js';

/** A type whose texts compare as equal if they differ only by case, where there is one without more ado. */
const FOLDING = {
  PostgreSQL: 'text',
  MariaDB: 'varchar(20)',
  MySQL: 'varchar(20)',
  SQLite: 'text COLLATE NOCASE',
} as const;

/** What holds of every page. */
export function pages(at: Opened): void {
  const { dialect } = at;
  const { numbers, instant } = dialect;

  describe('pages', () => {
    it('contain each row once, in order, at every page size, with a composite key beyond 2^53', async () => {
      await at.database.run(`CREATE TABLE pairs (a varchar(10) NOT NULL, b bigint NOT NULL, PRIMARY KEY (a, b))`);
      await at.database.run(
        `INSERT INTO pairs SELECT CASE i % 3 WHEN 0 THEN 'x' WHEN 1 THEN 'y' ELSE 'z' END, 9007199254740990 + i FROM ${numbers(60)}`,
      );
      const whole = ['x', 'y', 'z'].flatMap((a, m) =>
        Array.from({ length: 60 }, (_, i) => i + 1)
          .filter((i) => i % 3 === m)
          .map((i) => `${a}|${9007199254740990n + BigInt(i)}`),
      );
      for (const size of [1, 2, 7, 20, 60, 100])
        expect(await readAll(at.source, plan('pairs', ['a', 'b']), size), `pages of ${size}`).toEqual(whole);
    });

    it('contain 10,000 rows with one cursor value in pages of 100', async () => {
      await at.database.run(`CREATE TABLE tied (id int PRIMARY KEY, at ${instant})`);
      await at.database.run(`INSERT INTO tied SELECT i, '2020-01-01 10:00:00.123456' FROM ${numbers(10_000)}`);
      const rows = await readAll(at.source, plan('tied', ['id'], 'at'), 100);
      expect(rows.map((row) => Number(row.split('|')[0]))).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
    });

    it('follow a cursor whose timestamps differ by microseconds', async () => {
      await at.database.run(`CREATE TABLE close_by (id int PRIMARY KEY, at ${instant})`);
      for (let i = 0; i < 30; i++)
        await at.database.run(
          `INSERT INTO close_by VALUES (${100 - i}, '2020-01-01 10:00:00.0000${10 + Math.floor(i / 4)}')`,
        );
      const rows = await readAll(at.source, plan('close_by', ['id'], 'at'), 3);
      const stamps = rows.map((row) => row.split('|')[1]!);
      expect(new Set(rows).size).toBe(30);
      expect(stamps).toEqual([...stamps].sort());
    });

    it('contain a key once that several rows have, and none that is NULL, if asked to', async () => {
      await at.database.run(`CREATE TABLE bought (line int PRIMARY KEY, customer int, sku varchar(10))`);
      await at.database.run(
        `INSERT INTO bought SELECT i, CASE i % 4 WHEN 0 THEN NULL ELSE i % 7 END, CASE i % 2 WHEN 0 THEN 'é' ELSE 'f' END FROM ${numbers(80)}`,
      );
      const columns = ['customer', 'sku'];
      const relation = { query: 'SELECT customer, sku FROM bought WHERE line > 0' };
      const distinct = { relation, columns, key: columns, cursor: null, distinct: true };
      const found: string[] = [];
      for (let after = null as { cursor: null; key: SourceKey } | null; ;) {
        const whereIn = { columns: ['sku'], values: [['é'], ['nothing']] };
        const { rows } = await at.source.readPage(distinct, { ...ALL, after, whereIn }, 3);
        const last = rows.at(-1);
        if (last === undefined) break;
        found.push(...Array.from(rows, (row) => row.join('|')));
        after = { cursor: null, key: last as SourceKey };
      }
      expect(found).toEqual(['0|é', '1|é', '2|é', '3|é', '4|é', '5|é', '6|é']);
    });

    it('contain each of several keys that compare as equal once, if asked to', async () => {
      await at.database.run(`CREATE TABLE spelt (name ${FOLDING[dialect.name]}, sku int)`);
      await at.database.run(`INSERT INTO spelt VALUES ('a', 1), ('A', 1), ('b', 1), ('B', 1), ('a', 1), ('c', 1)`);
      const columns = ['name', 'sku'];
      const distinct = { relation: { table: 'spelt' }, columns, key: columns, cursor: null, distinct: true };
      for (const limit of [1, 2, 10]) {
        const found = await readAll(at.source, distinct, limit);
        expect(found.toSorted()).toEqual(['A|1', 'B|1', 'a|1', 'b|1', 'c|1']);
      }
    });

    it('contain the rows of some values of a column only, which can be counted', async () => {
      await at.database.run(`CREATE TABLE of_tenants (id int PRIMARY KEY, name varchar(10), no int, at ${instant})`);
      await at.database.run(
        `INSERT INTO of_tenants SELECT i, CASE i % 4 WHEN 0 THEN 'it''s' WHEN 1 THEN 'é"' WHEN 2 THEN '' END, i % 3, '2020-01-01 10:00:00' FROM ${numbers(60)}`,
      );
      const all = { ...plan('of_tenants', ['id'], 'at'), columns: ['id', 'at', 'name', 'no'] };
      const [, after] = (await at.source.readPage(all, ALL, 10)).rows.at(-1)!;
      const bounds = { ...ALL, after: { cursor: after!, key: ['10'] } };
      const counted = async (column: string) =>
        (await at.source.countByValue(all, column, bounds)).map(({ value, rows }) => `${value}: ${rows}`).sort();
      expect(await counted('name')).toEqual([': 12', "it's: 13", 'null: 13', 'é": 12']);
      expect(await counted('no')).toEqual(['0: 17', '1: 16', '2: 17']);
      const idsWhere = async (columns: readonly string[], values: readonly SourceKey[]) => {
        const found: string[] = [];
        for (let last: string | undefined = '10'; last !== undefined;) {
          const from = { cursor: after!, key: [last] };
          const { rows } = await at.source.readPage(all, { ...bounds, after: from, whereIn: { columns, values } }, 7);
          const ids = Array.from(rows, (row) => row[0]!);
          found.push(...ids);
          last = ids.at(-1);
        }
        return found;
      };
      const expected = (matches: (i: number) => boolean) =>
        Array.from({ length: 50 }, (_, i) => i + 11)
          .filter(matches)
          .map(String);
      expect(await idsWhere(['name'], [["it's"], ['é"']])).toEqual(expected((i) => i % 4 < 2));
      expect(await idsWhere(['no'], [['2']])).toEqual(expected((i) => i % 3 === 2));
      expect(await idsWhere(['name'], [['nobody']])).toEqual([]);
      const [first, second] = [
        ["it's", '1'],
        ['é"', '0'],
      ] as const;
      expect(await idsWhere(['name', 'no'], [first, second])).toEqual(
        expected((i) => (i % 4 === 0 && i % 3 === 1) || (i % 4 === 1 && i % 3 === 0)),
      );
    });

    it('distinguish keys that differ but compare equal in the database', async () => {
      await at.database.run(`CREATE TABLE folded (k ${FOLDING[dialect.name]})`);
      const keys = ['a', 'A', 'b', 'B', 'é', 'e', 'E', 'a ', 'ss', 'ß', '😀', 'ﬀ'];
      for (const k of keys) await at.database.run(`INSERT INTO folded VALUES ('${k}')`);
      for (const size of [1, 2, 3, 5])
        expect((await readAll(at.source, plan('folded', ['k']), size)).sort(), `pages of ${size}`).toEqual(
          [...keys].sort(),
        );
    });

    it('are refused if two rows share their key, be it within a page or where it ends', async () => {
      await at.database.run(`CREATE TABLE shared (k int)`);
      for (const k of [1, 2, 2, 3]) await at.database.run(`INSERT INTO shared VALUES (${k})`);
      for (const size of [1, 2, 3, 4, 5])
        expect(await codeOf(readAll(at.source, plan('shared', ['k']), size)), `pages of ${size}`).toBe(
          'source_key_unusable',
        );
      const counting = { ...plan('shared', ['k']), countsSharedKeys: true };
      expect(await readAll(at.source, counting, 4)).toEqual(['1', '2', '2', '3']);
      expect(await codeOf(readAll(at.source, counting, 2))).toBe('source_key_unusable');
    });

    it('are refused if a join multiplies rows, in the order of a cursor, too, or if rows are read by their keys', async () => {
      await at.database.run(`CREATE TABLE writers (id int PRIMARY KEY)`);
      await at.database.run(`CREATE TABLE mails (writer int, mail varchar(20), at ${instant})`);
      await at.database.run(`INSERT INTO writers SELECT i FROM ${numbers(9)}`);
      await at.database.run(`INSERT INTO mails SELECT i, 'first', '2020-01-01 10:00:00' FROM ${numbers(9)}`);
      const joined = query(
        'SELECT w.id, m.mail, m.at FROM writers w LEFT JOIN mails m ON m.writer = w.id',
        ['id', 'at', 'mail'],
        ['id'],
        'at',
      );
      expect(await readAll(at.source, joined, 100)).toHaveLength(9);
      expect((await at.source.readByValues(joined, ['id'], [['4'], ['5']])).rows).toHaveLength(2);

      await at.database.run(`INSERT INTO mails VALUES (5, 'second', '2020-01-02 10:00:00')`);
      const shared = {
        code: 'source_key_unusable',
        message:
          'source: the key id does not identify each row of the query: several rows share it; SELECT id, count(*) ... GROUP BY id HAVING count(*) > 1 finds them',
      };
      await expect(readAll(at.source, joined, 100)).rejects.toMatchObject(shared);
      await expect(at.source.readByValues(joined, ['id'], [['4'], ['5']])).rejects.toMatchObject(shared);
      expect((await at.source.readByValues(joined, ['id'], [['4'], ['6']])).rows).toHaveLength(2);
    });

    it('skip no row whose key equals another one in the database, though its text differs', async () => {
      const cases: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
        PostgreSQL: {
          numeric: ['1.0', '1.00', '10', '100'],
          'double precision': [`'0'`, `'-0'`, `'1'`],
          real: [`'0'`, `'-0'`],
          interval: [`'1 month'`, `'30 days'`],
          jsonb: [`'[1.0]'`, `'[1.00]'`],
        },
        MariaDB: { "enum('a', 'A') COLLATE utf8mb4_bin": [`'a'`, `'A'`] },
        MySQL: {
          "enum('a', 'A') COLLATE utf8mb4_bin": [`'a'`, `'A'`],
          'varchar(9) COLLATE utf8mb4_0900_ai_ci': [`'a'`, `'A'`, `'á'`, `'a '`],
          'varchar(9) COLLATE utf8mb4_0900_as_cs': [`_utf8mb4 X'C3A1'`, `_utf8mb4 X'61CC81'`],
        },
        SQLite: {
          'string COLLATE NOCASE': [`'a'`, `'A'`, '1'],
          'COLLATE NOCASE': [`'a'`, `'A'`, '1'],
          real: [`'a'`, `'b'`, '1'],
        },
      };
      const refused = ['numeric', 'double precision', 'real'];
      for (const [i, [type, values]] of Object.entries(cases[dialect.name]!).entries()) {
        await at.database.run(`CREATE TABLE equal_${i} (k ${type})`);
        for (const value of values) await at.database.run(`INSERT INTO equal_${i} VALUES (${value})`);
        for (let size = 1; size <= values.length; size++) {
          const rows = await readAll(at.source, plan(`equal_${i}`, ['k']), size).catch((e: PartnerSyncError) => e.code);
          expect(typeof rows === 'string' ? rows : new Set(rows).size, `${type}, pages of ${size}`).toBe(
            dialect.name === 'PostgreSQL' && refused.includes(type) ? 'source_key_unusable' : values.length,
          );
        }
      }
    });

    it('refuse a key that is NULL in any row', async () => {
      await at.database.run(`CREATE TABLE holes (k int)`);
      for (const k of ['1', '2', 'NULL', '3']) await at.database.run(`INSERT INTO holes VALUES (${k})`);
      expect(await codeOf(readAll(at.source, plan('holes', ['k']), 2))).toBe('source_key_unusable');
    });

    it('continue past rows that are deleted, updated and inserted behind the position', async () => {
      await at.database.run(`CREATE TABLE moving (id int PRIMARY KEY, name varchar(10))`);
      await at.database.run(`INSERT INTO moving SELECT i * 10, 'n' FROM ${numbers(50)}`);
      const rows = await readAll(at.source, plan('moving', ['id'], null, ['name']), 5, ALL, async (page) => {
        const behind = (page + 1) * 50;
        await at.database.run(`DELETE FROM moving WHERE id = ${behind}`);
        await at.database.run(`INSERT INTO moving VALUES (${behind - 5}, 'late')`);
        await at.database.run(`UPDATE moving SET name = 'changed' WHERE id > ${behind}`);
      });
      expect(rows.map((row) => Number(row.split('|')[0]))).toEqual(Array.from({ length: 50 }, (_, i) => (i + 1) * 10));
      expect(rows.at(-1)).toBe('500|changed');
    });

    it('respect their bounds: from inclusive, to exclusive, through key inclusive', async () => {
      await at.database.run(`CREATE TABLE bounded (a int, b int, at int, PRIMARY KEY (a, b))`);
      await at.database.run(`INSERT INTO bounded SELECT i, i + 100, i FROM ${numbers(20)}`);
      const byCursor = plan('bounded', ['a', 'b'], 'at');
      const between = { ...ALL, cursorFrom: '5', cursorBefore: '8' };
      expect(await readAll(at.source, byCursor, 2, between)).toEqual(['5|105|5', '6|106|6', '7|107|7']);
      const through = { ...ALL, throughKey: ['3', '102'] };
      expect(await readAll(at.source, plan('bounded', ['a', 'b']), 2, through)).toEqual(['1|101', '2|102']);
    });

    it('reflect a change of the table between two pages, with its new types', async () => {
      await at.database.run(`CREATE TABLE changing (id int PRIMARY KEY, v int)`);
      await at.database.run(`INSERT INTO changing SELECT i, i FROM ${numbers(4)}`);
      const read = plan('changing', ['id'], null, ['v']);
      const other = { ...read, columns: ['v', 'id'] };
      const byValues = () => at.source.readByValues(other, ['id'], [['3']]);
      expect((await byValues()).columns[0]!.type).toBe('integer');
      const first = await at.source.readPage(read, ALL, 2);
      expect(first.columns[1]!.type).toBe('integer');
      const widen = {
        PostgreSQL: 'ALTER TABLE changing ALTER v TYPE numeric(10,1)',
        MariaDB: 'ALTER TABLE changing MODIFY v decimal(10,1)',
        MySQL: 'ALTER TABLE changing MODIFY v decimal(10,1)',
        SQLite: `ALTER TABLE changing DROP COLUMN v; ALTER TABLE changing ADD COLUMN v decimal(10,1) DEFAULT 3.5`,
      }[dialect.name];
      await at.database.run(widen);
      const second = await at.source.readPage(read, { ...ALL, after: { cursor: null, key: ['2'] } }, 2);
      expect(second.columns[1]!.type).toBe('decimal');
      expect([...second.rows].map(([id]) => id)).toEqual(['3', '4']);
      // Nobody has read a page of this plan.
      expect((await byValues()).columns[0]!.type).toBe('decimal');
    });
  });
}
