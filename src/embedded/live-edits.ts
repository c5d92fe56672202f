/** Changes of the shop that the live demo makes itself, or suggests. */

/** Statements to type, one of each kind. */
export const EXAMPLE_EDITS: readonly string[] = [
  "UPDATE shop.customers SET email = 'live@example.com' WHERE customer_id = 17850;",
  "INSERT INTO shop.customers VALUES (99001, 'Anna', 'Smith', 'anna@example.com', NULL, 'Germany', true, now(), now());",
  "DELETE FROM shop.invoice_lines WHERE invoice_no = '536365' AND line_no = 1;",
];

/** An edit, and what is special about it. */
export interface DemoEdit {
  readonly what: string;
  readonly sql: string;
}

/** They find something to do each time, and are run as one session, one after the other. */
export const DEMO_EDITS: readonly DemoEdit[] = [
  {
    what: 'an update that leaves updated_at as it is, so that no cursor could tell it',
    // Without the trigger that moves updated_at.
    sql: `SET session_replication_role = replica;
          UPDATE shop.customers SET email = 'live.' || to_char(clock_timestamp(), 'HH24MISSMS') || '@example.com' WHERE customer_id = 17850;
          RESET session_replication_role`,
  },
  {
    what: 'a new row',
    sql: `INSERT INTO shop.customers
          SELECT max(customer_id) + 1, 'Anna', 'Smith', 'anna@example.com', NULL, 'Germany', true, now(), now() FROM shop.customers`,
  },
  {
    what: 'a deleted row',
    sql: `DELETE FROM shop.invoice_lines WHERE (invoice_no, line_no) =
          (SELECT invoice_no, line_no FROM shop.invoice_lines ORDER BY invoice_no, line_no LIMIT 1)`,
  },
];
