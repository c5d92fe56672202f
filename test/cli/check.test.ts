/** `check` against a live source: what real rows show about a mapping, before anything is sent. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/domain/sync/finding.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { runInProcess } from './in-process.js';

let source: Database;
let folder: string;

beforeAll(async () => {
  source = await createDatabase();
  folder = mkdtempSync(join(tmpdir(), 'check-test-'));
  mkdirSync(join(folder, 'shop'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await source.drop();
});

const MAPPING = `schema: person
source: { table: people }
key: [id]
fields:
  personId: id
  email: email
  level: level
`;
const SCHEMA = {
  name: 'person',
  category: 'custom_schema',
  externalIdField: 'personId',
  schema: {
    type: 'object',
    properties: {
      personId: { type: 'string' },
      email: { type: 'string', format: 'email' },
      level: { type: 'string', enum: ['gold', 'silver'] },
    },
    required: ['personId', 'level'],
    additionalProperties: false,
  },
};
const write = (file: string, text: string): void => writeFileSync(join(folder, 'shop', file), text);

beforeEach(async () => {
  write('sync.yaml', 'source: { connection: "${env:SOURCE_URL}" }\ntenant: north\n');
  write('people.mapping.yaml', MAPPING);
  write('person.schema.json', JSON.stringify(SCHEMA));
  await source.query('DROP TABLE IF EXISTS people CASCADE');
  await source.query(`CREATE TABLE people (id integer PRIMARY KEY, email text, level text NOT NULL);`);
});

const people = (count: number): Promise<unknown> =>
  source.query(
    `INSERT INTO people SELECT i, 'p' || i || '@example.org', 'gold' FROM generate_series(1, ${count}) i; ANALYZE people`,
  );

interface CheckDocument {
  readonly findings: readonly Finding[];
  readonly errors: number;
  readonly warnings: number;
  readonly probes: readonly { mapping: string; rows: number; all: boolean }[];
}
const check = async (...args: string[]): Promise<CheckDocument & { code: number; text: string }> => {
  const end = await runInProcess(['check', 'shop', '--json', ...args], {
    PARTNER_SYNC_MAPPINGS: folder,
    SOURCE_URL: source.url,
  });
  return { ...end.json<CheckDocument>(), code: end.code, text: end.stdout + end.stderr };
};

it('counts the rows that would fail, at the line of the field that causes it, and shows no value', async () => {
  await people(40);
  await source.query(`UPDATE people SET email = 'canary nobody' WHERE id IN (3, 17, 40)`);
  await source.query(`UPDATE people SET level = 'canary bronze' WHERE id = 5`);
  const { findings, code, text, probes } = await check();
  expect(findings.map((f) => [f.severity, f.line, f.path])).toEqual([
    ['warning', 6, 'fields.email'],
    ['warning', 7, 'fields.level'],
  ]);
  expect(findings[0]!.message).toMatch(/^3 of 40 rows: \/email format: email \(.*\); id 3, 17, 40\. They/);
  expect(findings[1]!.message).toMatch(/^1 of 40 rows: \/level enum .*\); id 5\. It/);
  expect(probes).toEqual([{ mapping: 'people', rows: 40, all: true }]);
  expect(code).toBe(0);
  expect(text).not.toContain('canary');
});

it('warns of secrets in files, at their places and without showing them', async () => {
  await people(1);
  const token = ['ghp', 'canary0123456789abcdef'].join('_');
  const { port, pathname } = new URL(source.url);
  const address = `postgres://reader:canary@127.0.0.1:${port}${pathname}`;
  write('sync.yaml', `source:\n  connection: ${address}\ntenant: north\n`);
  write('people.mapping.yaml', `${MAPPING}  level2: { constant: ${token} }\n`);

  const { findings, text } = await check('--offline');

  expect(findings.filter((f) => f.kind === 'secret_in_file').map((f) => [f.severity, f.file, f.line])).toEqual([
    ['warning', 'shop/sync.yaml', 2],
    ['warning', 'shop/people.mapping.yaml', 8],
  ]);
  expect(text).toContain('contains a password in an address');
  expect(text).not.toContain('canary');
});

it('reports an error if every row fails, since the mapping must be wrong', async () => {
  await people(40);
  write('people.mapping.yaml', MAPPING.replace('level: level', 'level: { column: level, transforms: [uppercase] }'));
  const { findings, code } = await check();
  expect(findings.map((f) => [f.severity, f.kind, f.path])).toEqual([['error', 'rows_fail', 'fields.level']]);
  expect(findings[0]!.message).toContain('40 of 40 rows');
  expect(code).toBe(1);
});

it('names at its end the command that explains the most severe finding, once', async () => {
  await people(40);
  const env = { PARTNER_SYNC_MAPPINGS: folder, SOURCE_URL: source.url };
  expect((await runInProcess(['check', 'shop'], env)).stdout).not.toContain('more:');

  await source.query(`UPDATE people SET email = 'nobody' WHERE id = 3`);
  write('people.mapping.yaml', MAPPING.replace('level: level', 'level: { column: level, transforms: [uppercase] }'));
  const { stdout } = await runInProcess(['check', 'shop'], env);

  // The warning of one row's email stands before it.
  expect(stdout.match(/more:.*/g)).toEqual(['more: partner-sync explain-code rows_fail']);
  expect(stdout.trimEnd().endsWith('explain-code rows_fail')).toBe(true);
});

