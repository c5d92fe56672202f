/** `schema push` on platforms that refuse a definition before those that it refers to, each with its own messages. */
import { expect, it, onTestFinished } from 'vitest';
import { openShop, SYNC, text, type Shop, type ShopSettings } from '../pipeline/shop.js';
import { runInProcess } from './in-process.js';

const STRICT = { schemas: { references: 'existing' } } as const;

/** A mapping and a schema definition for each name, with references to the others. */
function filesOf(schemas: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  const files: Record<string, string> = {
    'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }\ntenant: north\n`,
  };
  for (const [name, parents] of Object.entries(schemas)) {
    const refs = parents.map((parent) => [`${parent}Id`, { $ref: parent }] as const);
    const properties = { id: text, ...Object.fromEntries(refs) };
    const fields = parents.map((parent) => `  ${parent}Id: { ref: ${parent}, column: ${parent}_id }\n`).join('');
    files[`${name}.schema.json`] = JSON.stringify({
      name,
      category: 'custom_schema',
      externalIdField: 'id',
      schema: { type: 'object', properties, required: ['id'], additionalProperties: false },
    });
    files[`${name}.mapping.yaml`] =
      `schema: ${name}\nsource: { table: ${name} }\nkey: [id]\nfields:\n  id: id\n${fields}`;
  }
  return files;
}

async function open(
  schemas: Readonly<Record<string, readonly string[]>>,
  sandbox: ShopSettings['sandbox'],
): Promise<Shop> {
  const shop = await openShop({
    pushed: false,
    sandbox: { ...sandbox },
    other: { files: filesOf(schemas), load: () => Promise.resolve() },
  });
  onTestFinished(() => shop.close());
  return shop;
}

const push = (shop: Shop, ...more: string[]) => runInProcess(['schema', 'push', SYNC, ...more], shop.env);
/** In the order in which the platform took them. */
const taken = async (shop: Shop): Promise<string[]> =>
  (
    await shop.store.query<{ name: string }>('SELECT name FROM sandbox.schema_definitions ORDER BY created_at, name')
  ).map((row) => row.name);

it('pushes parents first, even if a table refers to itself', async () => {
  const shop = await open({ badge: ['employee'], employee: ['employee', 'office'], office: [] }, STRICT);
  const { code, stdout, stderr } = await push(shop, '--json');
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    schemas: ['office', 'employee', 'badge'].map((schema) => ({ schema, action: 'created' })),
  });
  expect(await taken(shop)).toEqual(['office', 'employee', 'badge']);
});

it('pushes definitions that refer to each other if the platform accepts them', async () => {
  const shop = await open({ badge: ['employee'], department: ['employee'], employee: ['department'] }, {});
  expect((await push(shop)).code).toBe(0);
  expect((await taken(shop)).toSorted()).toEqual(['badge', 'department', 'employee']);
});

it('pushes all it can around definitions that refer to each other, and says why the others are impossible', async () => {
  const schemas = {
    alley: ['zone'],
    badge: ['employee'],
    department: ['employee'],
    employee: ['department'],
    zone: [],
  };
  const shop = await open(schemas, STRICT);

  const { code, stderr } = await push(shop);

  expect(code).toBe(1);
  expect(await taken(shop)).toEqual(['zone', 'alley']);
  expect(stderr).toContain(
    'error platform_refused: the platform rejected 3 of 5 schema definitions; it accepted zone, alley',
  );
  expect(stderr).toContain(
    'department: POST /partner/schema-definitions returned 400: the schema definition is not valid; body/schema refers to "employee", but there is no such schema definition',
  );
  expect(stderr).toContain('badge refers to employee (employeeId), which is not on the platform');
  expect(stderr).toContain(
    'employee (departmentId) -> department (employeeId) -> employee refer to each other in a cycle.',
  );
});

it('retries a refused definition once one that it refers to exists', async () => {
  const shop = await open({ department: ['employee'], employee: ['department'] }, STRICT);
  // The platform has a department already, though nobody here remembers it: only trying tells.
  await shop.store.query(
    `INSERT INTO sandbox.schema_definitions
       (id, platform_id, name, plural_name, category, version_number, reference_schemas, schema, external_id_field, created_at, updated_at)
     SELECT gen_random_uuid(), id, 'department', 'departments', 'custom_schema', 1, '{}', '{"properties":{"id":{}}}', 'id', now(), now()
       FROM sandbox.platform`,
  );
  const { code, stdout, stderr } = await push(shop, '--json');
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    schemas: [
      { schema: 'department', action: 'exists' },
      { schema: 'employee', action: 'created' },
    ],
  });
});

it.each([
  ['in a list beside its message', 'standard'],
  ['in one text', 'alternative'],
] as const)(
  'reports what the platform finds wrong with every refused definition, given %s',
  async (_how, errorShape) => {
    const required = { createSchemaDefinition: ['description', 'pluralName'] };
    const shop = await open({ article: [], brand: [] }, { alsoRequired: required, errorShape });

    const { code, stdout, stderr } = await push(shop, '--json');

    expect(code).toBe(1);
    for (const schema of ['article', 'brand'])
      expect(stderr).toMatch(
        new RegExp(`\\n${schema}: [^\\n]*body/description is required; body/pluralName is required`),
      );
    expect((JSON.parse(stdout) as { error: object }).error).toMatchObject({
      code: 'platform_refused',
      message: expect.stringContaining('article: POST /partner/schema-definitions returned 400') as string,
    });

    // What stands in the way of all is said at once, and once it is gone nothing is left over of the first attempt.
    for (const name of ['article', 'brand']) {
      const file = JSON.parse(filesOf({ [name]: [] })[`${name}.schema.json`]!) as object;
      shop.write(
        `${name}.schema.json`,
        JSON.stringify({ ...file, description: 'One of them', pluralName: `${name}s` }),
      );
    }
    expect((await push(shop)).code).toBe(0);
  },
);
