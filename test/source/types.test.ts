/** Values arrive exactly, whatever their type; docs/types.md is written from the same cases. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { format, resolveConfig } from 'prettier';
import type { Source } from '../../src/domain/source.js';
import { here, mariadb, postgres, sqlite, type TestDatabase } from './dialect-databases.js';
import { typeOfCode } from '../../src/source/mssql/types.js';
import { ALL, open, plan } from './reading.js';
import { SETUP, TYPE_CASES, type DeadLetter, type TypeCase } from './type-cases.js';

for (const dialect of here([postgres, mariadb, sqlite]))
  describe(dialect.name, () => {
    let database: TestDatabase;
    let source: Source;
    beforeAll(async () => {
      database = await dialect.create();
      source = open(database.url, 30);
      await database.run(SETUP[dialect.name as keyof typeof SETUP]);
    });
    afterAll(async () => {
      await source?.close();
      await database?.drop();
    });
    for (const [no, { ddl, holding, kind, values }] of TYPE_CASES[dialect.name as keyof typeof TYPE_CASES].entries())
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

it('docs/types.md says so (npx vitest run test/source/types.test.ts -u writes it)', async () => {
  const file = new URL('../../docs/types.md', import.meta.url).pathname;
  const config = await resolveConfig(file);
  await expect(await format(page(), { ...config, filepath: file })).toMatchFileSnapshot(file);
});

function page(): string {
  const parts = Object.entries(TYPE_CASES).map(([name, cases]) => `## ${name}\n\n${tableOf(cases)}`);
  return `# Types

What a column of the source becomes. A value arrives as the database's own text, exactly, and a mapping turns it into JSON, exactly, or
the row is a dead letter that says why. The kind decides what a mapping can do with it ([the mapping language](mapping.md)).

Each value below was written to a real database. The tables show how it is read, the field that \`init\` drafts for its column, and what
the platform then has. Two tests hold these pages to that: \`test/source/types.test.ts\` reads the values, and
\`test/pipeline/types.test.ts\` takes them the whole way, from the draft of \`init\` to the record (\`test/source/type-cases.ts\`).

\`init\` looks at up to 1,000 rows of a table. Numbers that a JSON number would round become text, 16 bytes a UUID, and the texts and
numbers that SQLite has for points in time \`date-time\`. Types that are not named here have no conversion: \`init\` leaves their columns
out, and says so in the mapping.

${parts.join('\n\n')}

## SQL Server

Untested: no server was to be had. What stands here is how each value is asked for, not what a server answered. \`rowversion\` may be a
cursor; a column of another type must be CAST in a query.

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
