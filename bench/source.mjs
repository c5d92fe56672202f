/** The databases of the source, one for each size, loaded once and kept between runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withClient } from '../scripts/with-client.mjs';
import { BENCH } from './services.mjs';

/**
 * Rows of each table, by the name of the size. `tiny` measures only start-up; it exists to try the benchmark itself.
 */
export const SIZES = {
  tiny: { customers: 2_500, transactions: 7_500 },
  small: { customers: 100_000, transactions: 300_000 },
  full: { customers: 1_000_000, transactions: 3_000_000 },
};

/** Returns the connection string of the database for this size, after creating, filling and warming it. */
export async function loadSource(source, size, log) {
  const name = `bench_${size}`;
  const admin = source.url('postgres');
  const found = await withClient(admin, (c) => c.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]));
  if (found.rowCount === 0) {
    log(`loading ${name}, once`);
    // Filled under another name and renamed, so that an interrupted load is never mistaken for a complete one.
    const partial = `${name}_partial`;
    await recreateDatabase(source, partial);
    await withClient(source.url(partial), async (client) => {
      const { customers, transactions } = SIZES[size];
      await client.query(`SET bench.customers = '${customers}'; SET bench.transactions = '${transactions}'`);
      await client.query(readFileSync(join(BENCH, 'sql', 'source.sql'), 'utf8'));
      // Writes hint bits and the visibility map now; otherwise the first reader would pay for them.
      await client.query('VACUUM ANALYZE');
    });
    await withClient(admin, (c) => c.query(`ALTER DATABASE ${partial} RENAME TO ${name}`));
  }
  await withClient(source.url(name), async (client) => {
    // Warms the server's cache before the first contender. Index scans are forced, since sequential scans of large
    // tables leave little in the cache.
    await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
    await client.query('SELECT sum(length(c::text)) FROM customers c WHERE id > 0');
    await client.query('SELECT sum(length(t::text)) FROM transactions t WHERE id > 0');
    await client.query('CHECKPOINT');
  });
  return source.url(name);
}

/** Copies the database of this size to one whose rows may be changed, and returns its connection string. */
export async function copySource(source, size, name, log) {
  await loadSource(source, size, log);
  await withClient(source.url('postgres'), async (client) => {
    // A database with a slot cannot be dropped.
    await client.query('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active');
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name} TEMPLATE bench_${size} STRATEGY file_copy`);
  });
  return source.url(name);
}

/** Drops the database, with its connections, and creates it empty. */
export async function recreateDatabase(server, name) {
  await withClient(server.url('postgres'), (c) => c.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  await server.createDatabase(name);
}
