/** Creates the database account with which the sync reads the demo's shop; it cannot write. */
import { Client, escapeIdentifier, escapeLiteral } from 'pg';

/** Where to create the account, and with what password. */
export interface ShopReaderInput {
  /** The superuser's connection string of the shop's database. */
  readonly url: string;
  readonly password: string;
  /** Default `shop_reader`. Roles belong to the whole server, so tests that share one use their own names. */
  readonly role?: string;
}

/** Creates the role, or changes its password, and returns its connection string. */
export async function createShopReader({ url, password, role = 'shop_reader' }: ShopReaderInput): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const name = escapeIdentifier(role);
    const found = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
    if (found.rowCount === 0) await client.query(`CREATE ROLE ${name} LOGIN`);
    await client.query(`
      ALTER ROLE ${name} PASSWORD ${escapeLiteral(password)};
      ALTER ROLE ${name} SET default_transaction_read_only = on;
      GRANT USAGE ON SCHEMA shop TO ${name};
      GRANT SELECT ON ALL TABLES IN SCHEMA shop TO ${name};
      -- Lets the sync see how old the oldest open transaction is, which is the exact upper bound of a reading.
      GRANT pg_read_all_stats TO ${name};
      DO $$ BEGIN EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), ${escapeLiteral(role)}); END $$;
    `);
  } finally {
    await client.end();
  }
  const reader = new URL(url);
  reader.username = role;
  reader.password = password;
  return reader.href;
}