it('calls custom transforms twice with each value, and finds those that are not pure', async () => {
  await people(40);
  const apply = `(value) => (value === 'gold' ? String(Date.now()) : value)`;
  write(
    'level.transform.js',
    `export default { gives: 'text', examples: [{ in: 'silver', out: 'silver' }], apply: ${apply} };\n`,
  );
  write(
    'people.mapping.yaml',
    MAPPING.replace('level: level', 'level: { column: level, transforms: [{ custom: level }] }'),
  );
  const { findings, code } = await check();
  rmSync(join(folder, 'shop', 'level.transform.js'));
  expect(findings).toHaveLength(1);
  expect(findings[0]!.message).toContain(
    '40 of 40 rows: /level transform: level (the transform is not pure: it uses the clock (Date.now);',
  );
  expect(code).toBe(1);
});

it('samples a large table in several places and says how much, or reads all of it on request', async () => {
  await people(3000);
  await source.query(`UPDATE people SET level = 'none' WHERE id > 2900`);
  const some = await check('--probe-rows', '200');
  expect(some.probes).toEqual([{ mapping: 'people', rows: 200, all: false }]);
  expect(some.findings[0]!.message).toMatch(/^\d+ of the 200 rows looked at: \/level enum/);
  const all = await check('--probe-rows', 'all');
  expect(all.findings[0]!.message).toContain('100 of 3,000 rows');
  expect((await check('--probe-rows', '0')).probes).toEqual([]);
});

it('finds keys and external ids that identify more than one row', async () => {
  await source.query(`ALTER TABLE people DROP CONSTRAINT people_pkey`);
  await source.query(`INSERT INTO people VALUES (1, NULL, 'gold'), (1, NULL, 'gold'), (2, NULL, 'silver')`);
  const { findings } = await check();
  const kinds = findings.map((f) => [f.kind, f.line, f.message]);
  expect(kinds).toEqual([
    ['key_not_unique', 3, expect.stringContaining('no primary or unique key of people guarantees')],
    ['key_not_unique', 3, expect.stringContaining('1 of 3 rows has the same key (id) as another; id 1;')],
    ['external_id_not_unique', 5, expect.stringContaining('1 of 3 rows has the same external id as another; id 1;')],
  ]);
});

