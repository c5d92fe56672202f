/** A source whose server dies during a run and comes back: the run continues from the same page. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../../src/embedded/postgres-server.js';
import { isHere } from '../here.js';
import { startMariaDb } from '../source/mariadb-server.js';
import { startMysql } from '../source/mysql-server.js';
import { idsIn } from './platform-proxy.js';
import { openEnds, openShop, NO_OPEN_ENDS, text } from './shop.js';

const ROWS = 20_000;

interface Server {
  readonly url: string;
  run(sql: string): Promise<void>;
  /** As after a power cut. */
  restart(): Promise<void>;
}

async function postgres(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-restart-'));
  chmodSync(folder, 0o755);
  const start = () => startPostgres({ folder: join(folder, 'pg'), log: () => undefined });
  let server = await start();
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    url: server.url('postgres'),
    async run(sql) {
      const client = new pg.Client({ connectionString: server.url('postgres') });
      await client.connect();
      await client.query(sql);
      await client.end();
    },
    async restart() {
      process.kill(server.pid, 'SIGQUIT');
      server = await start();
    },
  };
}

const onServer = (begin: typeof startMariaDb) => async (): Promise<Server> => {
  const server = await begin();
  onTestFinished(() => server.stop());
  const connect = (database: string) => mysql.createConnection(server.url(database).replace('mariadb:', 'mysql:'));
  const admin = await connect('mysql');
  await admin.query('CREATE DATABASE shop');
  await admin.end();
  return {
    url: server.url('shop'),
    async run(sql) {
      const client = await connect('shop');
      await client.query(sql);
      await client.end();
    },
    restart: () => server.restart(),
  };
};

const numbers = {
  postgres: `SELECT i, 'n' FROM generate_series(1, ${ROWS}) i`,
  mariadb: `SELECT seq, 'n' FROM seq_1_to_${ROWS}`,
  mysql: `WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${ROWS}) SELECT i, 'n' FROM r`,
};

it.each([
  ['PostgreSQL', postgres, numbers.postgres] as const,
  ...(isHere('MariaDB') ? [['MariaDB', onServer(startMariaDb), numbers.mariadb] as const] : []),
  ...(isHere('MySQL') ? [['MySQL', onServer(startMysql), numbers.mysql] as const] : []),
])('%s: every row is read and counted once, and sent once', async (_, start, rows) => {
  const source = await start();
  await source.run('CREATE TABLE things (id int PRIMARY KEY, name varchar(10))');
  await source.run(`INSERT INTO things ${rows}`);
  const shop = await openShop({
    sourceUrl: source.url,
    other: {
      load: () => Promise.resolve(),
      files: {
        'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }\ntenant: north\nupload: { batchSize: 500 }\n`,
        'things.mapping.yaml': `schema: thing\nsource: { table: things }\nkey: [id]\nfields: { id: { column: id, transforms: [string] }, name: name }\n`,
        'thing.schema.json': JSON.stringify({
          name: 'thing',
          category: 'custom_schema',
          externalIdField: 'id',
          schema: { type: 'object', properties: { id: text, name: text }, required: ['id'] },
        }),
      },
    },
  });
  onTestFinished(() => shop.close());
  await shop.work();
  let restarted: Promise<void> | undefined;
  shop.proxy.fail(({ upload, no }) => {
    if (upload && no === 3) restarted ??= source.restart();
    return undefined;
  });

  const report = await shop.run();
  await restarted;

  expect(restarted).toBeDefined();
  expect(report).toMatchObject({ outcome: 'complete', total: { read: ROWS, accepted: ROWS } });
  const sent = shop.proxy.requests.filter((r) => r.upload).flatMap((r) => idsIn(r, 'id'));
  expect(sent).toHaveLength(ROWS);
  expect(new Set(sent).size).toBe(ROWS);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});
