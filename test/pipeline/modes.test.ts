/** Runs of every mode while the source keeps changing: the same on PostgreSQL, MariaDB and MySQL. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RunReport } from '../../src/domain/run/run.js';
import { here, mariadb, mysql, postgres, type TestDatabase } from '../source/dialect-databases.js';
import { eventually, failureOf, openShop, SYNC, text, type Shop } from './shop.js';

/** One table, mapping and schema each; nothing but the high watermark and the cursor protects what is read. */
const TABLES = [
  'late',
  'tied',
  'unstamped',
  'ahead',
  'clocks',
  'busy',
  'behind',
  'marked',
  'gone',
  'emptied',
  'mostly',
];

const mappingOf = (table: string): string => `schema: ${table}
source: { table: ${table} }
key: [id]
cursor: { column: at, overlap: ${table === 'clocks' ? '10m' : '0s'} }
deletes:
  ${table === 'marked' ? 'column: status\n  values: [X]\n  ' : ''}action: { set: { status: gone } }
  hold: { records: 0, percent: 20 }
fields: { id: { column: id, transforms: [string] }, name: name, status: status }
`;
const definitionOf = (name: string): string =>
  JSON.stringify({
    name,
    category: 'custom_schema',
    externalIdField: 'id',
    schema: { type: 'object', properties: { id: text, name: text, status: text }, required: ['id'] },
  });

