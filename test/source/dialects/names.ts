/** Names of tables and columns, and queries instead of tables. */
import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/domain/source/source.js';
import { readRowsByValues } from '../../../src/reading/read-rows-by-values.js';
import { ALL, codeOf, plan, query, readAll } from '../reading.js';
import type { Opened } from './opened.js';

/** Whatever they are called, and whatever a query holds. */
export function names(at: Opened): void {
  const { dialect } = at;
  const { quote, numbers } = dialect;

  describe('names and queries', () => {
    it('reads tables and columns with quotes, dots, capitals, blanks and reserved words', async () => {
      const table = 'select "a.b" `c` ?';
      // MySQL 8.0 takes a quoted * for all columns.
      const star = dialect.name === 'MySQL' ? '**' : '*';
      const columns = ['Order', 'group by', 'q?', 'ünï', 'a.b', 'x as y', star, '$1'];
      await at.database.run(
        `CREATE TABLE ${quote(table)} (${columns.map((c, i) => `${quote(c)} varchar(10)${i === 0 ? ' PRIMARY KEY' : ''}`).join(', ')})`,
      );
      await at.database.run(`INSERT INTO ${quote(table)} VALUES ('1', 'a', 'b', 'c', 'd', 'e', 'f', 'g')`);
      const written = (await at.source.tables()).find((t) => t.name === table)!.table;
      const read = plan(written, ['Order'], null, columns.slice(1));
      expect(await readAll(at.source, read, 1)).toEqual(['1|a|b|c|d|e|f|g']);
      expect((await at.source.describe(read.relation)).map((c) => c.name)).toEqual(columns);
      expect((await at.source.readByValues(read, ['a.b'], [['d'], ['x']])).rows).toHaveLength(1);
      expect(await at.source.hasNull(read, 'q?')).toBe(false);
      expect(await at.source.splitKeys(read, 10)).toEqual([{ after: null, through: null }]);
    });

    it('reads a view and a query, and keeps question marks, comments and a final semicolon of a query', async () => {
      await at.database.run(`CREATE TABLE base (id int PRIMARY KEY, name varchar(10))`);
      await at.database.run(`INSERT INTO base SELECT i, 'n' FROM ${numbers(9)}`);
      await at.database.run(`CREATE VIEW odd AS SELECT id, name FROM base WHERE id % 2 = 1`);
      const odd = ['1|n', '3|n', '5|n', '7|n', '9|n'];
      expect(await readAll(at.source, plan('odd', ['id'], null, ['name']), 2)).toEqual(odd);
      const asked = query(`SELECT id, 'why? :x $1' AS q FROM odd -- really?\n;`, ['id', 'q'], ['id']);
      expect(await readAll(at.source, asked, 2)).toEqual(['1', '3', '5', '7', '9'].map((id) => `${id}|why? :x $1`));
    });

    it('reads generated columns', async () => {
      await at.database.run(
        `CREATE TABLE products (id int PRIMARY KEY, net int, gross int GENERATED ALWAYS AS (net * 2) STORED)`,
      );
      await at.database.run(`INSERT INTO products (id, net) VALUES (1, 21)`);
      expect(await readAll(at.source, plan('products', ['id'], null, ['gross']), 5)).toEqual(['1|42']);
      const [table] = await at.source.tables(['products']);
      expect(table!.columns.filter((c) => c.generated).map((c) => c.name)).toEqual(['gross']);
    });

    it('binds values, whatever they hold', async () => {
      await at.database.run(`CREATE TABLE hostile (k varchar(600) PRIMARY KEY)`);
      const odd = [`'; DROP TABLE hostile; --`, '$1', '?', '\\', `\\' OR 1=1 -- `, '"', '`', 'x'.repeat(500), ''];
      for (const k of odd)
        await at.database.run(
          `INSERT INTO hostile VALUES ('${k.replaceAll("'", "''").replaceAll('\\', dialect.speaks === 'mysql' ? '\\\\' : '\\')}')`,
        );
      const read = plan('hostile', ['k']);
      expect((await readAll(at.source, read, 1)).sort()).toEqual([...odd].sort());
      const found = await at.source.readByValues(
        read,
        ['k'],
        odd.map((k) => [k]),
      );
      expect(found.rows).toHaveLength(odd.length);
    });

    it('finds rows by more combinations of values than a chain of conditions may have, each once', async () => {
      await at.database.run(`CREATE TABLE parcels (a varchar(20), b varchar(20), PRIMARY KEY (a, b))`);
      await at.database.run(`INSERT INTO parcels SELECT 'p', i FROM ${numbers(9)}`);
      const asked = Array.from({ length: 2500 }, (_, i) => ['p', String(i)]);
      const read = plan('parcels', ['a', 'b']);
      const rows = async (found: Promise<Page>) => [...(await found).rows].map(([, b]) => b).sort();
      expect(await rows(at.source.readByValues(read, ['a', 'b'], asked))).toEqual([
        '1',
        '2',
        '3',
        '4',
        '5',
        '6',
        '7',
        '8',
        '9',
      ]);
      const twice = [...asked, ...asked];
      expect(await rows(readRowsByValues(at.source, read, ['a', 'b'], twice))).toHaveLength(9);
      const whereIn = { columns: ['a', 'b'], values: asked };
      expect((await at.source.readPage(read, { ...ALL, whereIn }, 20)).rows).toHaveLength(9);
    });

    if (dialect.speaks === 'mysql')
      it('finds no row for a text with characters that the column cannot hold, and those of other texts', async () => {
        await at.database.run(`CREATE TABLE narrow (k varchar(20) CHARACTER SET latin1 PRIMARY KEY)`);
        await at.database.run(`INSERT INTO narrow VALUES ('Sale')`);
        const found = await readRowsByValues(at.source, plan('narrow', ['k']), ['k'], [['Sale'], ['\u{1F525} Sale']]);
        expect([...found.rows]).toEqual([['Sale']]);
      });

    it('writes nothing, even if a query tries to', async () => {
      await at.database.run(`CREATE TABLE guarded (id int PRIMARY KEY)`);
      for (const sql of [
        'INSERT INTO guarded VALUES (3)',
        'SELECT 1 AS id) q; INSERT INTO guarded VALUES (4); SELECT q.id FROM (SELECT 1 AS id',
        'DELETE FROM guarded RETURNING id',
      ])
        expect(await codeOf(at.source.readPage(query(sql, ['id'], ['id']), ALL, 1)), sql).toBe('config_invalid');
      expect(await readAll(at.source, plan('guarded', ['id']), 5)).toEqual([]);
    });
  });
}
