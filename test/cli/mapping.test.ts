/** `mapping test` as an engineer uses it: examples recorded from a live source, then run without it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { build } from '../pipeline/worker-process.js';
import { partnerSync } from './command-line.js';

let source: Database;
let folder: string;
const write = (file: string, text: string): void => writeFileSync(join(folder, 'shop', file), text);

beforeAll(async () => {
  await build();
  source = await createDatabase();
  folder = mkdtempSync(join(tmpdir(), 'mapping-command-'));
  mkdirSync(join(folder, 'shop'));
  write('sync.yaml', 'source: { client: pg, connection: "${env:SOURCE_URL}" }\ntenant: north\n');
  write(
    'people.mapping.yaml',
    'schema: person\nsource: { table: people }\nkey: [id]\nfields:\n  personId: id\n  email: { column: email, transforms: [lowercase] }\n',
  );
  write(
    'person.schema.json',
    JSON.stringify({
      name: 'person',
      category: 'custom_schema',
      externalIdField: 'personId',
      schema: {
        type: 'object',
        properties: { personId: { type: 'string' }, email: { type: 'string', format: 'email' } },
      },
    }),
  );
  await source.query(`CREATE TABLE people (id integer PRIMARY KEY, email text);
    INSERT INTO people VALUES (4711, 'Anna.Canary@Example.org'), (4712, 'canary'), (4713, NULL)`);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await source.drop();
});

const mappingTest = (url: string, ...args: string[]) =>
  partnerSync(['mapping', 'test', 'shop', ...args], { PARTNER_SYNC_MAPPINGS: folder, SOURCE_URL: url });
const NOWHERE = 'postgres://nobody@127.0.0.1:1/none';

it('records masked rows, runs them without the source, and names what a changed mapping breaks', async () => {
  const before = await mappingTest(NOWHERE);
  expect([before.code, before.stdout]).toEqual([0, 'people: no examples; use --record 3 to write some\n']);

  const recorded = await mappingTest(source.url, '--record', '2');
  expect([recorded.code, recorded.stdout]).toEqual([0, 'people: 2 passed, 0 failed\n']);
  const text = readFileSync(join(folder, 'shop', 'people.examples.yaml'), 'utf8');
  expect(text).toContain('email: xxxx.xxxxxx@xxxxxxx.xxx');
  expect(text).toContain('rule: "format: email"');
  expect(text).not.toMatch(/anna|canary|471/i);

  const mapping = readFileSync(join(folder, 'shop', 'people.mapping.yaml'), 'utf8');
  write('people.mapping.yaml', mapping.replace('lowercase', 'uppercase'));
  const broken = await mappingTest(NOWHERE, '--json');
  expect(broken.code).toBe(1);
  expect(broken.json()).toMatchObject({ mappings: [{ mapping: 'people', passed: 1, failed: 1 }] });
  expect(broken.stdout).toContain('/email: expected');
});

it('names a mapping that does not exist', async () => {
  const end = await mappingTest(NOWHERE, '--mapping', 'peple');
  expect([end.code, end.stderr]).toEqual([2, expect.stringContaining('did you mean "people"?')]);
});
