/** The sync folder of the tests' shop: three mappings, of which each refers to the one before. */

export interface SyncSettings {
  readonly upload?: Readonly<Record<string, string | number>>;
  /** Seconds that the platform waits for a missing parent. */
  readonly wait?: string;
  /** `failOn` of sync.yaml; its default if it is left out. */
  readonly failOn?: string;
  /** `guard` of sync.yaml, as a flow mapping; none if it is left out. */
  readonly guard?: string;
  /** `limits` of sync.yaml, as a flow mapping; none if it is left out. */
  readonly limits?: string;
  /** `changes` of sync.yaml, as a flow mapping; none if it is left out. */
  readonly changes?: string;
  /** Text files of the sync folder that replace or join the usual ones. */
  readonly files?: Readonly<Record<string, string>>;
}

const schemaFile = (name: string, id: string, properties: object, required: string[]): string =>
  JSON.stringify({
    name,
    category: 'custom_schema',
    externalIdField: id,
    schema: { type: 'object', properties, required, additionalProperties: false },
  });

export const text = { type: 'string' };

/** Contents by file name. */
export function filesOf({
  upload = {},
  wait = '0s',
  failOn,
  guard,
  limits,
  changes,
  files = {},
}: SyncSettings): Record<string, string> {
  const uploads = { inDoubtDelay: '1s', batchDeadline: '30s', waitForPending: '5s', batchSize: 100, ...upload };
  return {
    'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }
tenant: { column: shop, values: { n: north, s: south } }
upload: ${JSON.stringify(uploads)}
${changes === undefined ? '' : `changes: ${changes}\n`}${limits === undefined ? '' : `limits: ${limits}\n`}${failOn === undefined ? '' : `failOn: ${failOn}\n`}${guard === undefined ? '' : `guard: ${guard}\n`}`,
    'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields:
  customerId: id
  name: name
  email: email
  status: { column: status, transforms: [{ values: { map: { A: active, P: paused }, otherwise: reject } }] }
`,
    'orders.mapping.yaml': `schema: order
source: { table: shop.orders }
key: [no]
cursor: { column: updated_at, overlap: 0s }
fields:
  orderId: no
  customerId: { ref: customers, column: customer_id, omitNull: true }
  total: total
options: { dependencyWaitTimeout: ${wait} }
`,
    'lines.mapping.yaml': `schema: line
source: { table: shop.lines }
key: [order_no, line]
cursor: { column: updated_at, overlap: 0s }
fields:
  lineId: { template: '{order_no}-{line}' }
  orderId: { ref: orders, column: order_no }
  sku: sku
options: { dependencyWaitTimeout: ${wait} }
`,
    'customer.schema.json': schemaFile(
      'customer',
      'customerId',
      { customerId: text, name: text, email: { type: 'string', format: 'email' }, status: text },
      ['customerId'],
    ),
    'order.schema.json': schemaFile(
      'order',
      'orderId',
      { orderId: text, customerId: { $ref: 'customer' }, total: { type: 'number' } },
      ['orderId'],
    ),
    'line.schema.json': schemaFile('line', 'lineId', { lineId: text, orderId: { $ref: 'order' }, sku: text }, [
      'lineId',
      'orderId',
    ]),
    ...files,
  };
}

/** Customers with blanks around their id: a look-up by value cannot be sure that there is no such customer. */
export const UNSURE_CUSTOMERS = {
  'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
fields: { customerId: { column: name, transforms: [trim] } }
`,
};
