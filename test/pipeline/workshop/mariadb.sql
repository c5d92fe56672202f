-- The workshop in MariaDB.
SET sql_mode = 'PIPES_AS_CONCAT', time_zone = '+00:00';
CREATE TABLE employees (
  employee_id int PRIMARY KEY,
  name varchar(80) NOT NULL,
  email varchar(200),
  manager_id int,
  hired_on date NOT NULL,
  updated_at datetime NOT NULL,
  FOREIGN KEY (manager_id) REFERENCES employees (employee_id),
  INDEX (updated_at, employee_id)
) COMMENT 'Who works in the workshop';
CREATE TABLE customers (
  customer_id int PRIMARY KEY,
  name varchar(80) NOT NULL,
  email varchar(200),
  phone varchar(40),
  born_on date NOT NULL,
  advisor_id int,
  updated_at datetime NOT NULL,
  FOREIGN KEY (advisor_id) REFERENCES employees (employee_id),
  INDEX (updated_at, customer_id)
) COMMENT 'Who buys; also who only asked once';
CREATE TABLE loyalty_cards (
  card_no varchar(20) PRIMARY KEY,
  customer_id int NOT NULL,
  points int NOT NULL,
  FOREIGN KEY (customer_id) REFERENCES customers (customer_id)
) COMMENT 'One a customer';
CREATE TABLE suppliers (
  supplier_id int PRIMARY KEY,
  name varchar(80) NOT NULL,
  country char(2)
);
CREATE TABLE categories (
  category_id int PRIMARY KEY,
  name varchar(80) NOT NULL,
  parent_id int,
  updated_at datetime NOT NULL,
  FOREIGN KEY (parent_id) REFERENCES categories (category_id),
  INDEX (updated_at, category_id)
) COMMENT 'A tree';
CREATE TABLE articles (
  article_no varchar(40) PRIMARY KEY,
  name varchar(80) NOT NULL,
  category_id int,
  supplier_id int,
  weight double,
  description longtext,
  updated_at datetime NOT NULL,
  FOREIGN KEY (category_id) REFERENCES categories (category_id),
  FOREIGN KEY (supplier_id) REFERENCES suppliers (supplier_id),
  INDEX (updated_at, article_no)
);
CREATE TABLE article_prices (
  article_no varchar(40) NOT NULL,
  currency char(3) NOT NULL,
  price decimal(12, 2) NOT NULL,
  PRIMARY KEY (article_no, currency),
  FOREIGN KEY (article_no) REFERENCES articles (article_no)
) COMMENT 'In each currency';
CREATE TABLE orders (
  order_id int PRIMARY KEY,
  customer_id int NOT NULL,
  taken_by int,
  ordered_at datetime NOT NULL,
  total decimal(12, 2) NOT NULL,
  updated_at datetime NOT NULL,
  FOREIGN KEY (customer_id) REFERENCES customers (customer_id),
  FOREIGN KEY (taken_by) REFERENCES employees (employee_id),
  INDEX (updated_at, order_id)
);
CREATE TABLE order_lines (
  order_id int NOT NULL,
  line_no int NOT NULL,
  article_no varchar(40),
  quantity int NOT NULL,
  updated_at datetime NOT NULL,
  PRIMARY KEY (order_id, line_no),
  FOREIGN KEY (order_id) REFERENCES orders (order_id),
  FOREIGN KEY (article_no) REFERENCES articles (article_no),
  INDEX (updated_at, order_id, line_no)
);
CREATE TABLE shipments (
  shipment_id int PRIMARY KEY,
  order_id int NOT NULL,
  sent_on date,
  updated_at datetime NOT NULL,
  FOREIGN KEY (order_id) REFERENCES orders (order_id),
  INDEX (updated_at, shipment_id)
);
CREATE TABLE goods_returns (
  return_id int PRIMARY KEY,
  shipment_id int NOT NULL,
  reason longtext,
  updated_at datetime NOT NULL,
  FOREIGN KEY (shipment_id) REFERENCES shipments (shipment_id),
  INDEX (updated_at, return_id)
) COMMENT 'What came back, and why';
