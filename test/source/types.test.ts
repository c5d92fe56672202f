/** Values arrive exactly, whatever their type; docs/types.md is written from the same cases. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { format, resolveConfig } from 'prettier';
import type { Source } from '../../src/domain/source.js';
import { here, mariadb, postgres, sqlite, type TestDatabase } from './dialect-databases.js';
import { typeOfCode } from '../../src/source/mssql/types.js';
import { ALL, open, plan } from './reading.js';
import { TYPE_CASES, type TypeCase } from './type-cases.js';

for (const dialect of here([postgres, mariadb, sqlite]))
  describe(dialect.name, () => {
    let database: TestDatabase;
    let source: Source;
    beforeAll(async () => {
      database = await dialect.create();
      source = open(database.url, 30);
      // Zero dates are refused by new servers and there in old ones.
      if (dialect === mariadb) await database.run(`SET sql_mode = ''`);
    });
    afterAll(async () => {
      await source?.close();
      await database?.drop();
    });
    for (const [no, { ddl, kind, values }] of TYPE_CASES[dialect.name as keyof typeof TYPE_CASES].entries())
      it(`${ddl === '' ? 'a column without a type' : ddl} arrives as ${kind}, exactly`, async () => {
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

Written from the tests of the dialects (\`test/source/type-cases.ts\`), which read each value below from a real database.

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
  const shown = (text: string): string => {
    const short = text.length > 60 ? `${text.slice(0, 20)}… (${text.length} characters)` : text;
    return `\`\` ${JSON.stringify(short.toWellFormed()).slice(1, -1).replaceAll('|', '\\|')} \`\``;
  };
  const rows = cases.map(
    ({ ddl, kind, values, note = '' }) =>
      `| ${ddl === '' ? 'none' : `\`${ddl}\``} | ${kind} | ${values.map(([literal, text]) => `${shown(literal)} → ${shown(text)}`).join('<br>')} | ${note} |`,
  );
  return ['| Column | Kind | A value and how it arrives | |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
