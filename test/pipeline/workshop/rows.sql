-- What is in order, in the SQL that PostgreSQL, MariaDB (with PIPES_AS_CONCAT) and SQLite share. All of it is made up.
INSERT INTO employees (employee_id, name, email, manager_id, hired_on, updated_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
  SELECT i, 'Employee ' || i, 'e' || i || '@workshop.example', CASE WHEN i > 1 THEN i - 1 END, '2015-02-01', '2024-05-01 08:00:00' FROM n;
-- Three who stand in for each other: nobody of them is the first.
UPDATE employees SET manager_id = 4 WHERE employee_id = 2;
INSERT INTO customers (customer_id, name, email, phone, born_on, advisor_id, updated_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  SELECT i, 'Customer ' || i, 'c' || i || '@mail.example', '+44 20 7946 00' || (10 + i), '1980-01-31', i % 10 + 1, '2024-05-01 09:00:00' FROM n;
INSERT INTO loyalty_cards (card_no, customer_id, points)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
  SELECT 'C' || i, i, i * 10 FROM n;
INSERT INTO suppliers (supplier_id, name, country) VALUES (1, 'Reeds & Sons', 'GB'), (2, 'Saiten AG', 'CH'), (3, 'Corde', NULL);
-- Children come before their parents.
INSERT INTO categories (category_id, name, parent_id, updated_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
  SELECT i, 'Category ' || i, CASE WHEN i < 12 THEN i + 1 END, '2024-05-01 10:00:00' FROM n;
INSERT INTO articles (article_no, name, category_id, supplier_id, weight, description, updated_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
  SELECT 'A' || i, 'Article ' || i, i % 12 + 1, i % 3 + 1, i + 0.5, 'It''s "new" – ' || i, '2024-05-01 11:00:00' FROM n;
INSERT INTO article_prices (article_no, currency, price)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
  SELECT 'A' || i, c, i + 0.99 FROM n, (SELECT 'EUR' AS c UNION ALL SELECT 'GBP') currencies;
INSERT INTO orders (order_id, customer_id, taken_by, ordered_at, total, updated_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
  SELECT i, i % 40 + 1, CASE WHEN i % 3 = 0 THEN i % 10 + 1 END, '2024-04-01 12:30:00', i * 2.5, '2024-05-01 12:00:00' FROM n;
INSERT INTO order_lines (order_id, line_no, article_no, quantity, updated_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
  SELECT i, l, 'A' || ((i * 2 + l) % 28 + 1), l, '2024-05-01 13:00:00' FROM n, (SELECT 1 AS l UNION ALL SELECT 2) line_numbers;
INSERT INTO shipments (shipment_id, order_id, sent_on, updated_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
  SELECT i, i, '2024-04-03', '2024-05-01 14:00:00' FROM n;
INSERT INTO goods_returns (return_id, shipment_id, reason, updated_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  SELECT i, i * 2, CASE WHEN i % 2 = 0 THEN 'out of tune' END, '2024-05-01 15:00:00' FROM n;
-- One row of each table is younger than the others: what incremental runs read is behind it, and none of the rest.
UPDATE employees SET updated_at = '2024-06-01 08:00:00' WHERE employee_id = 1;
UPDATE customers SET updated_at = '2024-06-01 08:00:00' WHERE customer_id = 1;
UPDATE categories SET updated_at = '2024-06-01 08:00:00' WHERE category_id = 1;
UPDATE articles SET updated_at = '2024-06-01 08:00:00' WHERE article_no = 'A1';
UPDATE orders SET updated_at = '2024-06-01 08:00:00' WHERE order_id = 1;
UPDATE order_lines SET updated_at = '2024-06-01 08:00:00' WHERE order_id = 1 AND line_no = 1;
UPDATE shipments SET updated_at = '2024-06-01 08:00:00' WHERE shipment_id = 1;
UPDATE goods_returns SET updated_at = '2024-06-01 08:00:00' WHERE return_id = 1;
