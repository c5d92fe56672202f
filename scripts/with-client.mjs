import pg from 'pg';

/** Runs `work` with a connection of its own to PostgreSQL, which is closed afterwards. */
export async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
