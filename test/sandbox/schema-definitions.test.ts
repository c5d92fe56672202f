/** Creating schema definitions (4.4). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, startForTest, unique, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('schema-definitions');
  sandbox = await startForTest(database);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const create = (body: object) => sandbox.call('POST', '/partner/schema-definitions', { body, tenant: null });
const minimal = () => ({
  name: unique('schema'),
  category: 'custom_schema',
  externalIdField: 'id',
  schema: { type: 'object', properties: { id: { type: 'string' } } } as object,
});

it('keeps a definition apart from another one whose name is its id', async () => {
  const name = unique('people');
  const people = await sandbox.createSchema(name, {});
  await sandbox.createSchema(people, {});
  await sandbox.uploaded(name, [{ id: 'p-1' }]);
  expect((await sandbox.read(name, 'p-1')).status).toBe(200);
  expect((await sandbox.read(people, 'p-1')).status).toBe(404);
});

describe('creating a schema definition', () => {
  it('returns the definition with both names of every field with an alias', async () => {
    const input = {
      ...minimal(),
      description: 'Orders of a shop',
      pluralName: 'orders',
      fieldsToExpose: [{ name: 'Id', jsonPath: '$.id', exposure: ['segments'] }],
      schema: {
        properties: {
          id: { type: 'string' },
          who: { $ref: 'customers' },
          tags: { type: 'array', items: { $ref: 'tags' } },
        },
      },
    };
    const { status, body } = await create(input);
    expect([status, body.success]).toEqual([200, true]);
    expect(body.data).toMatchObject({
      ...input,
      plural_name: 'orders',
      external_id_field: 'id',
      versionNumber: 1,
      version_number: 1,
      referenceSchemas: ['customers', 'tags'],
      reference_schemas: ['customers', 'tags'],
      fields_to_expose: input.fieldsToExpose,
      displayMetadata: null,
    });
    expect(body.data.created_at).toBe(body.data.createdAt);
  });

  it('accepts the older names of fields with an alias, and uses the name as plural if none is given', async () => {
    const { externalIdField, ...rest } = minimal();
    const { body } = await create({ ...rest, external_id_field: externalIdField });
    expect(body.data).toMatchObject({ externalIdField: 'id', pluralName: rest.name });
  });

  it('refuses fields with an alias that contradict each other', async () => {
    const { status, body } = await create({ ...minimal(), external_id_field: 'other' });
    expect(status).toBe(400);
    expect(body.errors).toEqual([expect.stringContaining('external_id_field differ')]);
  });

  it('refuses a name that is taken, and says which definition has it', async () => {
    const input = minimal();
    const first = await create(input);
    const second = await create(input);
    expect(second.status).toBe(409);
    expect(second.body.errors).toEqual([expect.stringContaining(first.body.data.id)]);
  });

  it('creates exactly one of many simultaneous definitions of the same name', async () => {
    const input = minimal();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(input)));
    expect(answers.map((a) => a.status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
  });

  it.each([
    ['does not compile', { schema: { properties: { id: { type: 'text' } } } }, 'does not compile'],
    [
      'refers to another server',
      { schema: { properties: { id: {} }, allOf: [{ $ref: 'http://example.test/s' }] } },
      "can't resolve",
    ],
    [
      'refers to something that is not a schema name',
      { schema: { properties: { id: {}, a: { $ref: 'http://x/y' } } } },
      'is not a schema name',
    ],
    ['names an unknown external id field', { externalIdField: 'nope' }, 'not a property of the schema; it has: id'],
    ['names no external id field', { externalIdField: undefined }, 'externalIdField is required'],
    ['has an unknown category', { category: 'things' }, 'must be "contacts_schema" or'],
    ['has an unknown field', { colour: 'red' }, '"colour"'],
    ['has a name with a blank', { name: 'a b' }, 'body/name'],
    ['holds text that cannot be stored', { description: 'a\u0000b' }, 'U+0000'],
    [
      'exposes a field that its schema does not have',
      { fieldsToExpose: [{ name: 'Age', jsonPath: '$.age', exposure: ['segments'] }] },
      'body/fieldsToExpose/0/jsonPath "$.age" is not the path of a field of the schema; it has: id',
    ],
    [
      'exposes something that is not a path, under the older name',
      { fields_to_expose: [{ name: 'Id', jsonPath: 'id', exposure: ['segments'] }] },
      'body/fieldsToExpose/0/jsonPath "id" is not a path such as $.country',
    ],
    [
      'is named by an unknown field',
      { exposeNameJsonPath: '$.name' },
      'body/exposeNameJsonPath "$.name" is not the path of',
    ],
    [
      'has a pattern that cannot be matched in bounded time',
      { schema: { properties: { id: { pattern: '^(.*)=\\1$' } } } },
      'the pattern "^(.*)=\\\\1$" cannot be used, since it refers back to what a group has matched',
    ],
    ['is asynchronous', { schema: { $async: true, properties: { id: {} } } }, '$async'],
  ])('refuses a definition that %s', async (_case, change, reason) => {
    const { status, body } = await create({ ...minimal(), ...change });
    expect(status).toBe(400);
    expect(body.errors?.join('\n')).toContain(reason);
  });

  it('exposes nested fields, entries of lists, and any field of an object that declares no properties', async () => {
    const person = { type: 'object', properties: { name: { type: 'string' } } };
    const schema = { properties: { id: {}, people: { type: 'array', items: person }, extra: { type: 'object' } } };
    const exposed = ['$.people[*].name', "$['people'].name", '$.extra.colour', '$.id'];
    const fieldsToExpose = exposed.map((jsonPath) => ({ name: jsonPath, jsonPath, exposure: ['segments'] }));
    const { status, body } = await create({ ...minimal(), schema, fieldsToExpose });
    expect([status, body.data['fieldsToExpose']]).toEqual([200, fieldsToExpose]);
    const wrong = [{ name: 'Age', jsonPath: '$.people[*].age', exposure: [] }];
    expect((await create({ ...minimal(), schema, fieldsToExpose: wrong })).status).toBe(400);
  });

  it('finds schemas by id as well as by name, also after a restart', async () => {
    const input = minimal();
    const id = (await create(input)).body.data.id;
    const restarted = await startForTest(database);
    await restarted.uploaded(id, [{ id: '1' }]);
    const answer = await restarted.read(id.toUpperCase(), '1');
    await restarted.close();
    expect(answer.body.data.result.schemaDefinitionId).toBe(id);
    expect((await sandbox.read(input.name, '1')).status).toBe(200);
  });

  it.each(['camel', 'snake'] as const)('returns only %s names if the settings say so', async (fieldNames) => {
    const single = await startForTest(database, { fieldNames });
    const { body } = await single.call('POST', '/partner/schema-definitions', { body: minimal() });
    await single.uploaded(body.data.name, [{ id: '1' }]);
    const { result } = (await single.read(body.data.name, '1')).body.data;
    await single.close();
    expect(['externalIdField' in body.data, 'external_id_field' in body.data]).toEqual([
      fieldNames === 'camel',
      fieldNames === 'snake',
    ]);
    expect(['resourceExternalId' in result, 'resource_external_id' in result]).toEqual([
      fieldNames === 'camel',
      fieldNames === 'snake',
    ]);
  });
});
