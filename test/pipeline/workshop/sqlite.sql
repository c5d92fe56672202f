-- The workshop in SQLite, which has no comments of its own.
CREATE TABLE employees (
  employee_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT,
  manager_id INTEGER REFERENCES employees (employee_id),
  hired_on DATE NOT NULL,
  updated_at DATETIME NOT NULL
);
CREATE INDEX employees_by_change ON employees (updated_at, employee_id);
CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT,
  phone TEXT,
  born_on DATE NOT NULL,
  advisor_id INTEGER REFERENCES employees (employee_id),
  updated_at DATETIME NOT NULL
);
CREATE INDEX customers_by_change ON customers (updated_at, customer_id);
CREATE TABLE loyalty_cards (
  card_no TEXT PRIMARY KEY NOT NULL,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  points INTEGER NOT NULL
);
CREATE TABLE suppliers (
  supplier_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  country TEXT
);
CREATE TABLE categories (
  category_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  parent_id INTEGER REFERENCES categories (category_id),
  updated_at DATETIME NOT NULL
);
CREATE INDEX categories_by_change ON categories (updated_at, category_id);
CREATE TABLE articles (
  article_no TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  category_id INTEGER REFERENCES categories (category_id),
  supplier_id INTEGER REFERENCES suppliers (supplier_id),
  weight REAL,
  description TEXT,
  updated_at DATETIME NOT NULL
);
CREATE INDEX articles_by_change ON articles (updated_at, article_no);
CREATE TABLE article_prices (
  article_no TEXT NOT NULL REFERENCES articles (article_no),
  currency TEXT NOT NULL,
  price TEXT NOT NULL,
  PRIMARY KEY (article_no, currency)
);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  taken_by INTEGER REFERENCES employees (employee_id),
  ordered_at DATETIME NOT NULL,
  total TEXT NOT NULL,
  updated_at DATETIME NOT NULL
);
CREATE INDEX orders_by_change ON orders (updated_at, order_id);
CREATE TABLE order_lines (
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  line_no INTEGER NOT NULL,
  article_no TEXT REFERENCES articles (article_no),
  quantity INTEGER NOT NULL,
  updated_at DATETIME NOT NULL,
  PRIMARY KEY (order_id, line_no)
);
CREATE INDEX order_lines_by_change ON order_lines (updated_at, order_id, line_no);
CREATE TABLE shipments (
  shipment_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  sent_on DATE,
  updated_at DATETIME NOT NULL
);
CREATE INDEX shipments_by_change ON shipments (updated_at, shipment_id);
CREATE TABLE goods_returns (
  return_id INTEGER PRIMARY KEY,
  shipment_id INTEGER NOT NULL REFERENCES shipments (shipment_id),
  reason TEXT,
  updated_at DATETIME NOT NULL
);
CREATE INDEX goods_returns_by_change ON goods_returns (updated_at, return_id);
