/** The same values become the same JSON, whichever database they come from and in whatever form its driver hands them over. */
import { expect, it, onTestFinished } from 'vitest';
import { loadSync } from '../../src/mapping/load-sync.js';
import { ChunkBuilder } from '../../src/reading/chunk-builder.js';
import { prepareMapping } from '../../src/reading/prepared-mapping.js';
import { openReader } from '../../src/reading/reader.js';
import { definition, syncFolder } from '../mapping/sync-on-disk.js';
import { here, TEST_DIALECTS } from '../source/dialect-databases.js';
import { ALL } from '../source/reading.js';

/** How a point in time is declared and written, and what a mapping needs to read it. */
const INSTANTS = {
  PostgreSQL: { type: 'timestamptz', zone: '+00', field: 'placed' },
  MariaDB: { type: 'timestamp(6) NULL', zone: '', field: 'placed' },
  MySQL: { type: 'timestamp(6) NULL', zone: '', field: 'placed' },
  SQLite: { type: 'timestamp', zone: '', field: '{ column: placed, transforms: [{ dateTime: { zone: UTC } }] }' },
} as const;

/** The values of a row as SQL writes them, but for the instant, and the record that they make. */
const ROWS: readonly (readonly [values: string, placed: string | null, record: string])[] = [
  [
    `1, 'plain', 12.50, TRUE, '2012-02-29', 'a note'`,
    '2010-12-01 08:26:00.123456',
    '"name":"plain","total":12.5,"paid":true,"day":"2012-02-29","placed":"2010-12-01T08:26:00.123456Z","note":"a note"',
  ],
  [
    `2, 'say "hi" \t', -0.05, FALSE, '2011-12-31', ' UPPER '`,
    '2012-02-29 23:59:59',
    '"name":"say \\"hi\\" \\t","total":-0.05,"paid":false,"day":"2011-12-31","placed":"2012-02-29T23:59:59Z","note":"upper"',
  ],
  [
    `3, 'Zoë 😀', 0.00, NULL, NULL, ''`,
    '2020-01-31 00:00:00.120',
    '"name":"Zoë 😀","total":0,"paid":null,"day":null,"placed":"2020-01-31T00:00:00.12Z","note":""',
  ],
  [
    `4, NULL, NULL, TRUE, '1999-01-01', NULL`,
    null,
    '"name":null,"total":null,"paid":true,"day":"1999-01-01","placed":null,"note":null',
  ],
  [
    `5, '${'long '.repeat(300)}', 9999999999.99, TRUE, '2100-02-28', 'É'`,
    '1999-12-31 00:00:00',
    `"name":"${'long '.repeat(300)}","total":9999999999.99,"paid":true,"day":"2100-02-28","placed":"1999-12-31T00:00:00Z","note":"é"`,
  ],
];

const SCHEMA = {
  orderId: { type: 'string' },
  name: { type: 'string' },
  total: { type: 'number' },
  paid: { type: 'boolean' },
  day: { type: 'string', format: 'date' },
  placed: { type: 'string', format: 'date-time' },
  note: { type: 'string' },
};

it.each(here(TEST_DIALECTS).flatMap((dialect) => [true, false].map((proven) => ({ dialect, proven }))))(
  '$dialect.name, with a schema whose rules plans prove: $proven',
  async ({ dialect, proven }) => {
    const database = await dialect.create();
    onTestFinished(() => database.drop());
    const { type, zone, field } = INSTANTS[dialect.name];
    if (dialect.speaks === 'mysql') await database.run(`SET time_zone = '+00:00'`);
    await database.run(
      `CREATE TABLE orders (id int PRIMARY KEY, name varchar(2000), total decimal(12, 2), paid boolean, day date, note text, placed ${type})`,
    );
    for (const [values, placed] of ROWS)
      await database.run(`INSERT INTO orders VALUES (${values}, ${placed === null ? 'NULL' : `'${placed}${zone}'`})`);

    const { schema, ...rest } = JSON.parse(definition('order', SCHEMA, ['orderId'])) as { schema: object };
    const folder = syncFolder({
      'sync.yaml': 'source:\n  connection: ${env:SHOP_URL}\ntenant: tenant-a\n',
      'people.mapping.yaml': null,
      'person.schema.json': null,
      'orders.mapping.yaml': `schema: order
source: { table: orders }
key: [id]
fields:
  orderId: id
  name: name
  total: total
  paid: paid
  day: day
  placed: ${field}
  note: { column: note, transforms: [trim, lowercase] }
`,
      'order.schema.json': JSON.stringify({ ...rest, schema: { ...schema, ...(proven ? {} : { minProperties: 2 }) } }),
    });
    const { spec } = await loadSync(folder, 'shop', { SHOP_URL: database.url });
    if (spec.tenant.kind === 'table') throw new Error('the tenant is in the file');
    const reading = prepareMapping(spec.mappings[0]!, spec.tenant);
    const { source } = openReader(spec.source);
    onTestFinished(() => source.close());
    const chunk = new ChunkBuilder('1');
    chunk.add(await source.readPage(reading.plan, ALL, 100), reading, 1);
    const { records, failedRows } = chunk.finish('2');
    expect([...failedRows]).toEqual([]);
    expect(records.map(({ json }) => json)).toEqual(ROWS.map(([, , json], i) => `{"orderId":"${i + 1}",${json}}`));
    expect(records.map(({ externalId, sourceKey }) => [externalId, ...sourceKey])).toEqual(
      ROWS.map((_, i) => [`${i + 1}`, `${i + 1}`]),
    );
  },
);
