/** Cursors of time: the overlap, and the high watermark before which every transaction has ended. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../pipeline/shop.js';
import { ALL, codeOf, open, plan, readAll } from '../reading.js';
import type { TestServerName } from '../dialect-databases.js';
import type { Opened } from './opened.js';

/** On every kind of database. */
export function times(at: Opened): void {
  const { dialect } = at;
  const { instant, local } = dialect;

  describe('the overlap', () => {
    it('moves a cursor back, or ahead, in its own type and format, and does not change what is not a time', async () => {
      await at.database.run(
        `CREATE TABLE cursors (id int PRIMARY KEY, tz ${instant}, naive ${local}, d date, n bigint)`,
      );
      const back = (column: string, value: string, zone?: string) =>
        at.source.cursorMinus({ ...plan('cursors', ['id'], column), cursorZone: zone ?? null }, value, 3600);
      expect(await back('tz', '2020-01-02 00:00:00.000001')).toBe('2020-01-01 23:00:00.000001');
      expect(await back('naive', '2020-01-02 00:00:00.5')).toBe('2020-01-01 23:00:00.5');
      expect(await back('d', '2020-01-02')).toBe('2020-01-01');
      expect(await back('n', '7')).toBe('7');
      expect(await at.source.cursorMinus(plan('cursors', ['id'], 'tz'), '2020-01-02 00:00:00.000001', -172_800)).toBe(
        '2020-01-04 00:00:00.000001',
      );
      // There may be no such value of the type.
      expect(await back('naive', '1900-01-01 00:10:00')).toBeNull();
      expect(await back('d', '0001-01-01')).toBeNull();
      // At 02:10 summer time the hour before began at 00:10, though the clock says 01:10 was never.
      expect(await back('naive', '2020-03-29 02:10:00', 'Europe/London')).toBe('2020-03-29 00:10:00');
    });
  });

  describe('the high watermark', () => {
    it('refuses a cursor without a zone until the mapping names one', async () => {
      await at.database.run(`CREATE TABLE zoneless (id int PRIMARY KEY, at ${local})`);
      const read = plan('zoneless', ['id'], 'at');
      expect(await codeOf(at.source.highWatermark(read))).toBe('config_invalid');
      const utc = await at.source.highWatermark({ ...read, cursorZone: 'UTC' });
      const kolkata = await at.source.highWatermark({ ...read, cursorZone: 'Asia/Kolkata' });
      const minutes = (Date.parse(`${kolkata}Z`) - Date.parse(`${utc}Z`)) / 60_000;
      expect(Math.round(minutes)).toBe(330);
    });

    it("is not past the database's clock, and is past what was committed before", async () => {
      await at.database.run(`CREATE TABLE committed (id int PRIMARY KEY, at ${instant})`);
      await at.database.run(`INSERT INTO committed VALUES (1, ${dialect.now})`);
      const read = { ...plan('committed', ['id'], 'at'), cursorZone: 'UTC' };
      await eventually('the row is read', async () => {
        const highWatermark = await at.source.highWatermark(read);
        return (await readAll(at.source, read, 5, { ...ALL, cursorBefore: highWatermark })).length === 1;
      });
    });
  });
}

/** On servers, where transactions of others may be open. */
export function openTransactions(at: Opened): void {
  const { dialect } = at;
  const { instant } = dialect;

  it('stays behind the clock if the account may not see the transactions of others, and says what to grant', async () => {
    const name = `reader_${Date.now()}`;
    const { username, password } = new URL(at.database.url);
    const grants: Readonly<Record<TestServerName, string>> = {
      PostgreSQL: `CREATE ROLE ${name} LOGIN PASSWORD 'secret'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${name}`,
      MariaDB: `CREATE USER ${name}@'%' IDENTIFIED BY 'secret'; GRANT SELECT ON *.* TO ${name}@'%'`,
      MySQL: `CREATE USER ${name}@'%' IDENTIFIED BY 'secret'; GRANT SELECT ON *.* TO ${name}@'%'`,
    };
    await at.database.run(`CREATE TABLE watched (id int PRIMARY KEY, at ${instant} DEFAULT ${dialect.now})`);
    await at.database.run(grants[dialect.name as TestServerName]);
    const reader = open(
      at.database.url.replace(`${username}${password === '' ? '' : `:${password}`}@`, `${name}:secret@`),
    );
    onTestFinished(() => reader.close());
    const server = await reader.server();
    expect(server).toMatchObject({ seesOpenTransactions: false });
    const highWatermark = await reader.highWatermark(plan('watched', ['id'], 'at'));
    const behind = (Date.parse(server.clock) - Date.parse(`${highWatermark.slice(0, 19).replace(' ', 'T')}Z`)) / 1000;
    expect(behind).toBeGreaterThan(28);
    expect(behind).toBeLessThan(33);
    // Whoever follows the advice is no longer told it.
    await at.database.run(server.grantForOpenTransactions!);
    const seeing = open(
      at.database.url.replace(`${username}${password === '' ? '' : `:${password}`}@`, `${name}:secret@`),
    );
    onTestFinished(() => seeing.close());
    expect(await seeing.server()).toMatchObject({ seesOpenTransactions: true, grantForOpenTransactions: null });
  });

  it('does not skip a row that a transaction commits after three reads', async () => {
    await at.database.run(`CREATE TABLE late (id int PRIMARY KEY, at ${instant} DEFAULT ${dialect.now})`);
    const read = plan('late', ['id'], 'at');
    const seen = new Set<string>();
    let from: string | null = null;
    const run = async (): Promise<void> => {
      const before = await at.source.highWatermark(read);
      const rows = await readAll(at.source, read, 2, { ...ALL, cursorFrom: from, cursorBefore: before });
      for (const row of rows) seen.add(row.split('|')[0]!);
      from = rows.at(-1)?.split('|')[1] ?? from;
    };
    const older = await at.database.connect();
    onTestFinished(() => older.end());
    await older.run('BEGIN');
    await older.run('INSERT INTO late (id) VALUES (1)');
    for (const id of [2, 3, 4]) {
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await at.database.run(`INSERT INTO late (id) VALUES (${id})`);
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
}
