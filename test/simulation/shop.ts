/** The shop of the simulation: its tables, its mappings, and what the platform must have in the end. */
import type { Row, SourceModel, SourceTableModel } from './source-model.js';
import { storedKey, type SchemaModel } from './platform-model.js';

/** The name of its sync. */
export const SYNC = 'shop';

export const TENANTS: Readonly<Record<string, string>> = { n: 'north', s: 'south', w: 'west' };

const column = (name: string, type: 'text' | 'timestamptz' = 'text') => ({ name, type, databaseType: type });
const table = (key: string[], ...others: string[]): SourceTableModel => ({
  key,
  columns: [...key, ...others, 'name', 'email'].map((name) => column(name)).concat(column('updated_at', 'timestamptz')),
});

export const TABLES: Readonly<Record<string, SourceTableModel>> = {
  customers: table(['shop', 'id']),
  orders: table(['shop', 'no'], 'customer_id'),
  lines: table(['shop', 'line'], 'order_no'),
};

/** For each table: its schema, its external id's column and field, and its parent's table, column and field. */
export const SHAPES = {
  customers: { schema: 'customer', column: 'id', field: 'customerId', parent: null },
  orders: {
    schema: 'order',
    column: 'no',
    field: 'orderId',
    parent: { table: 'customers', column: 'customer_id', field: 'customerId' },
  },
  lines: {
    schema: 'line',
    column: 'line',
    field: 'lineId',
    parent: { table: 'orders', column: 'order_no', field: 'orderId' },
  },
} as const;
export type TableName = keyof typeof SHAPES;

export const SCHEMAS: Readonly<Record<string, SchemaModel>> = Object.fromEntries(
  Object.values(SHAPES).map(({ schema, field, parent }) => [
    schema,
    { externalId: field, references: parent === null ? {} : { [parent.field]: SHAPES[parent.table].schema } },
  ]),
);

/** How the sync is set up, drawn by each seed. */
export interface ShopSettings {
  readonly batchSize: number;
  readonly requestsAtOnce: number;
  readonly inDoubtDelay: number;
  readonly batchDeadline: number;
  readonly waitForPending: number;
  readonly dependencyWait: number;
  readonly overlap: number;
  readonly guard: string | null;
  /** Whether a change feed tells which rows have changed. */
  readonly isFed: boolean;
}

/** The files of the sync, by their names. */
export function filesOfShop(settings: ShopSettings): Record<string, string> {
  const files: Record<string, string> = {
    'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }
tenant: { column: shop, values: ${JSON.stringify(TENANTS)} }
upload:
  batchSize: ${settings.batchSize}
  requestsAtOnce: ${settings.requestsAtOnce}
  inDoubtDelay: ${settings.inDoubtDelay}s
  batchDeadline: ${settings.batchDeadline}s
  waitForPending: ${settings.waitForPending}s
${settings.guard === null ? '' : `guard: ${settings.guard}\n`}${settings.isFed ? 'changes: { slot: changes, publication: changes }\n' : ''}`,
  };
  for (const [name, { schema, column, field, parent }] of Object.entries(SHAPES)) {
    files[`${name}.mapping.yaml`] = `schema: ${schema}
source: { table: ${name} }
key: [${TABLES[name]!.key.join(', ')}]
cursor: { column: updated_at, overlap: ${settings.overlap}s }
deletes: { action: { set: { status: deleted }, clear: [email] }, hold: { records: 100000, percent: 100 } }
fields:
  ${field}: ${column}
${parent === null ? '' : `  ${parent.field}: { ref: ${parent.table}, column: ${parent.column} }\n`}  name: name
  email: email
  status: { constant: active }
options: { dependencyWaitTimeout: ${settings.dependencyWait}s }
`;
    const text = { type: 'string' };
    files[`${schema}.schema.json`] = JSON.stringify({
      name: schema,
      category: 'custom_schema',
      externalIdField: field,
      schema: {
        type: 'object',
        properties: {
          [field]: text,
          ...(parent === null ? {} : { [parent.field]: { $ref: SHAPES[parent.table].schema } }),
          name: { type: 'string', maxLength: 60 },
          email: { type: 'string', format: 'email' },
          status: text,
        },
        required: [field, 'name'],
        additionalProperties: false,
      },
    });
  }
  return files;
}

/** The version in a name such as `n v17`. */
export const versionOf = (name: unknown): number => Number(/ v(\d+)/.exec(String(name))?.[1] ?? Number.NaN);
export const shopOf = (name: unknown): string => String(name).slice(0, 1);

/** Why a row's record must not be on the platform, by its name; null if it must be. */
export function faultOf(row: Row): string | null {
  const name = row['name'];
  if (name === null || name === undefined || name.length > 60) return 'invalid';
  if (name.includes('REFUSE')) return 'refused';
  if (name.includes('REJECT')) return 'rejected';
  return null;
}

/** What the platform must have of the rows that can be delivered: records without their status, by their keys. */
export function expectedRecords(source: SourceModel): Map<string, Record<string, string>> {
  const expected = new Map<string, Record<string, string>>();
  for (const [name, { schema, column, field, parent }] of Object.entries(SHAPES))
    for (const row of source.rows(name).values()) {
      const tenant = TENANTS[row['shop']!];
      if (tenant === undefined || faultOf(row) !== null) continue;
      if (parent !== null && !expected.has(storedKey(tenant, SHAPES[parent.table].schema, row[parent.column]!)))
        continue;
      expected.set(storedKey(tenant, schema, row[column]!), {
        [field]: row[column]!,
        ...(parent === null ? {} : { [parent.field]: row[parent.column]! }),
        name: row['name']!,
        ...(row['email'] == null ? {} : { email: row['email'] }),
        status: 'active',
      });
    }
  return expected;
}
