/**
 * Keeps changing the source while it is read: inserted, updated, deleted and moved rows, rows that come back, orders before their
 * customers, and transactions that are committed late.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sizesFor } from './shop.mjs';
import { withSession } from './sources.mjs';

/** A short transaction asks for a tenth of the rows that are to change in a second; it finds half of them. */
const SHARE_OF_SECOND = 10;
/** Most rows of a late transaction: others wait for it where they meet one of them. */
const LATE_ROWS = 5;

/**
 * What a transaction does to some rows, and how often of a hundred. The statements get the shop, the other one, ids and order
 * numbers as lists, the ids themselves, a text, and what marks a row as changed.
 */
const changesIn = ({ table, insert, orIgnore }) => [
  {
    share: 30,
    statements: ({ shop, idList, note, touch, random }) => [
      `UPDATE ${table('customers')} SET name = shop || ' ' || id || ' ${note}', status = '${random(2) === 0 ? 'A' : 'P'}',
         email = ${random(2) === 0 ? `id || '@example.net'` : 'NULL'}${touch} WHERE shop = '${shop}' AND id IN (${idList})`,
    ],
  },
  {
    share: 40,
    statements: ({ shop, numberList, note, touch }) => [
      `UPDATE ${table('orders')} SET total = total + 0.5, note = NULLIF('${note}', note)${touch}
         WHERE shop = '${shop}' AND no IN (${numberList})`,
    ],
  },
  {
    share: 8, // rows that come back, where they are gone
    statements: ({ shop, ids, idList, note }) => [
      `${insert} ${table('customers')} (shop, id, name, status)
         VALUES ${ids.map((id) => `('${shop}', ${id}, '${shop} ${id} ${note}', 'A')`).join(', ')} ${orIgnore}`,
      `${insert} ${table('orders')} (shop, no, customer_id, total, note) SELECT shop, 'o' || id, id, id, '${note}'
         FROM ${table('customers')} WHERE shop = '${shop}' AND id IN (${idList}) ${orIgnore}`,
    ],
  },
  {
    share: 8,
    statements: ({ shop, numberList }) => [
      `DELETE FROM ${table('orders')} WHERE shop = '${shop}' AND no IN (${numberList})`,
    ],
  },
  {
    share: 4,
    statements: ({ shop, idList }) => [
      `DELETE FROM ${table('orders')} WHERE shop = '${shop}' AND customer_id IN (${idList})`,
      `DELETE FROM ${table('customers')} WHERE shop = '${shop}' AND id IN (${idList})
         AND NOT EXISTS (SELECT 1 FROM ${table('orders')} o WHERE o.shop = '${shop}' AND o.customer_id = customers.id)`,
    ],
  },
  {
    share: 5, // to the other tenant, where it has no such order: its key changes
    statements: ({ shop, other, numberList, note, touch }) => [
      `UPDATE ${table('orders')} SET shop = '${other}', note = '${note}'${touch} WHERE shop = '${shop}' AND no IN (${numberList})
         AND no NOT IN (SELECT no FROM (SELECT no FROM ${table('orders')} WHERE shop = '${other}' AND no IN (${numberList})) taken)
         AND EXISTS (SELECT 1 FROM ${table('customers')} c WHERE c.shop = '${other}' AND c.id = orders.customer_id)`,
    ],
  },
  {
    // Orders of new customers, who come with a transaction of their own later.
    share: 5,
    orphans: true,
    statements: ({ shop, ids, note }) => [
      `${insert} ${table('orders')} (shop, no, customer_id, total, note)
         VALUES ${ids.map((id) => `('${shop}', 'o${id}', ${id}, ${id}, '${note}')`).join(', ')} ${orIgnore}`,
    ],
  },
];

/** Inserts the customers that orders lack, which is also how it ends: every order has a customer then. */
const missingCustomers = ({ table, insert, orIgnore }) =>
  `${insert} ${table('customers')} (shop, id, name, status)
     SELECT DISTINCT shop, customer_id, shop || ' ' || customer_id || ' late', 'P' FROM ${table('orders')} o
     WHERE NOT EXISTS (SELECT 1 FROM ${table('customers')} c WHERE c.shop = o.shop AND c.id = o.customer_id) ${orIgnore}`;

/**
 * @param settings `database`: one of SOURCES; `url`: of the source; `rows`: how many it has; `rate`: changed rows a second; `touch`:
 *   what marks a row as changed; `random`: decides about everything
 */
export function startWriter({ database, url, rows, rate, touch, random }) {
  const changes = changesIn(database);
  const { short, late, lateMs } = database.writers;
  const { orders } = sizesFor(rows);
  const rowsAtOnce = Math.ceil(rate / SHARE_OF_SECOND);
  const counted = { transactions: 0, rows: 0, late: 0, failed: 0 };
  let mistake;
  let isOver = false;
  let text = 0;
  /** Ids after those of the first rows are those of orders that come before their customers. */
  const newIds = Math.ceil(orders / 2);
  const began = performance.now();
  const loops = Array.from({ length: short + late }, (_, no) => work(no >= short));

  async function work(isLate) {
    let session;
    while (!isOver) {
      if (counted.rows > ((performance.now() - began) / 1000) * rate) {
        await sleep(20);
        continue;
      }
      try {
        session ??= await database.connect(url);
        await (isLate ? changeLate(session) : change(session, rowsAtOnce, 0));
      } catch (error) {
        // Deadlocks with another transaction, and a source that was killed.
        counted.failed++;
        if (database.isMistake(error)) mistake ??= error;
        await session?.end().catch(() => {});
        session = undefined;
        await sleep(200);
      }
    }
    await session?.end().catch(() => {});
  }

  async function changeLate(session) {
    counted.late++;
    await change(session, Math.min(rowsAtOnce, LATE_ROWS), Math.round(lateMs / 10) + random(Math.round(lateMs * 0.9)));
  }

  /** @param milliseconds how long after the changes, or between an order and its customer */
  async function change(session, mostRows, milliseconds) {
    const { statements, orphans = false } = drawn();
    const [shop, other] = random(2) === 0 ? ['n', 's'] : ['s', 'n'];
    const note = `change ${text++} ${'é'.repeat(random(3))}`;
    const drawnIds = Array.from({ length: mostRows }, () =>
      orphans ? orders + 1 + random(newIds) : 1 + random(orders + newIds),
    );
    const ids = [...new Set(drawnIds)];
    const numberList = ids.map((id) => `'o${id}'`).join(', ');
    const about = { shop, other, ids, idList: ids.join(', '), numberList, note, touch, random };
    await inTransaction(session, statements(about), orphans ? 0 : milliseconds);
    if (!orphans) return;
    await sleep(milliseconds);
    await inTransaction(session, [missingCustomers(database)], 0);
  }

  async function inTransaction(session, statements, openMs) {
    await session.run(database.begin);
    let changed = 0;
    for (const statement of statements) changed += await session.run(statement);
    if (openMs > 0) await sleep(openMs);
    await session.run('COMMIT');
    counted.transactions++;
    counted.rows += changed;
  }

  function drawn() {
    let left = random(100);
    return changes.find(({ share }) => (left -= share) < 0);
  }

  return {
    counted,
    /** Resolves when nothing is changing any more. */
    async end() {
      isOver = true;
      await Promise.all(loops);
      if (mistake !== undefined) throw mistake;
      await withSession(database, url, (session) => session.run(missingCustomers(database)));
    },
  };
}
