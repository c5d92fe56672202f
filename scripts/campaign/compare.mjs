/**
 * Compares the platform with the source, record by record. What each record must be is said here in SQL, and what it is comes
 * from the tables in which the sandbox keeps its records: no code of partner-sync takes part.
 */
import pg from 'pg';
import { TENANTS } from './shop.mjs';

/** What the platform must have of each row: the record as jsonb, whose text is the same on all servers. A total has two decimals. */
const EXPECTED = {
  customer: `SELECT shop, id::text AS id, jsonb_strip_nulls(jsonb_build_object('customerId', id::text, 'name', name, 'email', email,
      'status', CASE status WHEN 'A' THEN 'active' WHEN 'P' THEN 'paused' END))::text AS record FROM shop.customers`,
  order: `SELECT shop, no AS id, jsonb_strip_nulls(jsonb_build_object('orderId', no, 'customerId', customer_id::text,
      'total', rtrim(rtrim(total::text, '0'), '.')::numeric, 'note', note))::text AS record FROM shop.orders`,
};

/** What the record of a row that is gone must be, if the platform has it. */
const MARKED = {
  customer: (id) => ({ customerId: id, status: 'deleted' }),
  order: (id) => ({ orderId: id, note: 'deleted' }),
};

/** So many differences are described; the others are only counted. */
const DESCRIBED = 20;
const PAGE = 20_000;

/**
 * @param urls of the source's and of the sandbox's database
 * @returns {Promise<{records: number, marked: number, lost: number, stale: number, foreign: number, unmarked: number,
 *   examples: string[]}>} `lost`: the platform has no record of a row; `stale`: another one than the row's; `unmarked`: the row is
 *   gone, and the record does not say so; `foreign`: its tenant has never had such a row
 */
export async function comparePlatform({ source, store }) {
  const clients = [new pg.Client({ connectionString: source }), new pg.Client({ connectionString: store })];
  const found = { records: 0, marked: 0, lost: 0, stale: 0, foreign: 0, unmarked: 0, examples: [] };
  const wrong = (kind, schema, tenant, id, more) => {
    found[kind]++;
    if (found.examples.length < DESCRIBED) found.examples.push(`${kind}: ${schema} ${id} of ${tenant}${more}`);
  };
  try {
    for (const client of clients) {
      await client.connect();
      await client.query('BEGIN');
    }
    const [ofSource, ofStore] = clients;
    for (const schema of Object.keys(EXPECTED))
      for (const [shop, tenant] of Object.entries(TENANTS)) {
        const gone = await goneOf(ofSource, schema, shop);
        const expected = inOrder(ofSource, `SELECT id, record FROM (${EXPECTED[schema]}) e WHERE shop = '${shop}'`);
        const stored = inOrder(
          ofStore,
          `SELECT external_id AS id, data::text AS record FROM sandbox.resources r
             JOIN sandbox.schema_definitions s ON s.id = r.schema_id WHERE s.name = '${schema}' AND r.tenant_id = '${tenant}'`,
        );
        for await (const [row, record] of pairsOf(expected, stored)) {
          if (row !== undefined) {
            found.records++;
            if (record === undefined) wrong('lost', schema, tenant, row.id, `: ${row.record}`);
            else if (record.record !== row.record)
              wrong('stale', schema, tenant, row.id, `: is ${record.record}, must be ${row.record}`);
          } else if (!gone.has(record.id)) wrong('foreign', schema, tenant, record.id, `: ${record.record}`);
          else if (isEqual(JSON.parse(record.record), MARKED[schema](record.id))) found.marked++;
          else wrong('unmarked', schema, tenant, record.id, `: ${record.record}`);
        }
      }
  } finally {
    for (const client of clients) await client.end().catch(() => {});
  }
  return found;
}

/** Whether anything is wrong, or nothing was looked at. */
export const isProved = ({ records, lost, stale, foreign, unmarked }) =>
  records > 0 && lost + stale + foreign + unmarked === 0;

const goneOf = async (source, schema, shop) => {
  const { rows } = await source.query('SELECT id FROM shop.gone WHERE schema = $1 AND shop = $2', [schema, shop]);
  return new Set(rows.map(({ id }) => id));
};

/** All rows of a query by their ids. */
async function* inOrder(client, query) {
  await client.query(`DECLARE in_order NO SCROLL CURSOR FOR SELECT * FROM (${query}) q ORDER BY id COLLATE "C"`);
  while (true) {
    const { rows } = await client.query(`FETCH ${PAGE} FROM in_order`);
    yield* rows;
    if (rows.length < PAGE) break;
  }
  await client.query('CLOSE in_order');
}

/** Merges two lists in the order of their ids; what only one of them has comes with undefined. */
async function* pairsOf(left, right) {
  let [a, b] = [await left.next(), await right.next()];
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : Buffer.compare(Buffer.from(a.value.id), Buffer.from(b.value.id));
    yield [order <= 0 ? a.value : undefined, order >= 0 ? b.value : undefined];
    if (order <= 0) a = await left.next();
    if (order >= 0) b = await right.next();
  }
}

const isEqual = (a, b) =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(b).every((field) => a[field] === b[field]);
