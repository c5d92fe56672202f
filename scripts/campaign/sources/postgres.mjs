/** The partner's database of a campaign: PostgreSQL. */
import pg from 'pg';

/** What stands for the outside need not survive a power cut. */
const SETTINGS = { fsync: 'off', shared_buffers: '256MB', max_wal_size: '2GB' };
const FOR_SLOTS = { wal_level: 'logical', max_replication_slots: '4', max_wal_senders: '1' };

/** @type {import('../sources.mjs').PartnerDatabase} */
export const postgres = {
  changes: { slot: '{ slot: campaign, publication: campaign }', table: '{ table: campaign_changes }' },
  table: (name) => `shop.${name}`,
  numbers: (count) => `generate_series(1, ${count}) n(i)`,
  insert: 'INSERT INTO',
  orIgnore: 'ON CONFLICT DO NOTHING',
  // So that fast readings and late commits meet.
  writers: { short: 4, late: 4, lateMs: 5500 },
  begin: 'BEGIN',
  title: 'PostgreSQL',
  version: `SELECT current_setting('server_version') AS version`,
  analyze: 'ANALYZE',
  isMistake: ({ code }) => /^42/.test(code),
  /** The key columns come first. `gone` has each key that a row has ever lost: its record may be on the platform, marked as deleted. */
  tables: `
  CREATE SCHEMA shop;
  CREATE TABLE shop.customers (
    shop text, id bigint, name text NOT NULL, email text, status text NOT NULL, seen timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (shop, id));
  CREATE TABLE shop.orders (
    shop text, no text COLLATE "C", customer_id bigint, total numeric(12,2), note text, seen timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (shop, no));
  CREATE INDEX ON shop.customers (seen);
  CREATE INDEX ON shop.orders (seen);
  CREATE INDEX ON shop.orders (shop, customer_id);
  CREATE TABLE shop.gone (schema text, shop text, id text, PRIMARY KEY (schema, shop, id));
  CREATE FUNCTION shop.note_gone() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_TABLE_NAME = 'customers' THEN INSERT INTO shop.gone VALUES ('customer', OLD.shop, OLD.id::text) ON CONFLICT DO NOTHING;
    ELSE INSERT INTO shop.gone VALUES ('order', OLD.shop, OLD.no) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER gone AFTER DELETE ON shop.customers FOR EACH ROW EXECUTE FUNCTION shop.note_gone();
  CREATE TRIGGER gone AFTER DELETE ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.note_gone();
  CREATE TRIGGER moved AFTER UPDATE OF shop ON shop.orders FOR EACH ROW WHEN (OLD.shop <> NEW.shop) EXECUTE FUNCTION shop.note_gone();`,

  async start({ folder, feed, program, startPostgres }) {
    const settings = feed === 'slot' ? { ...SETTINGS, ...FOR_SLOTS } : SETTINGS;
    const server = await startPostgres({ folder, settings, program, log: () => {} });
    return {
      url: server.url('shop'),
      port: server.port,
      pid: server.pid,
      create: () => server.createDatabase('shop'),
      stop: () => server.stop(),
    };
  },

  async connect(url) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    return {
      run: async (sql, values) => (await client.query(sql, values)).rowCount,
      rows: async (sql) => (await client.query(sql)).rows,
      end: () => client.end(),
    };
  },
};
