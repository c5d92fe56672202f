/**
 * Compares the compiled mapping with a hand-written function: CPU microseconds per row, and their ratio.
 *
 *     npm run build && node bench/mapping.mjs [--rounds 9]
 *
 * One process, no database: rows are texts, as the source delivers them. The figure is the CPU time of the whole
 * process, including garbage collection and compiler threads; the best of several rounds, which alternate so that all
 * contenders see the same machine. All of them build batch bodies of 500 records, so that deferred work is included.
 */
import { Buffer } from 'node:buffer';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { RecordList, Records } from '../dist/src/records/record-list.js';
import { compileMapping } from '../dist/src/mapping/compile/compile-mapping.js';
import { loadSync } from '../dist/src/mapping/load-sync.js';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const PAGES = 100;
const PAGE_ROWS = 1000;
const BATCH = 500;

// ---- rows, as bench/sql/source.sql makes them -----------------------------------------------------
const FIRST_NAMES = ['Ada', 'Björn', 'Chloé', 'Dmitri', 'Élise', 'Fatima', 'Grace', 'Hiro'];
const twoDigits = (n) => String(n).padStart(2, '0');
const stamp = (seconds, fraction) =>
  `${new Date(Date.UTC(2020, 0, 1) + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}${fraction}+00`;
const customerId = (n) => `C-${String(n).padStart(9, '0')}`;
const updatedAt = (n) => `2025-01-01 00:${twoDigits(n % 60)}:00.013+00`;

const TABLES = {
  customers: {
    types: {
      id: 'integer',
      updated_at: 'timestamptz',
      external_id: 'text',
      first_name: 'text',
      last_name: 'text',
      email: 'text',
      phone: 'text',
      opted_out: 'boolean',
      created_at: 'timestamptz',
    },
    row: (n) => ({
      id: String(n),
      external_id: customerId(n),
      first_name: FIRST_NAMES[n % 8],
      last_name: n % 97 === 0 ? 'O\'Neil "Junior"' : `Last${n % 5000}`,
      email: n % 50 === 0 ? null : `User.${n}@Example.COM`,
      phone: n % 20 === 0 ? null : `+1555${String(n % 10_000_000).padStart(7, '0')}`,
      opted_out: n % 7 === 0 ? 't' : 'f',
      created_at: stamp((n * 37) % 150_000_000, n % 1000 === 0 ? '' : `.${String(n % 1000).padStart(3, '0')}`),
      updated_at: updatedAt(n),
    }),
  },
  transactions: {
    types: {
      id: 'integer',
      updated_at: 'timestamptz',
      occurred_at: 'timestamptz',
      total: 'decimal',
      detail_url: 'text',
      customer_external_id: 'text',
    },
    row: (n) => ({
      id: String(n),
      total: (((n * 104_729) % 10_000_000) / 100).toFixed(2),
      occurred_at: stamp((n * 41) % 120_000_000, ''),
      detail_url: n % 10 === 0 ? null : `https://shop.example.com/orders/${n}?ref=rcpt`,
      customer_external_id: customerId(1 + ((n * 7919) % 1_000_000)),
      updated_at: updatedAt(n),
    }),
  },
};

// ---- by hand --------------------------------------------------------------------------------------
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f]/;
const text = (v) => (v === null ? 'null' : ESCAPED.test(v) ? JSON.stringify(v) : `"${v}"`);
const lower = (v) => (v === null ? 'null' : text(v.toLowerCase()));
const instant = (v) => `"${v.slice(0, 10)}T${v.slice(11, v.length - 3)}Z"`;
const BY_HAND = {
  customers: (at) => {
    const [id, first, last, email, phone, out, created] = at(
      'external_id',
      'first_name',
      'last_name',
      'email',
      'phone',
      'opted_out',
      'created_at',
    );
    return (r) =>
      `{"externalId":${text(r[id])},"firstName":${text(r[first])},"lastName":${text(r[last])},` +
      `"email":${lower(r[email])},"phone":${text(r[phone])},"smsOptedOut":${r[out] === 't'},` +
      `"createdAt":${instant(r[created])}}`;
  },
  transactions: (at) => {
    const [id, occurred, total, url, customer] = at('id', 'occurred_at', 'total', 'detail_url', 'customer_external_id');
    return (r) =>
      `{"transactionId":"${r[id]}","transactionDate":${instant(r[occurred])},"transactionTotal":${r[total]},` +
      `"transactionDetailUrl":${text(r[url])},"customerId":${text(r[customer])}}`;
  },
};

// ---- measuring ------------------------------------------------------------------------------------
/**
 * Pages of different rows, as a source delivers them. Texts are flat strings, as a driver creates them from its buffer,
 * not concatenations.
 */
function pagesOf(columns, row) {
  const flat = (value) => (value === null ? null : Buffer.from(value).toString());
  return Array.from({ length: PAGES }, (_, page) =>
    Array.from({ length: PAGE_ROWS }, (_, i) => {
      const values = row(page * PAGE_ROWS + i + 1);
      return columns.map((name) => flat(values[name]));
    }),
  );
}

/** CPU microseconds per row of `bodyOf`, a function from rows to the body of a batch. */
function measure(pages, bodyOf) {
  const started = process.cpuUsage();
  for (const page of pages)
    for (let i = 0; i < page.length; i += BATCH)
      if (bodyOf(page.slice(i, i + BATCH)).length === 0) throw new Error('an empty body');
  const { user, system } = process.cpuUsage(started);
  return (user + system) / (PAGES * PAGE_ROWS);
}

const mappings = fileURLToPath(new URL('mappings', import.meta.url));
const sync = await loadSync(mappings, 'bench', { SOURCE_URL: 'postgres://nowhere/none' });
console.log('CPU microseconds a row   by hand   mapped   and hashed   mapped / by hand');
for (const mapping of sync.mappings) {
  const { types, row } = TABLES[mapping.name];
  const columns = Object.entries(types).map(([name, type]) => ({ name, type, databaseType: type }));
  const compiled = compileMapping(mapping, sync.tenant, columns);
  const pages = pagesOf(compiled.columns, row);
  const listOf = (rows) => {
    const records = new Records();
    for (const values of rows)
      if (compiled.map(values, records).kind !== 'record') throw new Error('a row that was not mapped');
    return new RecordList(records);
  };
  const bodyOf = (records) => records.joined('{"resources":[', ']}');
  const mapped = (rows) => bodyOf(listOf(rows));
  const hashed = (rows) => {
    const records = listOf(rows);
    if (records.hashes.length !== 16 * rows.length) throw new Error('a record without its hash');
    return bodyOf(records);
  };
  const json = BY_HAND[mapping.name]((...names) => names.map((name) => compiled.columns.indexOf(name)));
  const byHand = (rows) => Buffer.from(`{"resources":[${rows.map(json).join()}]}`);
  const contenders = [byHand, mapped, hashed];
  const best = contenders.map(() => Infinity);
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [i, body] of contenders.entries()) best[i] = Math.min(best[i], measure(pages, body));
  const cells = [...best, best[1] / best[0]].map((figure) => figure.toFixed(2));
  console.log(mapping.name.padEnd(25) + [10, 9, 13, 0].map((width, i) => cells[i].padEnd(width)).join(''));
}
