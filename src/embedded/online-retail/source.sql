-- The partner's database of the demo: a shop with customers, invoices and invoice lines, as a partner would have it.
-- Run once, in the transaction that also fills it (derive.sql).

CREATE SCHEMA shop;

CREATE TABLE shop.customers (
  customer_id integer PRIMARY KEY,
  first_name text,
  last_name text,
  email text,
  phone text,
  country text NOT NULL,
  marketing_opt_in boolean,
  created_at timestamp NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE shop.invoices (
  invoice_no text PRIMARY KEY,
  customer_id integer REFERENCES shop.customers,
  kind text NOT NULL CHECK (kind IN ('sale', 'cancellation')),
  invoiced_at timestamp NOT NULL,
  total numeric(12,2) NOT NULL,
  currency text NOT NULL DEFAULT 'GBP',
  updated_at timestamptz NOT NULL
);

CREATE TABLE shop.invoice_lines (
  invoice_no text NOT NULL REFERENCES shop.invoices,
  line_no integer NOT NULL,
  stock_code text NOT NULL,
  description text,
  quantity integer NOT NULL,
  unit_price numeric(12,4) NOT NULL,
  line_total numeric(14,4) NOT NULL,
  entered_at timestamp NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (invoice_no, line_no)
);

-- Incremental reading pages by (cursor, key): one index per table makes each page a range scan.
CREATE INDEX customers_by_change ON shop.customers (updated_at, customer_id);
CREATE INDEX invoices_by_change ON shop.invoices (updated_at, invoice_no);
CREATE INDEX invoice_lines_by_change ON shop.invoice_lines (updated_at, invoice_no, line_no);

CREATE FUNCTION shop.stamp_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := clock_timestamp();
  RETURN NEW;
END
$$;

CREATE TRIGGER stamp_change BEFORE UPDATE ON shop.customers FOR EACH ROW EXECUTE FUNCTION shop.stamp_change();
CREATE TRIGGER stamp_change BEFORE UPDATE ON shop.invoices FOR EACH ROW EXECUTE FUNCTION shop.stamp_change();
CREATE TRIGGER stamp_change BEFORE UPDATE ON shop.invoice_lines FOR EACH ROW EXECUTE FUNCTION shop.stamp_change();

COMMENT ON SCHEMA shop IS
  'December 2010 of the UCI data set "Online Retail" (D. Chen, 2015, CC BY 4.0), derived. Contact details are made up.';
COMMENT ON TABLE shop.customers IS
  'Customers of the data set: number and country are real. Name, email, phone and opt-in are made up from the number.';
COMMENT ON COLUMN shop.customers.first_name IS 'Made up.';
COMMENT ON COLUMN shop.customers.last_name IS 'Made up.';
COMMENT ON COLUMN shop.customers.email IS
  'Made up; reserved domains only. Untidy on purpose: blanks, capitals, empty, NULL.';
COMMENT ON COLUMN shop.customers.phone IS
  'Made up; only numbers that Ofcom reserves for drama. Untidy on purpose: many spellings, "n/a", NULL.';
COMMENT ON COLUMN shop.customers.country IS 'As in the data set, on the first invoice.';
COMMENT ON COLUMN shop.customers.marketing_opt_in IS 'Made up; NULL means never asked.';
COMMENT ON COLUMN shop.customers.created_at IS 'First invoice in the data set; local time, Europe/London.';
COMMENT ON TABLE shop.invoices IS 'One row per invoice of the data set; 317 have no customer.';
COMMENT ON COLUMN shop.invoices.kind IS 'Derived: numbers that begin with C are cancellations.';
COMMENT ON COLUMN shop.invoices.invoiced_at IS
  'Earliest line of the invoice (one invoice has two times); local time, Europe/London.';
COMMENT ON COLUMN shop.invoices.total IS 'Derived: sum of quantity x unit price, exact.';
COMMENT ON TABLE shop.invoice_lines IS 'The rows of the data set, numbered within their invoice.';
COMMENT ON COLUMN shop.invoice_lines.description IS 'As in the data set, stray blanks and quotes included.';
COMMENT ON COLUMN shop.invoice_lines.entered_at IS 'As in the data set; local time, Europe/London.';
