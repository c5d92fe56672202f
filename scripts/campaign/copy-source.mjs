/** Copies the shop's tables of a source of another kind into PostgreSQL, where they are compared. */
import { postgres } from './sources/postgres.mjs';
import { withSession } from './sources.mjs';

const COLUMNS = {
  customers: { shop: 'text', id: 'bigint', name: 'text', email: 'text', status: 'text' },
  orders: { shop: 'text', no: 'text', customer_id: 'bigint', total: 'numeric', note: 'text' },
  gone: { schema: 'text', shop: 'text', id: 'text' },
};

/**
 * @param {import('./sources.mjs').PartnerDatabase} database
 * @param urls of the source and of the database for its copy
 * @returns {Promise<string>} the URL of what is to be compared: the source itself if it is PostgreSQL
 */
export async function comparable(database, { source, compared }) {
  if (database === postgres) return source;
  const rowsOf = await withSession(database, source, async (session) => {
    const read = {};
    for (const table of Object.keys(COLUMNS))
      read[table] = await session.rows(`SELECT * FROM ${database.table(table)}`);
    return read;
  });
  await withSession(postgres, compared, async (session) => {
    await session.run('DROP SCHEMA IF EXISTS shop CASCADE');
    await session.run(postgres.tables);
    for (const [table, columns] of Object.entries(COLUMNS)) {
      const names = Object.keys(columns);
      const values = names.map((name) => rowsOf[table].map((row) => (row[name] === null ? null : String(row[name]))));
      const lists = Object.values(columns).map((type, i) => `$${i + 1}::${type}[]`);
      await session.run(
        `INSERT INTO ${postgres.table(table)} (${names.join(', ')}) SELECT * FROM unnest(${lists.join(', ')})`,
        values,
      );
    }
  });
  return compared;
}
