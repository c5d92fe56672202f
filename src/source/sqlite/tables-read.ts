/** Which tables a query reads, as SQLite compiles it: each is opened by the page at which it, or an index of it, begins. */
import type { FeedTable } from '../../domain/source/feed-table.js';
import type { Session } from '../dialect.js';

/** What opens a table or an index; `p2` is its first page, `p3` the database, of which 0 is the file itself. */
const OPENING = 'OpenRead';

/** The tables that the program of `sql` opens. Throws what the driver does. */
export async function tablesReadBySqlite(session: Pick<Session, 'run'>, sql: string): Promise<readonly FeedTable[]> {
  const { rows: program } = await session.run({ sql: `EXPLAIN ${sql}`, bindings: [] });
  const pages = program
    .filter(([, opcode, , , p3]) => opcode === OPENING && p3 === '0')
    .map(([, , , p2]) => Number(p2));
  const { rows } = await session.run({
    sql: `SELECT DISTINCT tbl_name FROM sqlite_schema WHERE rootpage IN (SELECT value FROM json_each(?)) ORDER BY 1`,
    bindings: [JSON.stringify(pages)],
  });
  return rows.map(([name]) => ({ schema: null, name: name! }));
}
