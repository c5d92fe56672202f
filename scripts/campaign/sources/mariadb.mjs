/** The partner's database of a campaign: MariaDB. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, openSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { endWithOwner } from '../../stack/end-with-owner.mjs';

/** Debian keeps the server where only root looks. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` };
const LONGEST_START_MS = 60_000;

/** @type {import('../sources.mjs').PartnerDatabase} */
export const mariadb = {
  changes: { table: '{ table: campaign_changes }' },
  table: (name) => `shop.${name}`,
  numbers: (count) => `(SELECT seq AS i FROM seq_1_to_${count}) n`,
  insert: 'INSERT IGNORE INTO',
  orIgnore: '',
  writers: { short: 4, late: 4, lateMs: 5500 },
  begin: 'BEGIN',
  title: 'MariaDB',
  version: 'SELECT VERSION() AS version',
  analyze: 'ANALYZE TABLE shop.customers, shop.orders',
  isMistake: ({ sqlState }) => /^42/.test(sqlState),
  tables: `
  CREATE TABLE shop.customers (
    shop varchar(4), id bigint, name varchar(200) NOT NULL, email varchar(200), status varchar(4) NOT NULL, PRIMARY KEY (shop, id));
  CREATE TABLE shop.orders (
    shop varchar(4), no varchar(40), customer_id bigint, total numeric(12,2), note varchar(200), PRIMARY KEY (shop, no));
  CREATE INDEX of_customer ON shop.orders (shop, customer_id);
  CREATE TABLE shop.gone (\`schema\` varchar(20), shop varchar(4), id varchar(40), PRIMARY KEY (\`schema\`, shop, id));
  CREATE TRIGGER shop.gone_customer AFTER DELETE ON shop.customers FOR EACH ROW
    INSERT IGNORE INTO shop.gone VALUES ('customer', OLD.shop, OLD.id);
  CREATE TRIGGER shop.gone_order AFTER DELETE ON shop.orders FOR EACH ROW INSERT IGNORE INTO shop.gone VALUES ('order', OLD.shop, OLD.no);
  CREATE TRIGGER shop.moved_order AFTER UPDATE ON shop.orders FOR EACH ROW
    INSERT IGNORE INTO shop.gone SELECT 'order', OLD.shop, OLD.no FROM DUAL WHERE OLD.shop <> NEW.shop`,

  async start({ folder, port, account }) {
    const [data, temporary] = [join(folder, 'data'), join(folder, 'tmp')];
    const own = [
      '--no-defaults',
      ...(account === undefined ? [] : [`--user=${account.name}`]),
      `--datadir=${data}`,
      `--tmpdir=${temporary}`,
    ];
    if (!existsSync(data)) {
      for (const each of [folder, temporary]) {
        mkdirSync(each, { recursive: true });
        chmodSync(each, 0o755);
        if (account !== undefined) chownSync(each, account.uid, account.gid);
      }
      const how = ['--auth-root-authentication-method=normal', '--skip-test-db'];
      const { error, status, stderr } = spawnSync('mariadb-install-db', [...own, ...how], { encoding: 'utf8', env });
      if (error !== undefined || status !== 0)
        throw new Error(`a campaign with MariaDB needs mariadbd and mariadb-install-db: ${error?.message ?? stderr}`);
    }
    const log = openSync(`${folder}.log`, 'a');
    const server = spawn(
      'mariadbd',
      [
        ...own,
        `--socket=${join(folder, 'socket')}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        '--innodb-flush-log-at-trx-commit=0',
        '--character-set-server=utf8mb4',
        '--collation-server=utf8mb4_bin',
      ],
      { stdio: ['ignore', log, log], env },
    );
    closeSync(log);
    endWithOwner(server);
    const ended = new Promise((resolve) => server.once('exit', resolve));
    const url = (name) => `mariadb://root@127.0.0.1:${port}/${name}`;
    const deadline = Date.now() + LONGEST_START_MS;
    while (true) {
      if (server.exitCode !== null || Date.now() > deadline) throw new Error(`MariaDB did not start: ${folder}.log`);
      const connection = await connected(url('mysql')).catch(() => undefined);
      await connection?.end();
      if (connection !== undefined) break;
      await sleep(100);
    }
    return {
      url: url('shop'),
      port,
      pid: server.pid,
      async create() {
        const connection = await connected(url('mysql'));
        await connection.query('CREATE DATABASE IF NOT EXISTS shop');
        await connection.end();
      },
      async stop() {
        server.kill('SIGTERM');
        await ended;
      },
    };
  },

  async connect(url) {
    const connection = await connected(url);
    connection.on('error', () => {});
    // Operators and quotes as in other databases; and no locks of rows that are only read.
    await connection.query(`SET SESSION sql_mode = 'ANSI,STRICT_TRANS_TABLES', tx_isolation = 'READ-COMMITTED'`);
    return {
      run: async (sql) => (await connection.query(sql))[0].affectedRows,
      rows: async (sql) => (await connection.query(sql))[0],
      end: () => connection.end(),
    };
  },
};

const connected = (url) =>
  mysql.createConnection({ uri: url.replace('mariadb:', 'mysql:'), charset: 'utf8mb4', multipleStatements: true });
