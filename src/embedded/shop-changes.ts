/** What is committed in the demo's shop, as PostgreSQL itself tells it: what the live demo compares arrivals with. */
import { Client } from 'pg';

/** One row that was changed. */
export interface ShopChange {
  readonly mapping: string;
  readonly externalId: string;
  readonly kind: 'INSERT' | 'UPDATE' | 'DELETE';
  readonly committedAt: Date;
  /** The place in the log at which its transaction ends. */
  readonly position: string;
}

/** The tables of the shop: their mappings, and the columns that make the external id. */
export const SHOP_TABLES = {
  'shop.customers': { mapping: 'customers', schema: 'customer', key: ['customer_id'] },
  'shop.invoices': { mapping: 'transactions', schema: 'transactions', key: ['invoice_no'] },
  'shop.invoice_lines': { mapping: 'order-lines', schema: 'order_line', key: ['invoice_no', 'line_no'] },
} as const;

/** A slot of the session: it is gone when the connection is, whatever ends it. */
const SLOT = `'demo_display_' || pg_backend_pid()`;
const NEXT = `
  SELECT lsn::text AS position, data
  FROM pg_logical_slot_get_changes(${SLOT}, NULL, NULL, 'include-xids', 'off', 'include-timestamp', 'on', 'skip-empty-xacts', 'on')`;

/** Tells what has been committed since the last time. */
export class ShopChanges {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** @param url of the shop's owner */
  static async open(url: string): Promise<ShopChanges> {
    const client = new Client({ connectionString: url });
    // Without a listener, a lost connection would end the process; the next query reports it.
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`SELECT pg_create_logical_replication_slot(${SLOT}, 'test_decoding', true)`);
    return new ShopChanges(client);
  }

  async next(): Promise<ShopChange[]> {
    const { rows } = await this.#client.query<{ position: string; data: string }>(NEXT);
    const changes: ShopChange[] = [];
    let open: Omit<ShopChange, 'committedAt' | 'position'>[] = [];
    for (const { position, data } of rows) {
      const committed = /^COMMIT \(at (.+)\)$/.exec(data)?.[1];
      if (committed === undefined) open.push(...changesIn(data));
      else {
        changes.push(...open.map((change) => ({ ...change, committedAt: new Date(committed), position })));
        open = [];
      }
    }
    return changes;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}

/** `table shop.customers: UPDATE: customer_id[integer]:17850 ...`; a row with another key than before is two. */
function changesIn(line: string): Omit<ShopChange, 'committedAt' | 'position'>[] {
  const [, name = '', kind, values = ''] = /^table (\S+): (INSERT|UPDATE|DELETE): (.*)$/s.exec(line) ?? [];
  const table = Object.hasOwn(SHOP_TABLES, name) ? SHOP_TABLES[name as keyof typeof SHOP_TABLES] : undefined;
  if (table === undefined) return [];
  const change = (of: ShopChange['kind'], tuple: string) => ({
    mapping: table.mapping,
    kind: of,
    externalId: table.key.map((column) => valueIn(tuple, column)).join('-'),
  });
  const [old, now] = values.startsWith('old-key: ') ? values.slice('old-key: '.length).split(' new-tuple: ') : [];
  if (old === undefined || now === undefined) return [change(kind as ShopChange['kind'], values)];
  return [change('DELETE', old), change('INSERT', now)];
}

/** The value of a column of the key; these come first, so no text of another column is taken for one. */
function valueIn(tuple: string, column: string): string {
  const [, quoted, plain] = new RegExp(`(?:^| )${column}\\[[^\\]]*\\]:(?:'((?:[^']|'')*)'|(\\S+))`).exec(tuple) ?? [];
  return quoted?.replaceAll("''", "'") ?? plain ?? '';
}
