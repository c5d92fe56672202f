-- Fills the shop from the staged rows of the data set. Invented values are computed from the customer number, so that
-- every load on every machine gives the same rows.

CREATE TEMP TABLE typed_lines ON COMMIT DROP AS
SELECT
  ordinal,
  "InvoiceNo" AS invoice_no,
  "StockCode" AS stock_code,
  "Description" AS description,
  "Quantity"::integer AS quantity,
  "InvoiceDate"::timestamp AS entered_at,
  "UnitPrice"::numeric AS unit_price,
  -- The file has floats, such as "17850.0".
  "CustomerID"::numeric::integer AS customer_id,
  "Country" AS country
FROM staged_lines;

WITH
-- The plain spelling is used in the email address.
first_names (n, name, plain) AS (VALUES
  (0, 'Zoë', 'Zoe'), (1, 'Oliver', 'Oliver'), (2, 'Łukasz', 'Lukasz'), (3, 'Siobhán', 'Siobhan'), (4, '伟', 'Wei'),
  (5, 'José', 'Jose'), (6, 'Amara', 'Amara'), (7, 'Jean-Luc', 'Jean-Luc'), (8, 'Ayşe', 'Ayse'), (9, 'Priya', 'Priya'),
  (10, 'Søren', 'Soren'), (11, 'Mary Ann', 'MaryAnn'), (12, 'Hương', 'Huong'), (13, 'Дмитрий', 'Dmitri'),
  (14, 'Emily', 'Emily'), (15, 'محمد', 'Mohammed'), (16, 'Đorđe', 'Djordje'), (17, 'さくら', 'Sakura'),
  (18, 'Björk', 'Bjork'), (19, 'Grace', 'Grace'), (20, 'Anaïs', 'Anais'), (21, 'Thabo', 'Thabo'), (22, 'Jo', 'Jo')),
last_names (n, name) AS (VALUES
  (0, 'O''Neil'), (1, 'Nguyễn'), (2, 'Smith'), (3, '李'), (4, 'García Márquez'), (5, 'Müller'), (6, 'Kowalska'),
  (7, 'McDonald'), (8, 'van der Berg'), (9, 'Patel'), (10, 'Ødegård'), (11, 'Smith-Jones'), (12, 'Okafor'),
  (13, 'D''Angelo'), (14, 'Çelik'), (15, 'Иванова'), (16, 'Taylor'), (17, 'Þórsdóttir'), (18, 'Dvořák')),
known AS (
  SELECT DISTINCT ON (customer_id) customer_id, country, entered_at AS created_at
  FROM typed_lines WHERE customer_id IS NOT NULL
  ORDER BY customer_id, entered_at, ordinal),
-- Different multipliers keep the fields independent of each other; the ranges of the remainder set the shares.
dice AS (
  SELECT known.*,
    customer_id * 37 % 100 AS email_die,
    customer_id * 53 % 100 AS phone_die,
    customer_id * 17 % 10 AS opt_in_die,
    lpad((customer_id * 7 % 1000)::text, 3, '0') AS digits,
    (ARRAY['com', 'org', 'net'])[customer_id % 3 + 1] AS tld
  FROM known)
INSERT INTO shop.customers
SELECT
  customer_id, first_names.name, last_names.name,
  CASE
    WHEN email_die < 8 THEN NULL
    WHEN email_die < 10 THEN ''
    WHEN email_die < 30 THEN format('  %s.%s@Example.%s ', plain, customer_id, upper(tld))
    WHEN email_die < 40 THEN upper(format('%s.%s@example.%s', plain, customer_id, tld))
    WHEN email_die < 50 THEN format('%s.%s@example.%s ', plain, customer_id, tld)
    ELSE lower(format('%s.%s@example.%s', plain, customer_id, tld))
  END,
  CASE
    WHEN phone_die < 10 THEN NULL
    WHEN phone_die < 11 THEN 'n/a'
    WHEN phone_die < 12 THEN '07700 900' || digits
    WHEN phone_die < 13 THEN '+44 7700 900' || digits
    WHEN phone_die < 14 THEN '(0)7700-900-' || digits
    WHEN phone_die < 30 THEN '0207 946 0' || digits
    WHEN phone_die < 45 THEN '+44 20 7946 0' || digits
    WHEN phone_die < 58 THEN '(0)20-7946-0' || digits
    WHEN phone_die < 70 THEN '+44 (0)161 496 0' || digits
    WHEN phone_die < 82 THEN '01174960' || digits
    WHEN phone_die < 92 THEN ' 0131 496 0' || digits || ' '
    ELSE '0044 113 4960' || digits
  END,
  country,
  CASE WHEN opt_in_die < 6 THEN true WHEN opt_in_die < 9 THEN false END,
  created_at, created_at AT TIME ZONE 'Europe/London'
FROM dice
JOIN first_names ON first_names.n = customer_id * 5 % 23
JOIN last_names ON last_names.n = customer_id * 3 % 19;

-- An invoice has one customer and a total with two decimals. A data set that breaks this must fail the load instead of
-- being rounded.
DO $$
BEGIN
  IF EXISTS (
    SELECT FROM typed_lines GROUP BY invoice_no
    HAVING sum(quantity * unit_price) <> round(sum(quantity * unit_price), 2) OR count(DISTINCT customer_id) > 1
      OR count(customer_id) NOT IN (0, count(*))) THEN
    RAISE EXCEPTION 'the data set has changed: an invoice''s total is not exact to the penny, or it has two customers';
  END IF;
END
$$;

INSERT INTO shop.invoices (invoice_no, customer_id, kind, invoiced_at, total, updated_at)
SELECT
  invoice_no, min(customer_id), CASE WHEN invoice_no LIKE 'C%' THEN 'cancellation' ELSE 'sale' END,
  min(entered_at), sum(quantity * unit_price), min(entered_at) AT TIME ZONE 'Europe/London'
FROM typed_lines GROUP BY invoice_no;

INSERT INTO shop.invoice_lines
SELECT
  invoice_no, row_number() OVER (PARTITION BY invoice_no ORDER BY ordinal), stock_code, description, quantity,
  unit_price, quantity * unit_price, entered_at, entered_at AT TIME ZONE 'Europe/London'
FROM typed_lines;

ANALYZE shop.customers, shop.invoices, shop.invoice_lines;
