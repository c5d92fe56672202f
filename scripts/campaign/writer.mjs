/**
 * Keeps changing the source while it is read: inserted, updated, deleted and moved rows, rows that come back, orders before their
 * customers, and transactions that are committed late.
 */
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { sizesFor } from './shop.mjs';

/** Transactions that are open at once: some are short, and the others stay open for some seconds before they are committed. */
const SHORT = 4;
const LATE = 4;
/** A short transaction asks for a tenth of the rows that are to change in a second; it finds half of them. */
const SHARE_OF_SECOND = 10;
/** Most rows of a late transaction: others wait for it where they meet one of them. */
const LATE_ROWS = 5;

/** What a transaction does to some rows, and how often of a hundred. `$1`: the shop, `$2`: ids, `$3`: a text. */
const CHANGES = [
  {
    share: 30,
    statements: [
      `UPDATE shop.customers SET name = shop || ' ' || id || ' ' || $3, email = CASE WHEN random() < 0.5 THEN id || '@example.net' END,
         status = CASE WHEN random() < 0.5 THEN 'A' ELSE 'P' END, seen = clock_timestamp() WHERE shop = $1 AND id = ANY($2)`,
    ],
  },
  {
    share: 40,
    statements: [
      `UPDATE shop.orders SET total = total + 0.5, note = NULLIF($3, note), seen = clock_timestamp()
         WHERE shop = $1 AND no = ANY(SELECT 'o' || i FROM unnest($2::bigint[]) i)`,
    ],
  },
  {
    share: 8, // rows that come back, where they are gone
    statements: [
      `INSERT INTO shop.customers SELECT $1, i, $1 || ' ' || i || ' ' || $3, NULL, 'A' FROM unnest($2::bigint[]) i ON CONFLICT DO NOTHING`,
      `INSERT INTO shop.orders SELECT $1, 'o' || i, i, i, $3 FROM unnest($2::bigint[]) i
         WHERE EXISTS (SELECT FROM shop.customers WHERE shop = $1 AND id = i) ON CONFLICT DO NOTHING`,
    ],
  },
  {
    share: 8,
    statements: [
      `DELETE FROM shop.orders WHERE shop = $1 AND no = ANY(SELECT 'o' || i FROM unnest($2::bigint[]) i) AND $3 <> ''`,
    ],
  },
  {
    share: 4,
    statements: [
      `DELETE FROM shop.orders WHERE shop = $1 AND customer_id = ANY($2) AND $3 <> ''`,
      `DELETE FROM shop.customers c WHERE shop = $1 AND id = ANY($2) AND $3 <> ''
         AND NOT EXISTS (SELECT FROM shop.orders o WHERE o.shop = c.shop AND o.customer_id = c.id)`,
    ],
  },
  {
    share: 5, // to the other tenant, where it has no such order
    statements: [
      `UPDATE shop.orders o SET shop = CASE shop WHEN 'n' THEN 's' ELSE 'n' END, note = $3, seen = clock_timestamp()
         WHERE shop = $1 AND no = ANY(SELECT 'o' || i FROM unnest($2::bigint[]) i)
           AND NOT EXISTS (SELECT FROM shop.orders x WHERE x.shop <> o.shop AND x.no = o.no)
           AND EXISTS (SELECT FROM shop.customers c WHERE c.shop <> o.shop AND c.id = o.customer_id)`,
    ],
  },
  { share: 5, orphans: true },
];

/** Orders of new customers, who come with a transaction of their own later. */
const ORPHANS = `INSERT INTO shop.orders SELECT $1, 'o' || i, i, i, $3 FROM unnest($2::bigint[]) i ON CONFLICT DO NOTHING`;

/** The customers that orders lack, which is also how it ends: every order has a customer then. */
const MISSING_CUSTOMERS = `INSERT INTO shop.customers SELECT DISTINCT shop, customer_id, shop || ' ' || customer_id || ' late', NULL::text, 'P'
  FROM shop.orders o WHERE NOT EXISTS (SELECT FROM shop.customers c WHERE c.shop = o.shop AND c.id = o.customer_id) ON CONFLICT DO NOTHING`;

/**
 * @param settings `url`: of the source; `rows`: how many it has; `rate`: changed rows a second; `random`: decides about everything
 */
export function startWriter({ url, rows, rate, random }) {
  const { orders } = sizesFor(rows);
  const rowsAtOnce = Math.ceil(rate / SHARE_OF_SECOND);
  const counted = { transactions: 0, rows: 0, late: 0, failed: 0 };
  let isOver = false;
  let text = 0;
  /** Ids after those of the first rows are those of orders that come before their customers. */
  const newIds = Math.ceil(orders / 2);
  const began = performance.now();
  const loops = Array.from({ length: SHORT + LATE }, (_, no) => work(no >= SHORT));

  async function work(isLate) {
    let client;
    while (!isOver) {
      if (counted.rows > ((performance.now() - began) / 1000) * rate) {
        await sleep(20);
        continue;
      }
      try {
        client ??= await connected();
        await (isLate ? changeLate(client) : change(client, rowsAtOnce, 0));
      } catch {
        // Deadlocks with another transaction, and a source that was killed.
        counted.failed++;
        await client?.end().catch(() => {});
        client = undefined;
        await sleep(200);
      }
    }
    await client?.end().catch(() => {});
  }

  async function connected() {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function changeLate(client) {
    counted.late++;
    await change(client, Math.min(rowsAtOnce, LATE_ROWS), 500 + random(5000));
  }

  /** @param milliseconds how long after the changes, or between an order and its customer */
  async function change(client, mostRows, milliseconds) {
    const { statements = [ORPHANS], orphans } = drawn();
    const shop = random(2) === 0 ? 'n' : 's';
    const note = `change ${text++} ${'é'.repeat(random(3))}`;
    const ids = Array.from({ length: mostRows }, () =>
      orphans ? orders + 1 + random(newIds) : 1 + random(orders + newIds),
    );
    await inTransaction(client, statements, [shop, ids, note], orphans ? 0 : milliseconds);
    if (!orphans) return;
    await sleep(milliseconds);
    await inTransaction(client, [MISSING_CUSTOMERS], [], 0);
  }

  async function inTransaction(client, statements, values, lateMs) {
    await client.query('BEGIN');
    let changed = 0;
    for (const statement of statements) changed += (await client.query(statement, values)).rowCount;
    if (lateMs > 0) await sleep(lateMs);
    await client.query('COMMIT');
    counted.transactions++;
    counted.rows += changed;
  }

  function drawn() {
    let left = random(100);
    return CHANGES.find(({ share }) => (left -= share) < 0);
  }

  return {
    counted,
    /** Resolves when nothing is changing any more. */
    async end() {
      isOver = true;
      await Promise.all(loops);
      const client = await connected();
      await client.query(MISSING_CUSTOMERS);
      await client.end();
    },
  };
}
