/** What is special about change tables of PostgreSQL: partitions, TRUNCATE, replication, rights and unfit tables. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChangeFeed } from '../../src/domain/source/change-feed.js';
import { CHANGES, createChangeTable, keysFrom, turnOf, undisturbed } from './change-table-database.js';
import { postgres as shared } from './dialect-databases.js';
import { open } from './reading.js';
import { groupsFrom, positionAfter } from './slot-server.js';

const postgres = undisturbed(shared);

const ORDERS = 'CREATE TABLE orders (id int PRIMARY KEY, note text)';
const PARTITIONED = `
  CREATE TABLE visits (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
  CREATE TABLE visits_1 PARTITION OF visits FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
  CREATE TABLE visits_2 PARTITION OF visits FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')`;

const orders = () => createChangeTable(postgres, ORDERS, { orders: ['id'] });

const truncatedOf = async (feed: ChangeFeed, start: Awaited<ReturnType<ChangeFeed['begin']>>) => {
  const groups = await groupsFrom(feed, start);
  return [groups.flatMap(({ truncated }) => truncated), positionAfter(groups, start)] as const;
};

describe('a change table of PostgreSQL', () => {
  it('tells that TRUNCATE has emptied a table', async () => {
    const { feed, run } = await orders();
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1)');
    await run('TRUNCATE orders');
    expect((await truncatedOf(feed, start))[0]).toEqual([{ schema: 'public', name: 'orders' }]);
  });

  it('tells what is written to a partitioned table or to a partition, now and of later ones, under its own name', async () => {
    const { feed, run } = await createChangeTable(postgres, PARTITIONED, { visits: ['id', 'day'] });
    expect((await feed.state()).tables).toMatchObject([{ schema: 'public', name: 'visits' }]);
    let position = await feed.begin();
    const keys = async (): Promise<string[]> => {
      const [told, after] = await turnOf(feed, position);
      position = after;
      return told;
    };
    await run(`INSERT INTO visits VALUES (1, '2024-05-01')`);
    await run(`INSERT INTO visits_2 VALUES (2, '2025-05-01')`);
    expect(await keys()).toEqual(['visits:1|2024-05-01', 'visits:2|2025-05-01']);
    await run(`UPDATE visits SET day = '2025-06-01' WHERE id = 1`);
    expect(await keys()).toEqual(['visits:1|2024-05-01', 'visits:1|2025-06-01']);
    await run(`CREATE TABLE visits_3 PARTITION OF visits FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')`);
    await run(
      `SET session_replication_role = replica; INSERT INTO visits_3 VALUES (3, '2026-05-01'); RESET session_replication_role`,
    );
    await run('DELETE FROM visits_2');
    expect(await keys()).toEqual(['visits:1|2025-06-01', 'visits:2|2025-05-01', 'visits:3|2026-05-01']);
    await run('TRUNCATE visits');
    expect((await truncatedOf(feed, position))[0]).toMatchObject([{ schema: 'public', name: 'visits' }]);
  });

  it('tells what is written through the table that another one inherits from', async () => {
    const { feed, run } = await createChangeTable(
      postgres,
      'CREATE TABLE base (id int PRIMARY KEY, note text); CREATE TABLE special (PRIMARY KEY (id)) INHERITS (base)',
      { special: ['id'] },
    );
    await run('INSERT INTO base VALUES (1); INSERT INTO special VALUES (2)');
    const start = await feed.begin();
    await run(`UPDATE base SET note = 'x'`);
    expect((await keysFrom(feed, start))[0]).toEqual(['special:2']);
  });

  it('tells what COPY, ON CONFLICT, cascades and sessions without ordinary triggers write', async () => {
    const { feed, run } = await createChangeTable(
      postgres,
      `${ORDERS}; CREATE TABLE lines (id int PRIMARY KEY, order_id int REFERENCES orders ON DELETE CASCADE ON UPDATE CASCADE)`,
      { orders: ['id'], lines: ['id'] },
    );
    await run('INSERT INTO orders VALUES (1), (2); INSERT INTO lines VALUES (10, 1), (20, 2)');
    const start = await feed.begin();
    await run(`INSERT INTO orders VALUES (1, 'x'), (3, 'y') ON CONFLICT (id) DO UPDATE SET note = 'z'`);
    await run('DELETE FROM orders WHERE id = 2');
    const [keys, position] = await turnOf(feed, start);
    expect(keys).toEqual(['lines:20', 'orders:1', 'orders:2', 'orders:3']);
    await run('UPDATE orders SET id = 100 WHERE id = 1');
    await run(`SET session_replication_role = replica; INSERT INTO orders VALUES (4); RESET session_replication_role`);
    expect((await turnOf(feed, position))[0]).toEqual(['lines:10', 'orders:1', 'orders:100', 'orders:4']);
  });

  it('records what an account writes that may neither use the change table nor create anything', async () => {
    const { feed, run, url } = await orders();
    const name = `${new URL(url).pathname.slice(1)}_app`;
    await run(`CREATE ROLE ${name} LOGIN PASSWORD 'a'; GRANT INSERT ON orders TO ${name}`);
    onTestFinished(() => run(`DROP OWNED BY ${name}; DROP ROLE ${name}`));
    const start = await feed.begin();
    await run(`SET ROLE ${name}; INSERT INTO orders VALUES (1); RESET ROLE`);
    expect((await keysFrom(feed, start))[0]).toEqual(['orders:1']);
    await expect(run(`SET ROLE ${name}; SELECT FROM partner_sync_changes.${CHANGES.table}`)).rejects.toThrow(
      'permission denied',
    );
    await run('RESET ROLE');
  });

  it('is read by an account without other rights, which deletes what it has read once it may', async () => {
    const { feed: admin, run, url, planned } = await orders();
    const name = `${new URL(url).pathname.slice(1)}_reader`;
    await run(`CREATE ROLE ${name} LOGIN PASSWORD 'r'; GRANT SELECT ON orders TO ${name}`);
    const reader = open(Object.assign(new URL(url), { username: name, password: 'r' }).href);
    onTestFinished(async () => {
      await reader.close();
      await run(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    });
    const feed = reader.changes(CHANGES);
    expect((await feed.state()).problem).toContain('may not read the change table');
    await expect(feed.begin()).rejects.toMatchObject({ code: 'config_invalid' });
    const tables = await planned({ orders: ['id'] });
    const { statements } = await feed.installation(tables);
    expect(statements.map(({ sql }) => sql.slice(0, 5))).toEqual(['GRANT', 'GRANT', 'GRANT']);

    await run(`GRANT USAGE ON SCHEMA partner_sync_changes TO ${name}`);
    await run(`GRANT SELECT ON ALL TABLES IN SCHEMA partner_sync_changes TO ${name}`);
    const start = await feed.begin();
    await run('INSERT INTO orders VALUES (1)');
    const [keys, position] = await turnOf(feed, start);
    expect(keys).toEqual(['orders:1']);
    const left = async () => (await groupsFrom(admin, start)).flatMap(({ rows }) => rows).length;
    expect(await left()).toBe(1);
    const [unpruned] = (await feed.installation(tables)).findings;
    expect(unpruned).toMatchObject({ kind: 'not-pruned', blocks: false });

    await run(unpruned!.fix!);
    expect((await feed.installation(tables)).findings).toEqual([]);
    await feed.confirm(position);
    await expect(left()).rejects.toMatchObject({ code: 'changes_lost' });
    expect((await turnOf(feed, position))[0]).toEqual([]);
  });

  it('notices that it is read in another database, or that the server has gone back', async () => {
    const { feed } = await orders();
    const start = await feed.begin();
    const [xid] = start.at.split('/') as [string];
    await expect(groupsFrom(feed, { ...start, at: `${BigInt(xid) + 1_000_000n}/0` })).rejects.toMatchObject({
      code: 'changes_lost',
      message: expect.stringContaining('gone back to an earlier state') as string,
    });
    const [system, ...others] = start.origin.split(':');
    const foreign = { ...start, origin: [`${BigInt(system!) + 1n}`, ...others].join(':') };
    await expect(groupsFrom(feed, foreign)).rejects.toMatchObject({ code: 'changes_lost' });
  });

  it.each([
    ['not-publishable', 'CREATE VIEW t AS SELECT 1 AS id'],
    ['not-publishable', 'CREATE UNLOGGED TABLE t (id int PRIMARY KEY)'],
    ['children', 'CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u () INHERITS (t)'],
  ])('refuses a table: %s, %s', async (kind, sql) => {
    const { feed, planned } = await createChangeTable(postgres, sql, {});
    const { findings, statements } = await feed.installation(await planned({ t: ['id'] }));
    expect(findings.filter(({ blocks }) => blocks)).toMatchObject([{ kind, table: { schema: 'public', name: 't' } }]);
    expect(statements.filter(({ sql: statement }) => statement.includes('TRIGGER'))).toEqual([]);
  });

  it('says of a trigger that does not fire in every session, and of a table without one', async () => {
    const { feed, run, planned } = await orders();
    const tables = await planned({ orders: ['id'] });
    await run(`ALTER TABLE orders ENABLE TRIGGER ${CHANGES.table}_delete`);
    const [finding] = (await feed.installation(tables)).findings;
    expect(finding).toMatchObject({ kind: 'part-differs', blocks: true });
    await run(finding!.fix!);
    expect((await feed.installation(tables)).findings).toEqual([]);
    await run(`ALTER TABLE orders DISABLE TRIGGER ${CHANGES.table}_delete`);
    expect((await feed.state()).tables).toEqual([]);
  });
});
