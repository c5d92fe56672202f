/** Examples beside a mapping: what passes, what fails and where, and how recording masks real rows. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatFinding } from '../../src/domain/sync/finding.js';
import { runExamples, type ExampleRow, type ExamplesFile } from '../../src/mapping/check/run-examples.js';
import { loadSync } from '../../src/mapping/load-sync.js';
import { makeExamples, maskedValue } from '../../src/mapping/check/make-examples.js';
import { columns, definition, ENV, syncFolder } from './sync-on-disk.js';

const MAPPING = `schema: person
source: { table: people }
key: [id]
fields:
  personId: id
  email: { column: email, transforms: [trim, lowercase, emptyToNull] }
  level: { column: level, transforms: [{ values: { map: { G: gold, S: silver } } }] }
`;
const SCHEMA = definition('person', {
  personId: { type: 'string' },
  email: { type: 'string', format: 'email' },
  level: { type: 'string' },
});
const HEAD = 'columns: { id: integer, email: text, level: text }\nexamples:\n';

async function test(examples: string): Promise<{ passed: number; findings: string[] }> {
  const folder = syncFolder({
    'people.mapping.yaml': MAPPING,
    'person.schema.json': SCHEMA,
    'people.examples.yaml': examples,
  });
  const { spec: sync } = await loadSync(folder, 'shop', ENV);
  const result = await runExamples(folder, 'shop/people.examples.yaml', sync.mappings[0]!, sync.tenant);
  return { passed: result.passed, findings: result.findings.map(formatFinding) };
}

describe('examples beside a mapping', () => {
  it('pass if the row gives the expected record or rejection', async () => {
    const text = `${HEAD}  - row: { id: '7', email: ' A@B.org', level: G }
    tenant: tenant-a
    record: { level: gold, personId: '7', email: a@b.org }
  - row: { id: '7', email: nobody }
    rejected: { pointer: /email, rule: 'format: email' }
  - row: { id: '8' }
    record: { personId: '8', email: null, level: null }
`;
    expect(await test(text)).toEqual({ passed: 3, findings: [] });
  });

  it.each([
    [
      'another value, and a field too many',
      "row: { id: '7', level: G }\n    record: { personId: '7', email: null, level: silver, name: A }",
      'example_failed examples[0]: /level: expected "silver", got "gold"; /name: expected "A", got no such field',
    ],
    [
      'a field that is not expected',
      "title: an id alone\n    row: { id: '7' }\n    record: { personId: '7', level: null }",
      'example_failed examples[0]: an id alone: /email: expected no such field, got null',
    ],
    [
      'a rejection in place of a record',
      "row: { id: '7', level: X }\n    record: { personId: '7' }",
      'expected a record, got a rejection: /level not one of the listed values (transform: values)',
    ],
    [
      'a record in place of a rejection',
      "row: { id: '7' }\n    rejected: { pointer: /email, rule: 'format: email' }",
      'expected a rejection (format: email), got the record {"personId":"7","email":null,"level":null}',
    ],
    [
      'another rejection',
      "row: { id: '7', level: X }\n    rejected: { pointer: /email, rule: 'format: email' }",
      'expected /email to break "format: email", got /level: "transform: values"',
    ],
    [
      'another tenant',
      "row: { id: '7' }\n    tenant: tenant-b\n    record: { personId: '7', email: null, level: null }",
      'expected the tenant tenant-b, got tenant-a',
    ],
    ['a column that is not described', "row: { id: '7', mail: x }\n    record: {}", 'the row has a column "mail"'],
    [
      'a number without quotes',
      'row: { id: 7 }\n    record: {}',
      'wrong_type examples[0].row.id: must be text in quotes',
    ],
  ])('fail with %s', async (_title, example, message) => {
    const { passed, findings } = await test(`${HEAD}  - ${example}\n`);
    expect(passed).toBe(0);
    expect(findings).toEqual([expect.stringContaining(message)]);
    expect(findings[0]).toMatch(
      /^shop\/people\.examples\.yaml:3:|^shop\/people\.examples\.yaml:\d+:\d+ error wrong_type/,
    );
  });

  it('report a column that the mapping reads and they do not describe', async () => {
    const { findings } = await test(
      "columns: { id: integer, email: text }\nexamples: [{ row: { id: '7' }, record: {} }]\n",
    );
    expect(findings).toEqual([
      expect.stringContaining('people.examples.yaml:1:1 error columns columns: no column "level"'),
    ]);
  });
});

describe('recording', () => {
  const record = async (existing: string, rows: ExampleRow[]): Promise<string> => {
    const folder = syncFolder({ 'people.mapping.yaml': MAPPING, 'person.schema.json': SCHEMA });
    const { spec: sync } = await loadSync(folder, 'shop', ENV);
    const types = columns({ id: 'integer', email: 'text', level: 'text', secret: 'text' });
    return makeExamples(existing, sync.mappings[0]!, sync.tenant, types, rows);
  };
  const ROW = { id: '4711', email: ' Zoë.Doe7@Example.org', level: 'G', secret: 'Canary' };

  it('masks personal values, keeps declared codes, and produces examples that pass', async () => {
    const text = await record('', [ROW, { ...ROW, level: 'Canary' }]);
    expect((parse(text) as ExamplesFile).examples).toEqual([
      {
        row: { id: '1111', email: ' Xxx.Xxx1@Xxxxxxx.xxx', level: 'G' },
        tenant: 'tenant-a',
        record: { personId: '1111', email: 'xxx.xxx1@xxxxxxx.xxx', level: 'gold' },
      },
      {
        row: { id: '1111', email: ' Xxx.Xxx1@Xxxxxxx.xxx', level: 'Xxxxxx' },
        rejected: { pointer: '/level', rule: 'transform: values' },
      },
    ]);
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../examples.schema.json');
    expect(await test(text)).toEqual({ passed: 2, findings: [] });
  });

  it('masks a date and its time so that they stay valid, and keep their zone', () => {
    expect(maskedValue('1980-01-31', 'date')).toBe('1980-11-11');
    expect(maskedValue('1980-12-31 23:59:58.5', 'timestamp')).toBe('1980-11-11 11:11:11.1');
    expect(maskedValue('1980-12-31 23:59:58+05:30', 'timestamptz')).toBe('1980-11-11 11:11:11+05:30');
    expect(maskedValue('23:59:58', 'time')).toBe('11:11:11');
  });

  it('leaves a file alone that cannot be parsed', async () => {
    await expect(record('columns: [a\n', [ROW])).rejects.toThrow('the examples of people cannot be read');
  });

  it('adds to existing examples, and keeps their comments', async () => {
    const before = `${HEAD}  # the usual\n  - row: { id: '8' }\n    record: { personId: '8', email: null, level: null }\n`;
    const text = await record(before, [ROW]);
    expect(text).toContain('# the usual');
    expect(await test(text)).toEqual({ passed: 2, findings: [] });
  });
});
