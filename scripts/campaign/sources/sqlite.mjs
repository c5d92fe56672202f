/** The partner's database of a campaign: a file of SQLite. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';

/** A connection that waits for another one blocks this whole process. */
const LONGEST_WAIT_MS = 200;

/** @type {import('../sources.mjs').PartnerDatabase} */
export const sqlite = {
  changes: { table: '{ table: campaign_changes }' },
  table: (name) => name,
  numbers: (count) =>
    `(WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${count}) SELECT i FROM r) n`,
  insert: 'INSERT OR IGNORE INTO',
  orIgnore: '',
  // One connection writes at a time: a late one keeps all others from writing.
  writers: { short: 1, late: 1, lateMs: 300 },
  begin: 'BEGIN IMMEDIATE',
  title: 'SQLite',
  version: 'SELECT sqlite_version() AS version',
  analyze: 'ANALYZE',
  isMistake: ({ code }) => code === 'SQLITE_ERROR',
  tables: `
  CREATE TABLE customers (shop text, id bigint, name text NOT NULL, email text, status text NOT NULL, PRIMARY KEY (shop, id));
  CREATE TABLE orders (shop text, no text, customer_id bigint, total numeric(12,2), note text, PRIMARY KEY (shop, no));
  CREATE INDEX of_customer ON orders (shop, customer_id);
  CREATE TABLE gone (schema text, shop text, id text, PRIMARY KEY (schema, shop, id));
  CREATE TRIGGER gone_customer AFTER DELETE ON customers BEGIN INSERT OR IGNORE INTO gone VALUES ('customer', OLD.shop, OLD.id); END;
  CREATE TRIGGER gone_order AFTER DELETE ON orders BEGIN INSERT OR IGNORE INTO gone VALUES ('order', OLD.shop, OLD.no); END;
  CREATE TRIGGER moved_order AFTER UPDATE OF shop ON orders WHEN OLD.shop <> NEW.shop BEGIN
    INSERT OR IGNORE INTO gone VALUES ('order', OLD.shop, OLD.no); END`,

  async start({ folder }) {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'shop.db');
    // Readers and the writer do not wait for each other then.
    const database = new BetterSqlite(file);
    database.pragma('journal_mode = WAL');
    database.close();
    return { url: `sqlite:${file}`, create: async () => {}, stop: async () => {} };
  },

  async connect(url) {
    const database = new BetterSqlite(url.slice('sqlite:'.length), { timeout: LONGEST_WAIT_MS });
    return {
      async run(sql) {
        database.exec(sql);
        return database.prepare('SELECT changes()').pluck().get();
      },
      rows: async (sql) => database.prepare(sql).all(),
      end: async () => void database.close(),
    };
  },
};
