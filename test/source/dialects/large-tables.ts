/** Tables that are read in parts, and rows that are large. */
import { expect, it } from 'vitest';
import { ALL, plan, readAll } from '../reading.js';
import type { TestServerName } from '../dialect-databases.js';
import type { Opened } from './opened.js';

/** On every kind of database. */
export function largeTables(at: Opened): void {
  const { dialect } = at;
  const { numbers } = dialect;

  it('splits a table into key ranges that cover every row exactly once, if the database knows its size', async () => {
    await at.database.run(`CREATE TABLE gaps (id bigint PRIMARY KEY)`);
    await at.database.run(`INSERT INTO gaps SELECT CASE WHEN i < 500 THEN -i ELSE i * 1000 END FROM ${numbers(1000)}`);
    await at.database.run(
      { PostgreSQL: 'ANALYZE gaps', MariaDB: 'ANALYZE TABLE gaps', MySQL: 'ANALYZE TABLE gaps', SQLite: 'ANALYZE' }[
        dialect.name
      ],
    );
    const read = plan('gaps', ['id']);
    const ranges = await at.source.splitKeys(read, 100);
    expect(ranges.length).toBeGreaterThan(dialect.name === 'SQLite' ? 0 : 5);
    const ids: string[] = [];
    for (const { after, through } of ranges)
      ids.push(
        ...(await readAll(at.source, read, 64, {
          ...ALL,
          after: after === null ? null : { cursor: null, key: after },
          throughKey: through,
        })),
      );
    expect(ids).toHaveLength(1000);
    expect(new Set(ids).size).toBe(1000);
  });

  it('makes the page after a large one smaller, loses no row, and bounds what it keeps in memory', async () => {
    const wide = {
      PostgreSQL: `repeat('x', 1000000)`,
      MariaDB: `repeat('x', 1000000)`,
      MySQL: `repeat('x', 1000000)`,
      SQLite: `hex(zeroblob(500000))`,
    };
    await at.database.run(
      `CREATE TABLE fat (id int PRIMARY KEY, v ${dialect.speaks === 'mysql' ? 'longtext' : 'text'})`,
    );
    await at.database.run(`INSERT INTO fat SELECT i, ${wide[dialect.name]} FROM ${numbers(40)}`);
    const read = plan('fat', ['id'], null, ['v']);
    const sizes: number[] = [];
    const ids: string[] = [];
    let after: string[] | null = null;
    while (true) {
      const page = await at.source.readPage(
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
}

const RANGES = `CREATE TABLE parted (id int, day date, PRIMARY KEY (day, id)) PARTITION BY RANGE COLUMNS (day)
  (PARTITION p1 VALUES LESS THAN ('2020-02-01'), PARTITION p2 VALUES LESS THAN (MAXVALUE))`;

/** On those that have partitions. */
export function partitions(at: Opened): void {
  const { dialect } = at;

  it('reads a partitioned table whole, in order, whichever partition a row is in', async () => {
    const parts: Readonly<Record<TestServerName, string>> = {
      PostgreSQL: `CREATE TABLE parted (id int, day date, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
        CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
        CREATE TABLE parted_2 PARTITION OF parted DEFAULT;`,
      MariaDB: RANGES,
      MySQL: RANGES,
    };
    await at.database.run(parts[dialect.name as TestServerName]);
    for (const [id, day] of [
      [1, '2020-03-01'],
      [2, '2020-01-15'],
      [3, '2020-01-31'],
      [4, '2020-02-01'],
      [5, '2019-12-31'],
    ])
      await at.database.run(`INSERT INTO parted VALUES (${id}, '${day}')`);
    const [table] = await at.source.tables(['parted']);
    expect(table).toMatchObject({ primaryKey: ['day', 'id'], kind: 'table' });
    for (const size of [1, 2, 5])
      expect(await readAll(at.source, plan('parted', ['day', 'id']), size)).toEqual([
        ...['2019-12-31|5', '2020-01-15|2', '2020-01-31|3', '2020-02-01|4', '2020-03-01|1'],
      ]);
    // The partitions are the table's own affair.
    expect((await at.source.tables()).map((t) => t.name).filter((name) => /^parted/.test(name))).toEqual(['parted']);
  });
}
