/** docs/mapping.md is the language: every example in it is loaded, checked and run. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SourceType } from '../../src/domain/source/source.js';
import { checkColumns } from '../../src/mapping/compile/check-columns.js';
import { compileMapping } from '../../src/mapping/compile/compile-mapping.js';
import { runExamples } from '../../src/mapping/check/run-examples.js';
import { loadSync } from '../../src/mapping/load-sync.js';
import { TRANSFORMS } from '../../src/mapping/transforms/registry.js';
import { columns, definition, ENV, lint, syncFolder } from './sync-on-disk.js';

const text = readFileSync(new URL('../../docs/mapping.md', import.meta.url), 'utf8');
/** Prettier pads the cells of tables. */
const tables = text.replace(/ +\|/g, ' |').replace(/\| +/g, '| ');
const highWatermarks = [...text.matchAll(/```(yaml|json) (\w+)\n([\s\S]*?)```/g)].map(([, , use, body]) => ({
  use: use!,
  body: body!,
}));
const person = highWatermarks.find((highWatermark) => highWatermark.use === 'definition')!.body;
const people = (fields: string) =>
  `schema: person\nsource: { table: people }\nkey: [id]\n${fields.replace('fields:\n', 'fields:\n  personId: id\n')}`;
const companies = {
  'companies.mapping.yaml': 'schema: company\nsource: { table: companies }\nkey: [id]\nfields: { companyId: id }\n',
  'company.schema.json': definition('company', { companyId: { type: 'string' } }),
};
const TABLE = columns(
  Object.fromEntries(
    [...tables.matchAll(/\| (\w+) \| (\w+) \| (\w+) \| (\w+) \|/g)]
      .filter(([, name]) => name !== 'Column')
      .flatMap(([, a, typeOfA, b, typeOfB]) => [
        [a, typeOfA],
        [b, typeOfB],
      ]),
  ) as Record<string, SourceType>,
);

interface DocumentedRow {
  row: Record<string, string | null>;
  record?: object;
  rejected?: string;
}

describe('the page about the mapping language', () => {
  it.each(highWatermarks.filter((highWatermark) => highWatermark.use === 'sync'))(
    'shows a sync.yaml that loads',
    async ({ body }) => {
      const url = 'https://alerts.example.com/secret';
      const alerts = { ALERT_URL: url, SLACK_URL: url, PING_URL: url };
      const { findings } = await lint({ 'sync.yaml': body }, { ...ENV, ...alerts });
      expect(findings).toEqual([]);
    },
  );

  it.each(highWatermarks.filter((highWatermark) => highWatermark.use === 'mapping'))(
    'shows a mapping that loads',
    async ({ body }) => {
      const { findings } = await lint({ 'people.mapping.yaml': body, 'person.schema.json': person });
      expect(findings).toEqual([]);
    },
  );

  it.each(highWatermarks.filter((highWatermark) => highWatermark.use === 'cursor'))(
    'shows a cursor that the table has: $body',
    async ({ body }) => {
      const kinds = async (cursor: string): Promise<string[]> => {
        const files = {
          'people.mapping.yaml': people(`${cursor}\nfields:\n  name: name\n`),
          'person.schema.json': person,
        };
        const { findings, sync } = await lint(files);
        expect(findings).toEqual([]);
        return checkColumns(sync!.mappings[0]!, sync!.tenant, TABLE).map(({ kind }) => kind);
      };
      expect(await kinds(body)).toEqual([]);
      expect(await kinds(body.replace(/, zone: [\w/]+/, ''))).toEqual(['cursor_type']);
    },
  );

  it('shows examples of the mapping that pass', async () => {
    const body = (use: string) => highWatermarks.find((highWatermark) => highWatermark.use === use)!.body;
    const folder = syncFolder({
      'people.mapping.yaml': body('mapping'),
      'people.examples.yaml': body('examples'),
      'person.schema.json': person,
    });
    const { spec: sync } = await loadSync(folder, 'shop', ENV);
    const result = await runExamples(folder, 'shop/people.examples.yaml', sync.mappings[0]!, sync.tenant);
    expect(result).toEqual({ passed: 2, findings: [] });
  });

  const examples = highWatermarks.flatMap((highWatermark, index) =>
    highWatermark.use === 'example' ? [{ fields: highWatermark.body, rows: highWatermarks[index + 1]! }] : [],
  );
  it.each(examples)('shows the result of its example: $fields', async ({ fields, rows }) => {
    const { findings, sync } = await lint({
      'people.mapping.yaml': people(fields),
      'person.schema.json': person,
      ...companies,
    });
    expect(findings).toEqual([]);
    const mapping = sync!.mappings.find(({ name }) => name === 'people')!;
    expect(checkColumns(mapping, sync!.tenant, TABLE)).toEqual([]);
    const compiled = compileMapping(mapping, sync!.tenant, TABLE);
    for (const { row, record, rejected } of JSON.parse(rows.body) as DocumentedRow[]) {
      const values = compiled.columns.map((name) => row[name] ?? (name === 'id' ? '1' : null));
      const result = compiled.map(values);
      if (result.kind === 'failed') expect(result.rule).toBe(rejected);
      else {
        const { personId: _id, ...data } = result.data;
        // Columns that the row does not name are NULL; what the page leaves out of a rejected row does not matter.
        expect(data).toEqual(record);
      }
    }
  });

  it('lists every transform with its description and options', () => {
    for (const { name, description, options } of TRANSFORMS.values()) {
      const names = Object.keys(options.properties).map((option) => `\`${option}\``);
      expect(
        tables.includes(`| \`${name}\` | ${description} |${names.length > 0 ? ` ${names.join(', ')}` : ''}`),
        name,
      ).toBe(true);
    }
  });
});
