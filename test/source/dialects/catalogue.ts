/** The catalog of a database: its tables and its server. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { open } from '../reading.js';
import type { Opened } from './opened.js';

/** Tables, keys, and the server. */
export function catalogue(at: Opened): void {
  const { dialect } = at;
  const { instant } = dialect;

  describe('the catalogue', () => {
    it('lists tables, views, keys, foreign keys and indexes', async () => {
      await at.database.run(
        `CREATE TABLE parents (id integer PRIMARY KEY, code varchar(10) NOT NULL UNIQUE, alias varchar(10) UNIQUE)`,
      );
      await at.database.run(
        `CREATE TABLE children (a int NOT NULL, b int NOT NULL, parent int, at ${instant}, PRIMARY KEY (b, a), FOREIGN KEY (parent) REFERENCES parents (id))`,
      );
      await at.database.run(`CREATE INDEX by_change ON children (at, a)`);
      await at.database.run(
        'CREATE VIEW families AS SELECT p.code, c.a FROM parents p JOIN children c ON c.parent = p.id',
      );
      const query = 'SELECT f.code, (SELECT count(*) FROM parents) AS n FROM families f';
      const read = await at.source.tablesRead({ query });
      expect(read?.map(({ name }) => name) ?? null).toEqual(
        dialect.speaks === 'mysql' ? null : ['children', 'parents'],
      );
      const [children] = await at.source.tables(['children']);
      expect(children).toMatchObject({ table: 'children', kind: 'table', primaryKey: ['b', 'a'], readable: true });
      expect(children!.uniqueKeys).toEqual([['b', 'a']]);
      expect(children!.foreignKeys.map(({ columns, table, parentColumns }) => [columns, table, parentColumns])).toEqual(
        [[['parent'], 'parents', ['id']]],
      );
      expect(children!.indexes.find((i) => i.name === 'by_change')!.columns).toEqual(['at', 'a']);
      expect(children!.columns.map((c) => [c.name, c.type, c.nullable])).toEqual([
        ['a', 'integer', false],
        ['b', 'integer', false],
        ['parent', 'integer', true],
        ['at', dialect.name === 'SQLite' ? 'timestamp' : 'timestamptz', dialect.speaks !== 'mysql'],
      ]);
      // The alias may be missing in many rows: it names none.
      expect((await at.source.tables(['parents']))[0]!.uniqueKeys).toEqual([['id'], ['code']]);
      expect(await at.source.tables(['no_such_table'])).toEqual([]);
    });

    it('tells whether the values of a column may be of another type than its own', async () => {
      await at.database.run('CREATE TABLE held (a integer, b varchar(10))');
      const described = await at.source.describe({ table: 'held' });
      expect(described.map(({ hasOtherTypes }) => hasOtherTypes === true)).toEqual(
        Array(2).fill(dialect.name === 'SQLite'),
      );
    });

    it('lists the tables of a database of many within the statement timeout', async () => {
      const database = await dialect.create();
      onTestFinished(() => database.drop());
      for (let i = 0; i < 400; i++) await database.run(`CREATE TABLE t${i} (id integer PRIMARY KEY, a integer)`);
      const source = open(database.url);
      onTestFinished(() => source.close());
      const names = (await source.tables()).map(({ name }) => name);
      expect(names.filter((name) => /^t\d+$/.test(name))).toHaveLength(400);
    });

    it('reports server, version and clock', async () => {
      const server = await at.source.server();
      expect(server.product).toBe(dialect.name);
      expect(server.version).toMatch(/^\d+\./);
      expect(server.clock).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(server).toMatchObject({ standby: false, seesOpenTransactions: true, grantForOpenTransactions: null });
      expect(Math.abs(Date.parse(server.clock) - Date.now())).toBeLessThan(60_000);
    });
  });
}
