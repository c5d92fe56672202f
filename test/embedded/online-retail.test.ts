/** The demo's source contains what the data set contains, compared with an independent reading of the file. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadOnlineRetail } from '../../src/embedded/online-retail/load-shop.js';
import { createShopReader } from '../../src/embedded/online-retail/create-shop-reader.js';

const FILE = new URL('../../src/embedded/online-retail/online-retail-2010-12.csv.gz', import.meta.url);
const DATABASE = 'embedded_online_retail';
const READER = 'embedded_online_retail_reader';

/** Totals in hundredths of a penny, by invoice: whole numbers, so that nothing is rounded here either. */
function totalsInTheFile(): Map<string, bigint> {
  const totals = new Map<string, bigint>();
  for (const line of gunzipSync(readFileSync(FILE)).toString('utf8').trimEnd().split('\n').slice(1)) {
    // Descriptions hold commas and quotes; the fields needed here stand before and after them.
    const invoice = line.slice(0, line.indexOf(','));
    const [quantity, , price] = line.trimEnd().split(',').slice(-5) as [string, string, string];
    const [pounds, fraction = ''] = price.split('.') as [string, string?];
    const amount = BigInt(quantity) * BigInt(pounds + fraction.padEnd(4, '0'));
    totals.set(invoice, (totals.get(invoice) ?? 0n) + amount);
  }
  return totals;
}

describe('the demo source', () => {
  let shop: Client;
  let url: string;

  beforeAll(async () => {
    const admin = new Client({ connectionString: inject('postgresUrl') });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${DATABASE}`);
    await admin.end();
    url = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${DATABASE}` }).href;
    await loadOnlineRetail(url);
    shop = new Client({ connectionString: url });
    await shop.connect();
  });
  afterAll(() => shop.end());

  const one = async (sql: string): Promise<unknown[]> =>
    (await shop.query<unknown[]>({ text: sql, rowMode: 'array' })).rows[0]!;

  it('has 948 customers, 2,025 invoices and 42,481 lines, and loading it again changes nothing', async () => {
    await shop.query(`UPDATE shop.customers SET country = 'Narnia' WHERE customer_id = 17850`);
    expect(await loadOnlineRetail(url)).toEqual({ customers: 948, invoices: 2_025, lines: 42_481 });
    expect(await one('SELECT country FROM shop.customers WHERE customer_id = 17850')).toEqual(['Narnia']);
  });

  it('has the exact total of every invoice', async () => {
    const { rows } = await shop.query<[string, string]>({
      text: 'SELECT invoice_no, total::text FROM shop.invoices',
      rowMode: 'array',
    });
    const loaded = new Map(rows.map(([invoice, total]) => [invoice, BigInt(total.replace('.', '')) * 100n]));
    expect(loaded).toEqual(totalsInTheFile());
    expect(await one('SELECT sum(total)::text, min(total)::text FROM shop.invoices')).toEqual([
      '748957.02',
      '-13541.33',
    ]);
    expect(await one('SELECT sum(line_total)::text FROM shop.invoice_lines')).toEqual(['748957.0200']);
  });

  it('keeps the oddities of the data: invoices without a customer, cancellations, two times, stray blanks', async () => {
    const invoices = `SELECT count(*) FILTER (WHERE customer_id IS NULL)::int, count(*) FILTER (WHERE kind = 'cancellation')::int`;
    expect(await one(`${invoices} FROM shop.invoices`)).toEqual([317, 326]);
    expect(
      await one(`
        SELECT invoiced_at::text, updated_at = invoiced_at AT TIME ZONE 'Europe/London',
          (SELECT count(DISTINCT entered_at)::int FROM shop.invoice_lines l WHERE l.invoice_no = i.invoice_no)
        FROM shop.invoices i WHERE invoice_no = '536591'`),
    ).toEqual(['2010-12-01 16:57:00', true, 2]);
    expect(
      await one(`
        SELECT bool_or(description LIKE '% '), bool_or(description LIKE '%"%'), count(*) FILTER (WHERE description IS NULL)::int
        FROM shop.invoice_lines`),
    ).toEqual([true, true, 125]);
  });

  it('makes up untidy contact details in the documented proportions', async () => {
    const share = (condition: string): string => `round(100.0 * count(*) FILTER (WHERE ${condition}) / count(*))::int`;
    const [noEmail, emptyEmail, paddedEmail, noPhone, junkPhone, neverAsked] = (await one(`
      SELECT ${share('email IS NULL')}, ${share(`email = ''`)}, ${share(`email ~ '^ | $'`)}, ${share('phone IS NULL')},
        ${share(`phone = 'n/a'`)}, ${share('marketing_opt_in IS NULL')} FROM shop.customers`)) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    expect(Math.abs(noEmail - 8)).toBeLessThanOrEqual(2);
    expect(Math.abs(emptyEmail - 2)).toBeLessThanOrEqual(1);
    expect(Math.abs(paddedEmail - 30)).toBeLessThanOrEqual(4);
    expect(Math.abs(noPhone - 10)).toBeLessThanOrEqual(2);
    expect(Math.abs(junkPhone - 1)).toBeLessThanOrEqual(1);
    expect(Math.abs(neverAsked - 10)).toBeLessThanOrEqual(2);
  });

  it('makes up contact details that cannot reach anybody: reserved mail domains and telephone numbers', async () => {
    const { rows } = await shop.query<{ email: string | null; phone: string | null }>(
      'SELECT email, phone FROM shop.customers',
    );
    const reachable = rows.filter(({ email, phone }) => {
      const digits = (phone ?? '')
        .replace(/\D/g, '')
        .replace(/^(0044|44|0)/, '')
        .replace(/^0/, '');
      const mailIsSafe = !email || /@example\.(com|org|net)\s*$/i.test(email);
      const phoneIsSafe =
        phone === null || phone === 'n/a' || /^(7700900|2079460|1614960|1174960|1314960|1134960)\d{3}$/.test(digits);
      return !mailIsSafe || !phoneIsSafe;
    });
    expect(reachable).toEqual([]);
    const again = await one(`SELECT first_name, last_name, email, phone FROM shop.customers WHERE customer_id = 17850`);
    // The same on every machine.
    expect(again).toMatchInlineSnapshot(`
      [
        "Søren",
        "van der Berg",
        "soren.17850@example.com",
        "(0)20-7946-0950",
      ]
    `);
  });

  it('sets updated_at on every change', async () => {
    await shop.query(`UPDATE shop.invoices SET total = total WHERE invoice_no = '536365'`);
    const [fresh] = await one(
      `SELECT updated_at > clock_timestamp() - interval '1 minute' FROM shop.invoices WHERE invoice_no = '536365'`,
    );
    expect(fresh).toBe(true);
  });

  it('gives the sync an account that can only read', async () => {
    const reader = new Client({
      connectionString: await createShopReader({ url, password: "it's/secret", role: READER }),
    });
    await reader.connect();
    try {
      expect((await reader.query('SELECT FROM shop.invoice_lines')).rowCount).toBe(42_481);
      await expect(reader.query('DELETE FROM shop.customers')).rejects.toMatchObject({ code: '25006' });
      await reader.query('SET default_transaction_read_only = off');
      for (const write of [
        `UPDATE shop.customers SET country = ''`,
        'TRUNCATE shop.invoices CASCADE',
        'CREATE TABLE shop.mine ()',
        'CREATE TABLE public.mine ()',
      ]) {
        await expect(reader.query(write), write).rejects.toMatchObject({ code: '42501' });
      }
    } finally {
      await reader.end();
    }
  });
});
