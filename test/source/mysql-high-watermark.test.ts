/** The high watermark of MySQL and MariaDB: it passes no row of a statement that is still running, whatever it has read so far. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Session } from '../../src/source/dialect.js';
import type { Source } from '../../src/domain/source/source.js';
import { momentOf } from '../../src/source/cursor-time.js';
import { isReplica } from '../../src/source/mysql/high-watermark.js';
import { here, mariadb, mysql, type TestDatabase } from './dialect-databases.js';
import { ALL, open, plan, readAll } from './reading.js';

it('takes a server for a replica by what its version answers for read_only', async () => {
  const answering = (value: string) =>
    ({ run: () => Promise.resolve({ rows: [[value]], fields: [] }) }) as unknown as Session;
  // MySQL, and MariaDB before version 12.
  expect(await isReplica(answering('0'))).toBe(false);
  expect(await isReplica(answering('1'))).toBe(true);
  // MariaDB 12.
  expect(await isReplica(answering('OFF'))).toBe(false);
  for (const value of ['ON', 'NO_LOCK', 'NO_LOCK_NO_ADMIN']) expect(await isReplica(answering(value))).toBe(true);
});

describe.each(here([mariadb, mysql]))('$name', ({ create }) => {
  let database: TestDatabase;
  let source: Source;
  beforeAll(async () => {
    database = await create();
    source = open(database.url);
    // InnoDB does not know of a transaction that has only read this one.
    await database.run('CREATE TABLE elsewhere (i int) ENGINE=MyISAM');
    await database.run('INSERT INTO elsewhere VALUES (0), (0), (0), (0)');
    await database.run('CREATE TABLE late (id varchar(20) PRIMARY KEY, at timestamp(6) NOT NULL)');
    await database.run(
      'CREATE FUNCTION slowly() RETURNS int READS SQL DATA BEGIN DECLARE x int; SELECT SLEEP(4) INTO x; RETURN x; END',
    );
  });
  afterAll(async () => {
    await source?.close();
    await database?.drop();
  });

  /** Runs a statement of about 4 seconds, and gives the high watermark that is taken in the midst of it. */
  async function during(sql: string): Promise<string> {
    const other = await database.connect();
    onTestFinished(() => other.end());
    const running = other.run(sql);
    await sleep(2500);
    const highWatermark = await source.highWatermark(plan('late', ['id'], 'at'));
    await running;
    return highWatermark;
  }

  /** Seconds that it is behind the clock by now. */
  const behind = async (highWatermark: string): Promise<number> =>
    (Date.parse((await source.server()).clock) - momentOf(highWatermark, undefined)!.getTime()) / 1000;

  it.each([
    ['reads', `INSERT INTO late SELECT 'reads', NOW(6) + INTERVAL SUM(SLEEP(1)) SECOND FROM elsewhere`],
    ['calls', `INSERT INTO late VALUES (CONCAT('calls', LEFT(slowly(), 0)), NOW(6))`],
  ])('does not pass a statement that only %s until it writes a row with the time it began at', async (id, sql) => {
    const cursorFrom = await during(sql);
    const rows = await readAll(source, plan('late', ['id'], 'at'), 10, { ...ALL, cursorFrom });
    expect(rows.map((row) => row.split('|')[0])).toContain(id);
  });

  it('does not pass the statement of an event', async () => {
    await database.run('SET GLOBAL event_scheduler = ON');
    onTestFinished(() => database.run('SET GLOBAL event_scheduler = OFF'));
    await database.run(`CREATE EVENT soon ON SCHEDULE AT NOW() DO
      INSERT INTO late SELECT 'event', NOW(6) + INTERVAL SUM(SLEEP(1)) SECOND FROM elsewhere`);
    const cursorFrom = await during('DO SLEEP(0)');
    await sleep(2500);
    const rows = await readAll(source, plan('late', ['id'], 'at'), 10, { ...ALL, cursorFrom });
    expect(rows.map((row) => row.split('|')[0])).toContain('event');
  });

  it('is not held back by a SELECT, however long that takes', async () => {
    const highWatermark = await during('SELECT SUM(SLEEP(1)) FROM elsewhere');
    // Until the statement was over, and the second that it always stays behind.
    expect(await behind(highWatermark)).toBeLessThan(3.5);
  });

  it('stays behind the clock on a server that takes no writes, where no grant would help', async () => {
    await database.run(`CREATE USER reader@'%' IDENTIFIED BY 'r'; GRANT SELECT ON *.* TO reader@'%'`);
    const reader = open(Object.assign(new URL(database.url), { username: 'reader', password: 'r' }).href);
    onTestFinished(() => reader.close());
    await database.run('SET GLOBAL read_only = ON');
    onTestFinished(() => database.run('SET GLOBAL read_only = OFF'));
    for (const each of [source, reader]) {
      expect(await each.server()).toMatchObject({
        standby: true,
        seesOpenTransactions: false,
        grantForOpenTransactions: null,
      });
      expect(await behind(await each.highWatermark(plan('late', ['id'], 'at')))).toBeGreaterThan(28);
    }
  });
});