describe('findings from the catalog of the database', () => {
  const kinds = async (...args: string[]): Promise<string[]> =>
    (await check(...args)).findings.map((f) => `${f.severity} ${f.kind} ${f.line} ${f.path}`);

  it('reports a zone for a cursor that has one of its own', async () => {
    await people(3);
    await source.query(`ALTER TABLE people ADD changed timestamptz DEFAULT now(), ADD local timestamp DEFAULT now()`);
    const cursor = (column: string) =>
      write('people.mapping.yaml', MAPPING.replace('fields:', `cursor: { column: ${column}, zone: UTC }\nfields:`));
    cursor('local');
    expect(await kinds()).toEqual([]);
    cursor('changed');
    expect(await kinds()).toEqual(['warning cursor_zone_unused 4 cursor.zone']);
  });

  it('reports a cursor without an index that begins with it, or without a value in every row', async () => {
    await people(50_000);
    await source.query(`ALTER TABLE people ADD COLUMN changed timestamptz DEFAULT now()`);
    write('people.mapping.yaml', MAPPING.replace('fields:', 'cursor: changed\nfields:'));
    const { findings } = await check();
    expect(findings.map((f) => [f.severity, f.kind, f.line])).toEqual([['warning', 'cursor_not_indexed', 4]]);
    expect(findings[0]!.message).toContain(
      'about 50,000 rows: 25 scans in the first run, and one or more in each run after it: CREATE INDEX people_by_changed_id ON people (changed, id)',
    );

    // Rows that a change feed names are read by their keys.
    write('people.mapping.yaml', MAPPING.replace('fields:', 'cursor: changed\nchanges: { table: fed }\nfields:'));
    expect((await check()).findings.map(({ kind }) => kind)).not.toContain('cursor_not_indexed');

    write('people.mapping.yaml', MAPPING.replace('fields:', 'cursor: changed\nfields:'));
    await source.query(`CREATE INDEX ON people (changed, id)`);
    expect(await kinds()).toEqual([]);

    await source.query(`UPDATE people SET changed = NULL WHERE id <= 7`);
    const withNull = await check();
    expect(withNull.findings[0]!.message).toContain(
      '7 of the 10,000 rows looked at have no value in the cursor changed; id 1, 2, 3 ...',
    );
    write('people.mapping.yaml', MAPPING.replace('fields:', 'cursor: changed\nchanges: { table: fed }\nfields:'));
    expect(await kinds()).toEqual([]);
    expect(withNull.code).toBe(1);
  });

  it('reports an external id without an index if vanished rows are looked up by it', async () => {
    await people(50_000);
    await source.query(`ALTER TABLE people ADD COLUMN code text`);
    await source.query(`UPDATE people SET code = id::text; ALTER TABLE people ALTER code SET NOT NULL`);
    const byCode = MAPPING.replace('personId: id', 'personId: code');
    write('people.mapping.yaml', byCode.replace('fields:', 'deletes: { action: { clear: [email] } }\nfields:'));
    const { findings } = await check();
    expect(findings.map((f) => [f.severity, f.kind, f.line])).toEqual([['warning', 'external_id_not_indexed', 4]]);
    expect(findings[0]!.message).toContain('CREATE INDEX people_by_code ON people (code)');

    await source.query(`CREATE INDEX ON people (code)`);
    expect(await kinds()).toEqual([]);
  });

  it('reports a nullable column for a required field, and a column that is longer than its field', async () => {
    await people(3);
    await source.query(`ALTER TABLE people ALTER level DROP NOT NULL, ALTER email TYPE varchar(200)`);
    const { properties } = SCHEMA.schema;
    write(
      'person.schema.json',
      JSON.stringify({
        ...SCHEMA,
        schema: { ...SCHEMA.schema, properties: { ...properties, email: { type: 'string', maxLength: 100 } } },
      }),
    );
    expect(await kinds()).toEqual(['warning too_long 6 fields.email', 'warning nullable_required 7 fields.level']);
  });

  it('reports a reference that leads elsewhere than the foreign key', async () => {
    await people(3);
    await source.query(`CREATE TABLE pets (id int PRIMARY KEY, owner int REFERENCES people);`);
    await source.query(`ALTER TABLE people ADD COLUMN pet int REFERENCES pets`);
    write('people.mapping.yaml', `${MAPPING}  friend: { ref: others, column: pet }\n`);
    write('others.mapping.yaml', MAPPING.replace('person', 'other').replace('people', 'people_too'));
    await source.query(`CREATE TABLE people_too AS SELECT * FROM people; ALTER TABLE people_too ADD PRIMARY KEY (id)`);
    const friend = { ...SCHEMA.schema.properties, friend: { $ref: 'other' } };
    write('person.schema.json', JSON.stringify({ ...SCHEMA, schema: { ...SCHEMA.schema, properties: friend } }));
    write('other.schema.json', JSON.stringify({ ...SCHEMA, name: 'other' }));
    const { findings } = await check('--probe-rows', '0');
    rmSync(join(folder, 'shop', 'others.mapping.yaml'));
    rmSync(join(folder, 'shop', 'other.schema.json'));
    await source.query(`DROP TABLE people, pets, people_too CASCADE`);
    const elsewhere = findings.filter((f) => f.kind === 'reference_elsewhere');
    expect(elsewhere.map((f) => f.message)).toEqual([
      'by its foreign key pet refers to pets, and the mapping others reads people_too',
    ]);
  });

  it('says what to grant if the account may not read the table', async () => {
    const role = `r_${new URL(source.url).pathname.slice(1)}`;
    await source.query(`CREATE ROLE ${role} LOGIN PASSWORD 'r'; GRANT SELECT (id) ON people TO ${role}`);
    const url = Object.assign(new URL(source.url), { username: role, password: 'r' }).href;
    const { json } = await runInProcess(['check', 'shop', '--json'], {
      PARTNER_SYNC_MAPPINGS: folder,
      SOURCE_URL: url,
    });
    await source.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    expect(json<CheckDocument>().findings[0]!.message).toBe(
      `the account may not read people: GRANT SELECT ON people TO ${role}`,
    );
  });
});
