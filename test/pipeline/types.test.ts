/** Every type of docs/types.md from end to end: a real database, the draft of `init`, a run, and the record on the platform. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/domain/values/json.js';
import type { FieldSpec, MappingSpec } from '../../src/domain/sync/sync.js';
import { fieldName } from '../../src/init/draft-names.js';
import { runInProcess } from '../cli/in-process.js';
import { here, TEST_DIALECTS, type TestDatabase } from '../source/dialect-databases.js';
import { deadLetter, SETUP, TYPE_CASES, type TypeCase } from '../source/type-cases.js';
import { openShop, type Shop } from './shop.js';

const SYNC = 'types';

describe.each(here(TEST_DIALECTS))('a table of $name with every type that docs/types.md names', (dialect) => {
  const name = dialect.name;
  const cases = TYPE_CASES[name];

  it('passes check as init drafts it, and each value is on the platform as the page says', async () => {
    const database = await dialect.create();
    onTestFinished(() => database.drop());
    await database.run(SETUP[name]);
    await fillSamples(database, cases);
    const shop = await openShop({ sourceUrl: database.url, pushed: false, other: { files: {}, load: nothing } });
    onTestFinished(() => shop.close());
    const call = (...args: string[]) => runInProcess(args, shop.env);

    expect(await call('init', SYNC, '--source', 'SOURCE_URL', '--tenant', 'north')).toMatchObject({ code: 0 });
    const check = await call('check', SYNC, '--json');
    expect(JSON.parse(check.stdout)).toMatchObject({ errors: 0 });
    expect(await call('schema', 'push', SYNC)).toMatchObject({ code: 0 });
    await shop.work();
    const { outcome } = await shop.run({ sync: SYNC });

    expect(outcome).toBe('complete_with_dead_letters');
    const [mapping] = (await shop.parts.openSync(SYNC)).spec.mappings;
    const arrived = await arrivals(shop, mapping!, cases);
    expect(arrived.map(short)).toEqual(cases.map((c, i) => short(expectedOf(c, i))));
    expect(arrived).toEqual(cases.map(expectedOf));
  });
});

const nothing = (): Promise<void> => Promise.resolve();
const columnOf = ({ name }: TypeCase, index: number): string => name ?? `c${index}`;
const expectedOf = (c: TypeCase, index: number) => ({
  column: `${columnOf(c, index)} ${c.ddl}`,
  drafted: c.drafted,
  records: c.values.map(([, , record]) => record),
});

/** One column a type, one row a value: what refuses one value says nothing of the others. */
async function fillSamples(database: TestDatabase, cases: readonly TypeCase[]): Promise<void> {
  const columns = cases.map((c, index) => `${columnOf(c, index)} ${c.ddl}`);
  await database.run(`CREATE TABLE samples (id int PRIMARY KEY, ${columns.join(', ')})`);
  let id = 0;
  for (const [index, c] of cases.entries())
    for (const [literal] of c.values)
      await database.run(`INSERT INTO samples (id, ${columnOf(c, index)}) VALUES (${++id}, ${literal})`);
}

async function arrivals(shop: Shop, mapping: MappingSpec, cases: readonly TypeCase[]) {
  const { platform } = await shop.parts.dependencies();
  const deadLetters = await shop.state.query<{ id: string; rule: string }>(
    'SELECT source_key[1] AS id, rule FROM partner_sync.dead_letters',
  );
  const arrived = [];
  let id = 0;
  for (const [index, c] of cases.entries()) {
    const field = fieldName(columnOf(c, index));
    const spec = mapping.fields.get(field);
    const records: unknown[] = [];
    for (const _ of c.values) {
      const key = String(++id);
      const stored = await platform.findResource(mapping.schema.name, key, { tenant: 'north' });
      const listed = deadLetters.find((l) => l.id === key);
      expect(stored === null, `row ${key}, of ${c.ddl}, is a record or a dead letter`).toBe(listed !== undefined);
      records.push(listed === undefined ? stored!.result.data[field] : deadLetter(listed.rule));
    }
    const drafted = spec === undefined ? null : draftedOf(mapping, field, spec);
    arrived.push({ column: `${columnOf(c, index)} ${c.ddl}`, drafted, records });
  }
  return arrived;
}

/** A field as the page shows it: `string date-time, dateTime { zone: UTC }`. */
function draftedOf({ schema: { schema } }: MappingSpec, field: string, spec: FieldSpec): string {
  const { type, format } = (schema['properties'] as Record<string, JsonObject>)[field]!;
  const transforms = spec.kind === 'column' ? spec.transforms : [];
  const property = type === undefined ? 'any JSON' : textsOf([type, format]).join(' ');
  return [property, ...transforms.map(({ name, options }) => `${name}${inWords(options)}`)].join(', ');
}

const inWords = (options: JsonObject): string => {
  const words = Object.entries(options).map(([option, value]) => `${option}: ${textsOf([value]).join()}`);
  return words.length === 0 ? '' : ` { ${words.join(', ')} }`;
};

const textsOf = (values: readonly (JsonValue | undefined)[]): string[] =>
  values.filter((value) => typeof value === 'string');

/** For failures that a person can read: a megabyte by its length. */
const short = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part: JsonValue) =>
      typeof part === 'string' && part.length > 500 ? `${part.length} characters` : part,
    ),
  );
