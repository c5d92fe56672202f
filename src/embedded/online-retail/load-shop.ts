/** Loads the demo's source database: the UCI data set "Online Retail", December 2010, as a shop. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** Row counts of the shop's tables. */
export interface OnlineRetailCounts {
  readonly customers: number;
  readonly invoices: number;
  readonly lines: number;
}

/** Columns named and ordered as in the file, all of them text, since the file's own spellings matter to the demo. */
const STAGING = `
  CREATE TEMP TABLE staged_lines (
    ordinal bigint GENERATED ALWAYS AS IDENTITY,
    "InvoiceNo" text, "StockCode" text, "Description" text, "Quantity" text,
    "InvoiceDate" text, "UnitPrice" text, "CustomerID" text, "Country" text
  ) ON COMMIT DROP`;
const COPY = `
  COPY staged_lines ("InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country")
  FROM STDIN WITH (FORMAT csv, HEADER match, ENCODING 'UTF8')`;

const COUNTS = `
  SELECT (SELECT count(*)::int FROM shop.customers) AS customers,
         (SELECT count(*)::int FROM shop.invoices) AS invoices,
         (SELECT count(*)::int FROM shop.invoice_lines) AS lines`;

const beside = (file: string): URL => new URL(file, import.meta.url);

/**
 * Creates and fills the schema `shop` unless it exists, so that changes made to it are kept. Returns the row counts.
 *
 * @example const { customers } = await loadOnlineRetail(postgres.url('shop')); // 948
 */
export async function loadOnlineRetail(url: string): Promise<OnlineRetailCounts> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    // Of two loads at the same time, the second waits and then finds the shop.
    await client.query(`SELECT pg_advisory_xact_lock(hashtext('partner-sync online-retail'))`);
    const found = await client.query<{ shop: string | null }>(`SELECT to_regclass('shop.invoice_lines') AS shop`);
    if (found.rows[0]?.shop == null) await load(client);
    const counts = await client.query<OnlineRetailCounts>(COUNTS);
    await client.query('COMMIT');
    return counts.rows[0]!;
  } finally {
    // Closing the connection rolls back what has not been committed.
    await client.end();
  }
}

async function load(client: Client): Promise<void> {
  await client.query(await readFile(beside('source.sql'), 'utf8'));
  await client.query(STAGING);
  await pipeline(
    createReadStream(beside('online-retail-2010-12.csv.gz')),
    createGunzip(),
    client.query(copyFrom(COPY)),
  );
  await client.query(await readFile(beside('derive.sql'), 'utf8'));
}
