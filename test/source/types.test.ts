/** Values arrive exactly, whatever their type; docs/types.md is generated from the same cases. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { format } from 'oxfmt';
import type { Source } from '../../src/domain/source/source.js';
import { here, TEST_DIALECTS, type TestDatabase } from './dialect-databases.js';
import { typeOfCode } from '../../src/source/mssql/types.js';
import { ALL, open, plan } from './reading.js';
import { SETUP, TYPE_CASES, type DeadLetter, type TypeCase } from './type-cases.js';

for (const dialect of here(TEST_DIALECTS))
  describe(dialect.name, () => {
    let database: TestDatabase;
    let source: Source;
    beforeAll(async () => {
      database = await dialect.create();
      source = open(database.url, 30);
      await database.run(SETUP[dialect.name]);
    });
    afterAll(async () => {
      await source?.close();
      await database?.drop();
    });
    for (const [no, { ddl, holding, kind, values }] of TYPE_CASES[dialect.name].entries())
      it(`${ddl === '' ? 'a column without a type' : ddl}${holding === undefined ? '' : `, ${holding}`} arrives as ${kind}, exactly`, async () => {
        await database.run(`CREATE TABLE t${no} (id int PRIMARY KEY, v ${ddl})`);
        for (const [i, [literal]] of values.entries())
          await database.run(`INSERT INTO t${no} VALUES (${i}, ${literal})`);
        await database.run(`INSERT INTO t${no} VALUES (${values.length}, NULL)`);
        const page = await source.readPage(plan(`t${no}`, ['id'], null, ['v']), ALL, 100);
        expect(page.columns[1]!.type).toBe(kind);
        const texts = [...values.map(([, text]) => text), null];
        // Comparing a megabyte by its length first keeps a failure readable.
        expect([...page.rows].map(([, v]) => v?.length ?? null)).toEqual(texts.map((t) => t?.length ?? null));
        expect([...page.rows].map(([, v]) => v)).toEqual(texts);
      });
  });

it('has an up-to-date docs/types.md (npx vitest run test/source/types.test.ts -u writes it)', async () => {
  const file = new URL('../../docs/types.md', import.meta.url).pathname;
  await expect((await format(file, page(), { printWidth: 120 })).code).toMatchFileSnapshot(file);
});

function page(): string {
  const parts = Object.entries(TYPE_CASES).map(([name, cases]) => `## ${name}\n\n${tableOf(cases)}`);
  return `# Types

This page shows what each column type of the source becomes. A value is read exactly, as the database's own text, and the mapping
converts it to JSON exactly; otherwise the row becomes a dead letter that says why. The kind determines what a mapping can do with a
value ([the mapping language](mapping.md)).

The tables show how each value is read, the field that \`init\` drafts for its column, and the value on the platform. Two tests
check them against real databases, except for SQL Server. \`test/source/types.test.ts\` reads the values, and
\`test/pipeline/types.test.ts\` syncs them with the mapping that \`init\` drafts. The values are in \`test/source/type-cases.ts\`.

\`init\` also looks at the values, in up to 1,000 rows of a table. It maps numbers that a JSON number would round to text, values of 16
bytes to UUIDs, and the texts and numbers that SQLite uses for timestamps to \`date-time\`. Types that are not listed cannot be
converted: \`init\` leaves their columns out, and says so in the mapping.

${parts.join('\n\n')}

## SQL Server

SQL Server is untested, because no server was available. The table shows how each value is queried, not what a server returned. A
\`rowversion\` column can be a cursor. A type that is not read at all must be CAST in a query.

${untestedTable()}
`;
}

/** Types of SQL Server as the driver's metadata, and the expression that reads them. */
const UNTESTED = [
  ...['tinyint', 'smallint', 'int', 'bigint', 'decimal/12/2', 'money', 'smallmoney', 'real', 'float', 'bit', 'date'],
  ...['time//7', 'datetime', 'smalldatetime', 'datetime2//7', 'datetimeoffset//7', 'uniqueidentifier', 'rowversion'],
  ...['binary///8', 'varbinary///65535', 'nchar///10', 'nvarchar///100', 'nvarchar///65535', 'varchar///50/0'],
  ...['varchar///50/52', 'text', 'ntext', 'xml', 'image', 'sql_variant', 'udt'],
];

function untestedTable(): string {
  const rows = UNTESTED.map((code) => {
    const { type, databaseType, select, order } = typeOfCode(`${code}////`);
    const old = order === undefined ? '' : ' of a collation whose name begins with SQL_';
    return `| \`${databaseType}\`${old} | ${type} | ${type === 'other' ? 'not at all' : `\`${select?.('c') ?? 'c'}\``} |`;
  });
  return ['| Column | Kind | How column c is read |', '| --- | --- | --- |', ...rows].join('\n');
}

function tableOf(cases: readonly TypeCase[]): string {
  const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 20)}… (${text.length} characters)` : text);
  const code = (json: string): string => `\`\` ${json.replaceAll('|', '\\|')} \`\``;
  const shown = (text: string): string => code(JSON.stringify(cut(text).toWellFormed()).slice(1, -1));
  const sent = (record: TypeCase['values'][number][2]): string => {
    if (record === undefined) return 'left out';
    if (typeof record === 'object' && record !== null && 'deadLetter' in record)
      return `dead letter: ${(record as DeadLetter).deadLetter}`;
    return code(JSON.stringify(typeof record === 'string' ? cut(record) : record));
  };
  const rows = cases.map(({ ddl, holding, kind, drafted, values, note = '' }) => {
    const column = `${ddl === '' ? 'none' : `\`${ddl}\``}${holding === undefined ? '' : `, ${holding}`}`;
    const ways = values.map(([literal, text, record]) => `${shown(literal)} → ${shown(text)} → ${sent(record)}`);
    return `| ${column} | ${kind} | ${ways.join('<br>')} | ${drafted === null ? 'none' : `\`${drafted}\``} | ${note} |`;
  });
  const head = '| Column | Kind | A value, how it is read, and what the platform has | Field that `init` drafts | |';
  return [head, '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}
