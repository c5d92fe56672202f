/** `partner-sync/testing`: rows become records without a database, and mistakes in a test are named. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mapRow, openSync, type TestRow } from '../../src/testing.js';
import { definition, syncFolder } from '../mapping/sync-on-disk.js';
import { errorOf } from '../platform/stub-platform.js';

const FIELDS = {
  personId: 'string',
  name: 'string',
  points: 'number',
  vip: 'boolean',
  seen: 'string',
  born: 'string',
  tags: 'object',
};
const FILES = {
  'people.mapping.yaml': `schema: person\nsource: { table: people }\nkey: [id]\nfields:\n  personId: id\n  name: name\n  points: points\n  vip: vip\n  seen: seen\n  born: born\n  tags: tags\n`,
  'person.schema.json': definition(
    'person',
    Object.fromEntries(Object.entries(FIELDS).map(([name, type]) => [name, { type }])),
  ),
  'people.examples.yaml': `columns: { id: integer, name: text, points: decimal, vip: boolean, seen: timestamptz, born: date, tags: json, code: bytes, local: timestamp }
examples: [{ row: { id: '7' }, record: { personId: '7', name: null, points: null, vip: null, seen: null, born: null, tags: null } }]
`,
};
const folderOf = (files: Record<string, string | null> = FILES): string => join(syncFolder(files), 'shop');

describe('mapRow', () => {
  it('takes values of JavaScript as the texts of a database', async () => {
    const sync = await openSync(folderOf());
    const at = new Date('2020-02-29T10:00:00.120Z');

    const row = { id: 7n, name: 'Anna', points: 12.5, vip: false, seen: at, born: at, tags: { a: [1] } };
    expect(mapRow(sync, 'people', row)).toEqual({
      kind: 'record',
      tenant: 'tenant-a',
      externalId: '7',
      record: {
        personId: '7',
        name: 'Anna',
        points: 12.5,
        vip: false,
        seen: '2020-02-29T10:00:00.12Z',
        born: '2020-02-29',
        tags: { a: [1] },
      },
    });
    expect(mapRow(sync, 'people', { id: '7', points: '0.10000000000000000001' })).toEqual({
      kind: 'rejected',
      code: 'mapping_failed',
      tenant: 'tenant-a',
      externalId: '7',
      pointer: '/points',
      rule: 'exact number',
      reason: expect.any(String) as string,
      shape: 'text(22) 9.99999999999999999999',
    });
  });

  it.each<[string, string, TestRow, string]>([
    [
      'a mapping that does not exist',
      'peple',
      {},
      'shop has no mapping "peple". Did you mean "people"? Mappings: people',
    ],
    ['a column that does not exist', 'people', { nam: 'Anna' }, 'people reads no column "nam". Did you mean "name"?'],
    [
      'a Date where it is ambiguous',
      'people',
      { local: new Date() },
      'local is a column of the kind timestamp, and a Date does not say',
    ],
    [
      'a number that is none',
      'people',
      { points: NaN },
      'points is a column of the kind decimal, and NaN must be given as a text',
    ],
    [
      'a map in a column of text',
      'people',
      { name: { first: 'Anna' } },
      'name is a column of the kind text, and takes no map or list',
    ],
  ])('refuses %s', async (_, mapping, row, message) => {
    const sync = await openSync(folderOf());

    expect(() => mapRow(sync, mapping, row)).toThrow(message);
    expect(() => mapRow(sync, mapping, row)).toThrow(expect.objectContaining({ code: 'input_invalid' }));
  });
});

describe('openSync', () => {
  it('reports all findings of the files', async () => {
    const error = await errorOf(
      openSync(folderOf({ 'people.mapping.yaml': 'schema: person\nfields: {}\n' }), { env: {} }),
    );

    expect(error).toMatchObject({ code: 'config_invalid' });
    expect(error.message).toContain('shop/people.mapping.yaml:1:1 error missing_key');
  });

  it('needs the kinds of the columns, from examples or from the test', async () => {
    const folder = folderOf({
      ...FILES,
      'people.examples.yaml': null,
      'people.mapping.yaml': 'schema: person\nsource: { table: people }\nkey: [id]\nfields: { personId: id }\n',
    });

    const sync = await openSync(folder, { columns: { people: { id: 'uuid' } } });
    expect(mapRow(sync, 'people', { id: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' })).toMatchObject({ kind: 'record' });
    const without = await openSync(folder);
    expect(() => mapRow(without, 'people', { id: 1 })).toThrow('nothing says which columns the mapping people reads');
  });

  it('takes the tenants of a list that is in the source', async () => {
    const folder = folderOf({
      ...FILES,
      'sync.yaml':
        'source: { connection: "${env:SHOP_URL}" }\ntenant: { column: name, from: { table: tenants, value: v, tenant: t } }\n',
    });

    const sync = await openSync(folder, { tenants: { Anna: 'north' } });
    expect(mapRow(sync, 'people', { id: 7, name: 'Anna' })).toMatchObject({ kind: 'record', tenant: 'north' });
    expect(mapRow(sync, 'people', { id: 7, name: 'Bob' })).toMatchObject({ kind: 'rejected', code: 'tenant_unknown' });
    const without = await openSync(folder);
    expect(() => mapRow(without, 'people', { id: 7 })).toThrow('the tenants are listed in a table of the source');
  });
});