describe.each(here([postgres, mariadb, mysql]))('$name', ({ create, instant, now, numbers, name: product }) => {
  let source: TestDatabase;
  let shop: Shop;
  beforeAll(async () => {
    source = await create();
    for (const table of TABLES)
      await source.run(
        `CREATE TABLE ${table} (id int PRIMARY KEY, name varchar(40), status varchar(10), at ${instant.replace(' NOT NULL', '')} NULL DEFAULT ${now})`,
      );
    const files = Object.fromEntries(
      TABLES.flatMap((table) => [
        [`${table}.mapping.yaml`, mappingOf(table)],
        [`${table}.schema.json`, definitionOf(table)],
      ]),
    );
    const sync = `source: { connection: '\${env:SOURCE_URL}' }\ntenant: north\nupload: { inDoubtDelay: 1s, batchSize: 100 }\n`;
    shop = await openShop({
      sourceUrl: source.url,
      other: { files: { ...files, 'sync.yaml': sync }, load: () => Promise.resolve() },
    });
    await shop.work();
  });
  afterAll(async () => {
    await shop?.close();
    await source?.drop();
  });
  beforeEach(() => shop.proxy.fail(undefined));

  const run = (mapping: string, mode: 'incremental' | 'full' | 'mirror', more: object = {}): Promise<RunReport> =>
    shop.run({ mappings: [mapping], mode, ...more });
  const insert = (table: string, id: number, at = now, name = 'n'): Promise<void> =>
    source.run(`INSERT INTO ${table} (id, name, at) VALUES (${id}, '${name}', ${at})`);
  const ago = (minutes: number): string =>
    `${now} - INTERVAL ${product === 'PostgreSQL' ? `'${minutes} minutes'` : `${minutes} MINUTE`}`;
  const ids = async (table: string): Promise<number[]> => {
    const rows = await shop.store.query<{ id: string }>(
      `select external_id as id from sandbox.resources r join sandbox.schema_definitions s on s.id = r.schema_id where s.name = $1`,
      [table],
    );
    return rows.map((row) => Number(row.id)).sort((a, b) => a - b);
  };
  const statusOf = async (table: string, id: number): Promise<unknown> =>
    (await shop.stored(table, String(id)))?.['status'];
  /** A row is read once the high watermark has passed its read sequence number: with MariaDB a second later. */
  const untilDelivered = (table: string, expected: readonly number[]): Promise<unknown> =>
    eventually(`${table} has ${expected.join()}`, async () => {
      await run(table, 'incremental');
      return JSON.stringify(await ids(table)) === JSON.stringify(expected);
    });
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  it('does not skip a row of a transaction that stays open over three runs', async () => {
    const older = await source.connect();
    onTestFinished(() => older.end());
    await older.run('BEGIN');
    await older.run(`INSERT INTO late (id, name) VALUES (1, 'late')`);
    for (const id of [2, 3, 4]) {
      await pause(1200);
      await insert('late', id);
      await run('late', 'incremental');
    }
    expect(await ids('late')).not.toContain(1);
    await older.run('COMMIT');
    await untilDelivered('late', [1, 2, 3, 4]);
  });

  it('reads 10,000 rows with one cursor value exactly once', async () => {
    await source.run(
      `INSERT INTO tied (id, name, at) SELECT i, 'n', '2020-01-01 10:00:00.123456' FROM ${numbers(10_000)}`,
    );
    const report = await run('tied', 'incremental');
    expect(report).toMatchObject({ outcome: 'complete', total: { read: 10_000, accepted: 10_000 } });
    expect(await ids('tied')).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
  });

  it('delivers rows that no high watermark will ever pass, and each of their changes, in the next incremental run', async () => {
    const never = product === 'PostgreSQL' ? [`'infinity'`, `'9999-12-31'`] : [`'2038-01-01'`, `'2037-01-01'`];
    await insert('ahead', 1, ago(60));
    for (const [i, at] of never.entries()) await insert('ahead', i + 2, at);
    await untilDelivered('ahead', [1, 2, 3]);

    await insert('ahead', 4, ago(60));
    await source.run(`UPDATE ahead SET name = 'changed' WHERE id = 2`);
    await source.run(`UPDATE ahead SET at = ${ago(1)} WHERE id = 3`);
    const report = await run('ahead', 'incremental');

    expect(report).toMatchObject({ outcome: 'complete', total: { accepted: 2 } });
    expect((await shop.stored('ahead', '2'))?.['name']).toBe('changed');
    const [position] = await shop.state.query<{ cursor: string }>(
      `SELECT cursor FROM partner_sync.positions p JOIN partner_sync.mappings m ON m.id = p.mapping_id WHERE m.name = 'ahead'`,
    );
    // As texts: before the rows far ahead.
    expect(position!.cursor < '2037').toBe(true);
  });

  it('refuses an incremental run over a cursor that is NULL in a row, and reads that row in a full one', async () => {
    await insert('unstamped', 1, ago(60));
    await insert('unstamped', 2, 'NULL');
    const refused = await failureOf(await shop.start('sync', { sync: SYNC, mappings: ['unstamped'] }));
    expect(refused).toMatchObject({ type: 'config_invalid', message: expect.stringContaining('cursor at') as string });
    expect(await ids('unstamped')).toEqual([]);
    expect(await run('unstamped', 'full')).toMatchObject({ outcome: 'complete', total: { read: 2, accepted: 2 } });
  });

  it('finds rows after a clock was set back: within the overlap at once, beyond it with a full run', async () => {
    await insert('clocks', 1, ago(60));
    await insert('clocks', 2, ago(1));
    await untilDelivered('clocks', [1, 2]);
    await insert('clocks', 3, ago(8));
    await insert('clocks', 4, ago(30));
    await run('clocks', 'incremental');
    expect(await ids('clocks')).toEqual([1, 2, 3]);
    await run('clocks', 'full');
    expect(await ids('clocks')).toEqual([1, 2, 3, 4]);
  });

  it('delivers the current rows even if they are updated, inserted and deleted while it reads', async () => {
    await source.run(`INSERT INTO busy (id, name, at) SELECT i * 2, 'before', ${ago(60)} FROM ${numbers(3000)}`);
    let changed: Promise<unknown> | undefined;
    shop.proxy.fail(({ upload }) => {
      if (upload)
        changed ??= (async () => {
          // Of rows that are read already, and of rows that are not read yet.
          await source.run(`UPDATE busy SET name = 'after', at = ${now} WHERE id IN (2, 4, 5998, 6000)`);
          await source.run(`DELETE FROM busy WHERE id IN (6, 5996)`);
          await insert('busy', 1, now, 'after');
          await insert('busy', 5999, now, 'after');
        })();
      return undefined;
    });
    const report = await run('busy', 'incremental');
    await changed;
    expect(report.outcome).toBe('complete');
    await eventually('the changes arrive', async () => {
      await run('busy', 'incremental');
      const names = await Promise.all(
        [1, 2, 4, 5998, 5999, 6000].map(async (id) => (await shop.stored('busy', String(id)))?.['name']),
      );
      return names.every((name) => name === 'after');
    });
    expect(await run('busy', 'full')).toMatchObject({ outcome: 'complete', total: { read: 3000, unchanged: 3000 } });
  });

  it('finds rows that were inserted before the place that a full run had reached', async () => {
    await source.run(`INSERT INTO behind (id, name, at) SELECT i * 10, 'n', ${ago(60)} FROM ${numbers(3000)}`);
    await run('behind', 'incremental');
    await source.run(`UPDATE behind SET name = 'changed'`);
    let inserted: Promise<unknown> | undefined;
    shop.proxy.fail(({ upload }) => {
      if (upload) inserted ??= insert('behind', 5);
      return undefined;
    });
    await run('behind', 'full');
    await inserted;
    expect(await ids('behind')).not.toContain(5);
    await eventually('the row is delivered', async () => {
      await run('behind', 'incremental');
      return (await ids('behind')).includes(5);
    });
  });

  it('marks a record when its row is marked as deleted', async () => {
    await insert('marked', 1);
    await insert('marked', 2);
    await untilDelivered('marked', [1, 2]);
    await source.run(`UPDATE marked SET status = 'X', at = ${now} WHERE id = 2`);
    await eventually('the record is marked', async () => {
      await run('marked', 'incremental');
      return (await statusOf('marked', 2)) === 'gone';
    });
    expect(await statusOf('marked', 1)).toBeUndefined();
  });

  it('marks the record of a vanished row in a mirror run, and in no other', async () => {
    await source.run(`INSERT INTO gone (id, name) SELECT i, 'n' FROM ${numbers(10)}`);
    await run('gone', 'full');
    await source.run('DELETE FROM gone WHERE id = 4');
    await run('gone', 'full');
    expect(await statusOf('gone', 4)).toBeUndefined();
    expect(await run('gone', 'mirror')).toMatchObject({
      outcome: 'complete',
      removals: [{ state: 'done', records: 1 }],
    });
    expect(await statusOf('gone', 4)).toBe('gone');
  });

  it('does nothing to the records of an emptied table', async () => {
    await source.run(`INSERT INTO emptied (id, name) SELECT i, 'n' FROM ${numbers(10)}`);
    await run('emptied', 'full');
    await source.run('TRUNCATE TABLE emptied');
    shop.proxy.forget();
    expect(await run('emptied', 'mirror')).toMatchObject({ outcome: 'incomplete', removals: [{ state: 'empty' }] });
    expect(shop.proxy.uploads()).toBe(0);
  });

  it('waits for approval when 30 % of the rows are gone', async () => {
    await source.run(`INSERT INTO mostly (id, name) SELECT i, 'n' FROM ${numbers(10)}`);
    await run('mostly', 'full');
    await source.run('DELETE FROM mostly WHERE id <= 3');
    shop.proxy.forget();
    const awaiting = await run('mostly', 'mirror');
    expect(awaiting).toMatchObject({
      outcome: 'incomplete',
      removals: [{ state: 'awaiting_approval', records: 3, accepted: 10 }],
    });
    expect(shop.proxy.uploads()).toBe(0);
    const approved = await run('mostly', 'mirror', { approve: [awaiting.removals[0]!.plan] });
    expect(approved).toMatchObject({ outcome: 'complete', removals: [{ state: 'done', records: 3 }] });
    expect(await Promise.all([1, 2, 3, 4].map((id) => statusOf('mostly', id)))).toEqual([
      'gone',
      'gone',
      'gone',
      undefined,
    ]);
  });
});
