// The script that an engineer writes first, in an afternoon; the other contenders are compared with it.
// knex .stream() + fetch + p-limit; it neither settles batches nor retries, and keeps no state.
// env: DSN SINK BATCH CONC
import knexLib from 'knex';
import pLimit from 'p-limit';

const BATCH = Number(process.env.BATCH ?? 500);
const CONC = Number(process.env.CONC ?? 8);
const knex = knexLib({ client: 'pg', connection: process.env.DSN });

const mapCustomer = (r) => ({
  externalId: r.external_id,
  firstName: r.first_name,
  lastName: r.last_name,
  email: r.email?.toLowerCase() ?? null,
  phone: r.phone,
  smsOptedOut: r.opted_out,
  createdAt: r.created_at.toISOString(),
});
const mapTransaction = (r) => ({
  transactionId: r.id,
  transactionDate: r.occurred_at.toISOString(),
  transactionTotal: Number(r.total),
  transactionDetailUrl: r.detail_url,
  customerId: r.customer_external_id,
});

async function post(schema, resources) {
  const res = await fetch(`${process.env.SINK}/api/resources/${schema}/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resources }),
  });
  if (res.status !== 202) throw new Error(`HTTP ${res.status}`);
  await res.json();
}

async function sync(schema, columns, map) {
  const limit = pLimit(CONC);
  const running = new Set();
  let batch = [];
  const flush = async () => {
    const b = batch;
    batch = [];
    const p = limit(() => post(schema, b)).finally(() => running.delete(p));
    running.add(p);
    if (running.size >= CONC) await Promise.race(running);
  };
  const query = knex(schema).select(columns).orderBy('id');
  for await (const row of query.stream()) {
    batch.push(map(row));
    if (batch.length === BATCH) await flush();
  }
  if (batch.length) await flush();
  await Promise.all(running);
}

await sync(
  'customers',
  ['external_id', 'first_name', 'last_name', 'email', 'phone', 'opted_out', 'created_at'],
  mapCustomer,
);
await sync(
  'transactions',
  ['id', 'occurred_at', 'total', 'detail_url', 'customer_external_id'],
  mapTransaction,
);
await knex.destroy();
