-- The source's data: deterministic, so that every machine measures the same rows.
-- How many rows comes from two session settings:
--   SET bench.customers = '1000000'; SET bench.transactions = '3000000';
SET synchronous_commit = off;
CREATE TABLE customers (
  id           bigint PRIMARY KEY,
  external_id  text NOT NULL,
  first_name   text,
  last_name    text,
  email        text,
  phone        text,
  opted_out    boolean NOT NULL,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL
);
-- The reference is the parent's external id, as the platform wants it, so that no contender needs a join.
CREATE TABLE transactions (
  id                    bigint PRIMARY KEY,
  customer_id           bigint NOT NULL,
  customer_external_id  text NOT NULL,
  total                 numeric(12,2) NOT NULL,
  occurred_at           timestamptz NOT NULL,
  detail_url            text,
  updated_at            timestamptz NOT NULL
);
INSERT INTO customers
SELECT g,
       'C-' || lpad(g::text, 9, '0'),
       (ARRAY['Ada','Björn','Chloé','Dmitri','Élise','Fatima','Grace','Hiro'])[1 + g % 8],
       CASE WHEN g % 97 = 0 THEN 'O''Neil "Junior"' ELSE 'Last' || (g % 5000) END,
       CASE WHEN g % 50 = 0 THEN NULL ELSE 'User.' || g || '@Example.COM' END,
       CASE WHEN g % 20 = 0 THEN NULL ELSE '+1555' || lpad((g % 10000000)::text, 7, '0') END,
       g % 7 = 0,
       timestamptz '2020-01-01 00:00:00Z' + (g * 37 % 150000000) * interval '1 second'
         + (g % 1000) * interval '1 millisecond',
       timestamptz '2025-01-01 00:00:00Z' + g * interval '13 milliseconds'
FROM generate_series(1, current_setting('bench.customers')::bigint) g;
-- 7919 is a prime: the parents of neighbouring rows lie far apart, as they do in real tables.
INSERT INTO transactions
SELECT g,
       c,
       'C-' || lpad(c::text, 9, '0'),
       ((g * 104729 % 10000000)::numeric / 100)::numeric(12,2),
       timestamptz '2021-01-01 00:00:00Z' + (g * 41 % 120000000) * interval '1 second',
       CASE WHEN g % 10 = 0 THEN NULL ELSE 'https://shop.example.com/orders/' || g || '?ref=rcpt' END,
       timestamptz '2025-01-01 00:00:00Z' + g * interval '7 milliseconds'
FROM (
  SELECT g, 1 + g * 7919 % current_setting('bench.customers')::bigint AS c
  FROM generate_series(1, current_setting('bench.transactions')::bigint) g
) numbered;
ALTER TABLE transactions ADD FOREIGN KEY (customer_id) REFERENCES customers (id);
CREATE INDEX customers_updated_at_id ON customers (updated_at, id);
CREATE INDEX transactions_updated_at_id ON transactions (updated_at, id);
