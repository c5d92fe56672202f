-- The workshop in PostgreSQL.
SET TIME ZONE 'UTC';
CREATE TABLE employees (
  employee_id integer PRIMARY KEY,
  name varchar(80) NOT NULL,
  email varchar(200),
  manager_id integer REFERENCES employees (employee_id),
  hired_on date NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX employees_by_change ON employees (updated_at, employee_id);
COMMENT ON TABLE employees IS 'Who works in the workshop';
CREATE TABLE customers (
  customer_id integer PRIMARY KEY,
  name varchar(80) NOT NULL,
  email varchar(200),
  phone varchar(40),
  born_on date NOT NULL,
  advisor_id integer REFERENCES employees (employee_id),
  updated_at timestamptz NOT NULL
);
CREATE INDEX customers_by_change ON customers (updated_at, customer_id);
COMMENT ON TABLE customers IS 'Who buys; also who only asked once';
CREATE TABLE loyalty_cards (
  card_no varchar(20) PRIMARY KEY,
  customer_id integer NOT NULL REFERENCES customers (customer_id),
  points integer NOT NULL
);
COMMENT ON TABLE loyalty_cards IS 'One a customer';
CREATE TABLE suppliers (
  supplier_id integer PRIMARY KEY,
  name varchar(80) NOT NULL,
  country char(2)
);
CREATE TABLE categories (
  category_id integer PRIMARY KEY,
  name varchar(80) NOT NULL,
  parent_id integer REFERENCES categories (category_id),
  updated_at timestamptz NOT NULL
);
CREATE INDEX categories_by_change ON categories (updated_at, category_id);
COMMENT ON TABLE categories IS 'A tree';
CREATE TABLE articles (
  article_no varchar(40) PRIMARY KEY,
  name varchar(80) NOT NULL,
  category_id integer REFERENCES categories (category_id),
  supplier_id integer REFERENCES suppliers (supplier_id),
  weight double precision,
  description text,
  updated_at timestamptz NOT NULL
);
CREATE INDEX articles_by_change ON articles (updated_at, article_no);
CREATE TABLE article_prices (
  article_no varchar(40) NOT NULL REFERENCES articles (article_no),
  currency char(3) NOT NULL,
  price numeric(12, 2) NOT NULL,
  PRIMARY KEY (article_no, currency)
);
COMMENT ON TABLE article_prices IS 'In each currency';
CREATE TABLE orders (
  order_id integer PRIMARY KEY,
  customer_id integer NOT NULL REFERENCES customers (customer_id),
  taken_by integer REFERENCES employees (employee_id),
  ordered_at timestamptz NOT NULL,
  total numeric(12, 2) NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX orders_by_change ON orders (updated_at, order_id);
CREATE TABLE order_lines (
  order_id integer NOT NULL REFERENCES orders (order_id),
  line_no integer NOT NULL,
  article_no varchar(40) REFERENCES articles (article_no),
  quantity integer NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (order_id, line_no)
);
CREATE INDEX order_lines_by_change ON order_lines (updated_at, order_id, line_no);
CREATE TABLE shipments (
  shipment_id integer PRIMARY KEY,
  order_id integer NOT NULL REFERENCES orders (order_id),
  sent_on date,
  updated_at timestamptz NOT NULL
);
CREATE INDEX shipments_by_change ON shipments (updated_at, shipment_id);
CREATE TABLE goods_returns (
  return_id integer PRIMARY KEY,
  shipment_id integer NOT NULL REFERENCES shipments (shipment_id),
  reason text,
  updated_at timestamptz NOT NULL
);
CREATE INDEX goods_returns_by_change ON goods_returns (updated_at, return_id);
COMMENT ON TABLE goods_returns IS 'What came back, and why';
