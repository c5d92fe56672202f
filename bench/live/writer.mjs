/**
 * A program of the partner: writes single rows at a steady rate, each in a transaction of its own, and notes when each commit
 * returned. Ends after `SECONDS`, or on SIGTERM.
 *
 * Of ten writes, one inserts a customer, four insert its transactions, and five update older rows. Each write gives its row a
 * version that is greater than all before: in a customer's `last_name`, in a transaction's `total`.
 *
 * env: DSN, RATE (writes a second), SECONDS, COMMITS (the file that gets a line for each commit: table, id, version, when)
 */
import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { FIRST_VERSION } from './arrivals.mjs';

const { DSN, COMMITS } = process.env;
const [rate, seconds] = [Number(process.env.RATE), Number(process.env.SECONDS)];
/** Each writes rows of its own, so that the versions of a row are committed in their order. */
const CONNECTIONS = 16;

const STATEMENTS = {
  newCustomer: `INSERT INTO customers SELECT $1::bigint, 'C-' || lpad($1::text, 9, '0'), 'New', 'Last' || $2::bigint,
    'New.' || $1 || '@Example.COM', NULL, false, now(), now()`,
  newTransaction: `INSERT INTO transactions SELECT $1::bigint, $3::bigint, 'C-' || lpad($3::text, 9, '0'), $2::bigint, now(), NULL, now()`,
  customer: `UPDATE customers SET last_name = 'Last' || $2::bigint, updated_at = now() WHERE id = $1::bigint`,
  transaction: `UPDATE transactions SET total = $2::bigint, updated_at = now() WHERE id = $1::bigint`,
};

let isOver = false;
process.once('SIGTERM', () => (isOver = true));
const commits = createWriteStream(COMMITS);
const clients = await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    const client = new pg.Client({ connectionString: DSN });
    await client.connect();
    return client;
  }),
);
const newest = await newestIds(clients[0]);
const began = performance.now();
let [places, written] = [0, 0];
await Promise.all(clients.map((client, i) => write(client, i + 1)));
const took = (performance.now() - began) / 1000;
await Promise.all(clients.map((client) => client.end()));
await new Promise((resolve) => commits.end(resolve));
console.log(JSON.stringify({ writes: written, seconds: took }));

/** Takes the next place in the order of writes again and again, and waits until its time has come. */
async function write(client, number) {
  // The rows of this connection: `number`, and from there each sixteenth.
  const rows = (table) => Math.floor((newest[table] - number) / CONNECTIONS) + 1;
  const count = { customers: rows('customers'), transactions: rows('transactions') };
  const idOf = (place) => number + place * CONNECTIONS;
  let customer;
  const insert = (table) => idOf(count[table]++);
  const update = (table) => idOf(Math.floor(Math.random() * count[table]));
  const turn = [
    ['newCustomer', 'customers', (table) => (customer = insert(table))],
    ...Array.from({ length: 4 }, () => ['newTransaction', 'transactions', insert]),
    ['customer', 'customers', update],
    ...Array.from({ length: 4 }, () => ['transaction', 'transactions', update]),
  ];
  for (let i = 0; ; i = (i + 1) % turn.length) {
    const place = places++;
    const due = (place * 1000) / rate;
    if (!(await reached(due))) return;
    const [name, table, choose] = turn[i];
    const id = choose(table);
    const version = FIRST_VERSION + place;
    const values = name === 'newTransaction' ? [id, version, customer] : [id, version];
    await client.query({ name, text: STATEMENTS[name], values });
    commits.write(`${table} ${id} ${version} ${Date.now()}\n`);
    written++;
  }
}

/** Waits until so many milliseconds have passed since the beginning; false if the writer is to end before. */
async function reached(due) {
  if (due > seconds * 1000) return false;
  while (!isOver && performance.now() < began + due) await sleep(Math.min(100, began + due - performance.now()));
  return !isOver;
}

async function newestIds(client) {
  const { rows } = await client.query(
    'SELECT (SELECT max(id)::int FROM customers) AS customers, (SELECT max(id)::int FROM transactions) AS transactions',
  );
  return rows[0];
}
