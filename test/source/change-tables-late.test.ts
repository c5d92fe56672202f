/** Transactions that are committed later than others which began after them: change tables of servers pass none of them by. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createChangeTable, keysFrom, turnOf, type ChangeTableDatabase, undisturbed } from './change-table-database.js';
import { here, mariadb, mysql, postgres } from './dialect-databases.js';

const ORDERS = 'CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, note varchar(40))';

async function writerOf({ connect }: ChangeTableDatabase) {
  const writer = await connect();
  onTestFinished(() => writer.end());
  await writer.run('BEGIN');
  return writer;
}

describe.each(here([postgres, mariadb, mysql]))('a change table of $name', (listed) => {
  const dialect = undisturbed(listed);
  const orders = () => createChangeTable(dialect, ORDERS, { orders: ['id'] });

  it('tells a row of a transaction that was open while a later one was committed and told', async () => {
    const database = await orders();
    const { feed, run } = database;
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1, NULL)');
    const open = await writerOf(database);
    await open.run('INSERT INTO orders VALUES (2, NULL)');
    await run('INSERT INTO orders VALUES (3, NULL)');
    const [during, position] = await turnOf(feed, start);
    expect(during).toEqual(['orders:1']);
    expect(await turnOf(feed, position)).toEqual([[], expect.anything()]);

    await open.run('INSERT INTO orders VALUES (4, NULL)');
    await open.run('COMMIT');
    const [after, end] = await turnOf(feed, position);
    expect(after).toEqual(['orders:2', 'orders:3', 'orders:4']);
    expect(await turnOf(feed, end)).toEqual([[], expect.anything()]);
  });

  it('passes by what was rolled back, and goes on behind it', async () => {
    const database = await orders();
    const { feed, run } = database;
    const start = await feed.begin();
    const undone = await writerOf(database);
    await undone.run('INSERT INTO orders VALUES (1, NULL), (2, NULL)');
    await run('INSERT INTO orders VALUES (3, NULL)');
    expect((await turnOf(feed, start))[0]).toEqual([]);
    await undone.run('ROLLBACK');
    expect((await turnOf(feed, start))[0]).toEqual(['orders:3']);
  });

  it('tells every key of many writers that overlap, roll back and take their time', async () => {
    const database = await orders();
    const { feed } = database;
    let position = await feed.begin();
    const told = new Set<string>();
    const committed = new Set<string>();
    const write = async (first: number): Promise<void> => {
      const connection = await database.connect();
      for (let i = 0; i < 25; i++) {
        const ids = [first + 2 * i, first + 2 * i + 1];
        await connection.run('BEGIN');
        for (const id of ids) {
          await connection.run(`INSERT INTO orders VALUES (${id}, NULL)`);
          await new Promise((resolve) => setTimeout(resolve, (id * 7919) % 23));
        }
        const isKept = i % 7 !== 3;
        await connection.run(isKept ? 'COMMIT' : 'ROLLBACK');
        if (isKept) for (const id of ids) committed.add(`orders:${id}`);
      }
      await connection.end();
    };
    const read = async (): Promise<void> => {
      const [keys, after] = await turnOf(feed, position);
      for (const key of keys) told.add(key);
      position = after;
    };
    let isWriting = true;
    const writing = Promise.all([1000, 2000, 3000, 4000].map(write)).finally(() => (isWriting = false));
    while (isWriting) await read();
    await writing;
    for (let i = 0; i < 3; i++) await read();
    expect([...told].toSorted()).toEqual([...committed].toSorted());
  });

  it('begins before a transaction that is open, so that a reading of all rows and the feed together miss nothing', async () => {
    const database = await createChangeTable(dialect, ORDERS, {});
    const { feed, planned, runAll } = database;
    const { statements } = await feed.installation(await planned({ orders: ['id'] }));
    const triggers = statements.findIndex(({ sql }) => sql.startsWith('CREATE TRIGGER'));
    await runAll(statements.slice(0, triggers));
    const open = await writerOf(database);
    await open.run('INSERT INTO orders VALUES (1, NULL)');
    // The triggers are not there before that transaction, which they would not see, has ended.
    const installing = runAll(statements.slice(triggers));
    await expect(Promise.race([installing, new Promise((resolve) => setTimeout(resolve, 500, 'waits'))])).resolves.toBe(
      'waits',
    );
    await open.run('COMMIT');
    await installing;

    const late = await writerOf(database);
    await late.run('INSERT INTO orders VALUES (2, NULL)');
    const start = await feed.begin();
    await late.run('COMMIT');
    expect((await keysFrom(feed, start))[0]).toEqual(['orders:2']);
  });
});
