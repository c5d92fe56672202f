/** The source's databases, one per size: loaded once, kept between runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { BENCH } from './services.mjs';

/** `tiny` measures nothing but start-up; it is there to try the benchmark itself. */
export const SIZES = {
  tiny: { customers: 2_500, transactions: 7_500 },
  small: { customers: 100_000, transactions: 300_000 },
  full: { customers: 1_000_000, transactions: 3_000_000 },
};

/** Runs `work` with a connection of its own. */
export async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The connection string of the size's database; creates and fills it where it is missing. */
export async function loadSource(source, size, log) {
  const name = `bench_${size}`;
  const admin = source.url('postgres');
  const found = await withClient(admin, (c) => c.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]));
  if (found.rowCount === 0) {
    log(`loading ${name}, once`);
    // Filled under another name, so that an interrupted load is never taken for a whole one.
    const partial = `${name}_partial`;
    await recreateDatabase(source, partial);
    await withClient(source.url(partial), async (client) => {
      const { customers, transactions } = SIZES[size];
      await client.query(`SET bench.customers = '${customers}'; SET bench.transactions = '${transactions}'`);
      await client.query(readFileSync(join(BENCH, 'sql', 'source.sql'), 'utf8'));
      // Hint bits and visibility are written now, or the first reader would pay for them.
      await client.query('VACUUM ANALYZE');
    });
    await withClient(admin, (c) => c.query(`ALTER DATABASE ${partial} RENAME TO ${name}`));
  }
  await withClient(source.url(name), async (client) => {
    // The first contender shall not be the one who fills the server's memory; scans of whole tables leave little in it.
    await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
    await client.query('SELECT sum(length(c::text)) FROM customers c WHERE id > 0');
    await client.query('SELECT sum(length(t::text)) FROM transactions t WHERE id > 0');
    await client.query('CHECKPOINT');
  });
  return source.url(name);
}

export async function recreateDatabase(server, name) {
  await withClient(server.url('postgres'), (c) => c.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  await server.createDatabase(name);
}
