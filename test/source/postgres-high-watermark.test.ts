/** The high watermark of PostgreSQL: it passes no row of a transaction that is still open, or prepared. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Source } from '../../src/domain/source/source.js';
import { createDatabase, eventually, type Database } from '../pipeline/shop.js';
import { momentOf } from '../../src/source/cursor-time.js';
import { ALL, open, plan, readAll } from './reading.js';

let database: Database;
let source: Source;

beforeAll(async () => {
  database = await createDatabase();
  source = open(database.url);
});
afterAll(async () => {
  await source.close();
  await database.drop();
});

it('does not pass a transaction that is still open, so that its row is not skipped', async () => {
  await database.query(`CREATE TABLE late (id int PRIMARY KEY, at timestamptz DEFAULT now())`);
  const read = plan('late', ['id'], 'at');
  const older = await database.connect();
  onTestFinished(() => older.end());
  await older.query('BEGIN');
  await older.query('INSERT INTO late (id) VALUES (1)');
  await database.query('INSERT INTO late (id) VALUES (2)');

  const first = await source.highWatermark(read);
  const before = await readAll(source, read, 10, { ...ALL, cursorBefore: first });
  await older.query('COMMIT');
  const second = await source.highWatermark(read);
  const after = await readAll(source, read, 10, { ...ALL, cursorFrom: first, cursorBefore: second });

  const ids = [...before, ...after].map((row) => row.split('|')[0]);
  expect(ids).toEqual(['1', '2']);
});

describe('while a session does not report its transactions', () => {
  /** Seconds that the high watermark of `reader` is behind the clock. */
  const behind = async (reader: Source): Promise<number> => {
    const highWatermark = await reader.highWatermark(plan('late', ['id'], 'at'));
    return (Date.parse((await reader.server()).clock) - momentOf(highWatermark, undefined)!.getTime()) / 1000;
  };

  it('stays behind the clock, and says that it cannot see them', async () => {
    const older = await database.connect();
    onTestFinished(() => older.end());
    await older.query('SET track_activities = off');
    await older.query('BEGIN');
    expect(await behind(source)).toBeGreaterThan(28);
    expect(await source.server()).toMatchObject({ seesOpenTransactions: false, grantForOpenTransactions: null });

    await older.end();
    await eventually('the session is gone', async () => (await behind(source)) < 5);
    expect(await source.server()).toMatchObject({ seesOpenTransactions: true });
  });

  it('says so before there is one, and names no grant that would not help', async () => {
    const here = database.url.split('/').at(-1)!;
    const name = `quiet_${here}`;
    await database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'r'; GRANT SELECT ON late TO ${name}`);
    await database.query(`ALTER DATABASE ${here} SET track_activities = off`);
    onTestFinished(async () => {
      await database.query(`ALTER DATABASE ${here} RESET track_activities; DROP OWNED BY ${name}; DROP ROLE ${name}`);
    });
    const url = Object.assign(new URL(database.url), { username: name, password: 'r' });
    for (const address of [database.url, url.href]) {
      const reader = open(address);
      onTestFinished(() => reader.close());
      expect(await reader.server()).toMatchObject({ seesOpenTransactions: false, grantForOpenTransactions: null });
      expect(await behind(reader)).toBeGreaterThan(28);
    }
  });
});

describe('while a transaction is prepared', () => {
  /** Prepares a transaction whose row has the time at which it began, which is before another row was committed. */
  async function prepare(table: string): Promise<() => Promise<unknown>> {
    await database.query(`CREATE TABLE ${table} (id int PRIMARY KEY, at timestamptz DEFAULT now())`);
    const older = await database.connect();
    await older.query('BEGIN');
    await older.query(`INSERT INTO ${table} (id) VALUES (1)`);
    await database.query(`INSERT INTO ${table} (id) VALUES (2)`);
    await older.query(`PREPARE TRANSACTION '${table}'`);
    await older.end();
    return () => database.query(`COMMIT PREPARED '${table}'`);
  }

  it('waits for its end, so that its rows are not skipped', async () => {
    const commit = await prepare('in_doubt');
    const read = plan('in_doubt', ['id'], 'at');

    const first = source.highWatermark(read);
    const reading = first.then((cursorBefore) => readAll(source, read, 10, { ...ALL, cursorBefore }));
    await Promise.race([reading, sleep(200)]);
    await commit();
    const before = await reading;
    const after = await readAll(source, read, 10, { ...ALL, cursorFrom: await first });

    expect([...before, ...after].map((row) => row.split('|')[0])).toEqual(['1', '2']);
  });

  it('says which one it waits for if that does not end', async () => {
    const commit = await prepare('left_behind');
    onTestFinished(async () => void (await commit()));
    await expect(source.highWatermark(plan('left_behind', ['id'], 'at'))).rejects.toMatchObject({
      code: 'source_query_failed',
      message: expect.stringMatching(/while a transaction is prepared \(since 2.*pg_prepared_xacts/) as string,
    });
  });
});

it('stays behind the clock if the account may not see the transactions of others', async () => {
  const name = `reader_${database.url.split('/').at(-1)!}`;
  await database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'r'; GRANT SELECT (id, at) ON late TO ${name}`);
  const url = Object.assign(new URL(database.url), { username: name, password: 'r' });
  const reader = open(url.href);
  onTestFinished(async () => {
    await reader.close();
    await database.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
  });
  const highWatermark = await reader.highWatermark(plan('late', ['id'], 'at'));
  const [{ seconds }] = (await database.query<{ seconds: number }>(
    `SELECT extract(epoch FROM clock_timestamp() - $1::timestamptz)::float8 AS seconds`,
    [highWatermark],
  )) as [{ seconds: number }];
  expect(seconds).toBeGreaterThanOrEqual(30);
});

it('moves a cursor back in its own type', async () => {
  await database.query(`CREATE TABLE cursors (id int, tz timestamptz, naive timestamp, d date, n bigint)`);
  const back = (column: string, value: string) => source.cursorMinus(plan('cursors', ['id'], column), value, 86_400);
  expect(await back('tz', '2020-01-02 00:00:00.000001+00')).toBe('2020-01-01 00:00:00.000001+00');
  expect(await back('naive', '2020-01-02 00:00:00.000001')).toBe('2020-01-01 00:00:00.000001');
  expect(await back('d', '2020-01-02')).toBe('2020-01-01');
  expect(await back('n', '7')).toBe('7');
});
