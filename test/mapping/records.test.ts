/** Rows become records: nulls, tenants, external ids, messages about rejected rows, and stable hashes. */
import { describe, expect, it } from 'vitest';
import type { MappedRecord, MapResult } from '../../src/domain/records/record.js';
import { checkColumns } from '../../src/mapping/compile/check-columns.js';
import { columnsOf } from '../../src/mapping/compile/read-plan.js';
import { compileMapping } from '../../src/mapping/compile/compile-mapping.js';
import { isSurelyFound, lookUpOf } from '../../src/mapping/compile/external-id-look-up.js';
import { columns, definition, ENV, FILES, lint, mapper } from './sync-on-disk.js';

const TEXT = { type: 'string' };

describe('a record', () => {
  it('has its fields in the order of the mapping, its JSON and a hash that never changes', async () => {
    const { map } = await mapper('  b: b\n  a: a\n', { a: TEXT, b: TEXT }, { a: 'text', b: 'text' });
    const record = map({ a: 'x', b: 'y' }) as MappedRecord;
    expect(record).toMatchObject({ kind: 'record', tenant: 'tenant-a', externalId: '7', sourceKey: ['7'] });
    expect(record.json).toBe('{"id":"7","b":"y","a":"x"}');
    expect(record.data).toEqual({ id: '7', b: 'y', a: 'x' });
    expect(record.contentHash).toBe('e451cca82f3d522e3ab616568b1274d3');
  });

  it('has null for SQL NULL, and is validated without it', async () => {
    const { map } = await mapper('  email: email\n', { email: { type: 'string', format: 'email' } }, { email: 'text' });
    expect(map({ email: null })).toMatchObject({ kind: 'record', json: '{"id":"7","email":null}' });
  });

  it('leaves a null out if omitNull is set', async () => {
    const { map } = await mapper('  a: { column: a, omitNull: true }\n', { a: TEXT }, { a: 'text' });
    expect(map({ a: null })).toMatchObject({ kind: 'record', json: '{"id":"7"}' });
  });

  it('has the text of a number as its external id', async () => {
    const { map } = await mapper('', { id: { type: 'integer' } }, {});
    expect(map({ id: '17850' })).toMatchObject({ externalId: '17850', json: '{"id":17850}' });
  });

  it('can be mapped from columns with unusual names', async () => {
    const row = '  a: __proto__\n  b: constructor\n';
    const { map } = await mapper(
      row,
      { a: TEXT, b: TEXT },
      JSON.parse('{"__proto__":"text","constructor":"text"}') as Record<string, 'text'>,
    );
    const result = map(JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>);
    expect(result).toMatchObject({ json: '{"id":"7","a":"x","b":"y"}' });
  });
});

describe('a row that cannot be delivered', () => {
  const CANARY = 'Canary.Zq81@leak';
  const failing: [string, string, object, MapResult['kind'] extends string ? Record<string, unknown> : never][] = [
    [
      'a broken format',
      '  a: a\n',
      { type: 'string', format: 'email' },
      {
        code: 'record_invalid',
        pointer: '/a',
        rule: 'format: email',
        reason: 'not a valid email',
        shape: 'text(16) aaaaaa.aa99@aaaa',
      },
    ],
    [
      'text that is too long',
      '  a: a\n',
      { type: 'string', maxLength: 3 },
      { code: 'record_invalid', rule: 'maxLength: 3' },
    ],
    [
      'a value outside a list',
      '  a: a\n',
      { enum: ['x', 'y'] },
      { code: 'record_invalid', rule: 'enum', reason: 'not one of the allowed values: ["x","y"]' },
    ],
    ['text that is not a number', '  a: a\n', { type: 'number' }, { code: 'mapping_failed', rule: 'exact number' }],
    [
      'no telephone number',
      '  a: { column: a, transforms: [{ phone: { country: GB } }] }\n',
      TEXT,
      { code: 'mapping_failed', rule: 'transform: phone' },
    ],
    [
      'no known value',
      '  a: { column: a, transforms: [{ values: { map: { b: c } } }] }\n',
      TEXT,
      { code: 'mapping_failed', rule: 'transform: values' },
    ],
    [
      'no date',
      '  a: { column: a, transforms: [{ dateTime: { zone: UTC } }] }\n',
      TEXT,
      { code: 'mapping_failed', rule: 'transform: dateTime' },
    ],
  ];
  it.each(failing)('says why without quoting a value: %s', async (_title, fields, property, expected) => {
    const { map } = await mapper(fields, { a: property as never }, { a: 'text' });
    const result = map({ a: CANARY });
    expect(result).toMatchObject({
      kind: 'failed',
      tenant: 'tenant-a',
      externalId: '7',
      sourceKey: ['7'],
      ...expected,
    });
    expect(JSON.stringify(result)).not.toMatch(/Canary|Zq81|leak/);
  });

  it('does not name a key from the content of a JSON column', async () => {
    const property = {
      type: 'object',
      properties: { known: { type: 'string' } },
      additionalProperties: { type: 'number' },
    };
    const { map } = await mapper('  a: a\n', { a: property }, { a: 'json' });
    const result = map({ a: `{"${CANARY}":"${CANARY}"}` });
    expect(result).toMatchObject({ kind: 'failed', pointer: '/a/*', rule: 'type: number', shape: 'object' });
    expect(JSON.stringify(result)).not.toContain('Canary');
    expect(map({ a: '{"known":5}' })).toMatchObject({ pointer: '/a/known' });
  });

  it('has a null in a field that the schema requires', async () => {
    const { map } = await mapper('  a: a\n', { a: TEXT }, { a: 'text' }, ['a']);
    expect(map({ a: null })).toMatchObject({ code: 'record_invalid', pointer: '/a', rule: 'required', shape: '' });
  });

  it('has no external id', async () => {
    const { map } = await mapper('', { id: { type: 'string' } }, { id: 'text' });
    expect(map({ id: '' })).toMatchObject({
      code: 'mapping_failed',
      externalId: null,
      pointer: '/id',
      rule: 'external id',
    });
  });
});

describe('the tenant of a row', () => {
  it('comes only from the declared list', async () => {
    const values = '{ "1": tenant-a, "2": tenant-b }';
    const { sync } = await lint({
      'sync.yaml': FILES['sync.yaml']!.replace('tenant-a', `{ column: shop_id, values: ${values} }`),
    });
    const mapping = sync!.mappings[0]!;
    expect(columnsOf(mapping, sync!.tenant)).toEqual(['id', 'shop_id', 'name']);
    const { map } = compileMapping(mapping, sync!.tenant, columns({ id: 'integer', shop_id: 'integer', name: 'text' }));
    expect(map(['7', '2', 'Anna'])).toMatchObject({ tenant: 'tenant-b', externalId: '7' });
    for (const value of ['3', null, 'tenant-a', 'constructor'])
      expect(map(['7', value, 'Anna'])).toMatchObject({
        kind: 'failed',
        code: 'tenant_unknown',
        tenant: null,
        externalId: '7',
      });
  });
});

describe('bytes', () => {
  it('identify the tenant of a row by their hex digits or as a UUID', async () => {
    const values = '{ A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11: tenant-a, 00ff: tenant-b }';
    const { sync } = await lint({
      'sync.yaml': FILES['sync.yaml']!.replace('tenant-a', `{ column: shop_id, values: ${values} }`),
    });
    const types = columns({ id: 'integer', shop_id: 'bytes', name: 'text' });
    const { map } = compileMapping(sync!.mappings[0]!, sync!.tenant, types);
    expect(map(['7', '\\xa0eebc999c0b4ef8bb6d6bb9bd380a11', 'Anna'])).toMatchObject({ tenant: 'tenant-a' });
    expect(map(['7', '\\x00ff', 'Anna'])).toMatchObject({ tenant: 'tenant-b' });
    expect(map(['7', '\\x00', 'Anna'])).toMatchObject({ code: 'tenant_unknown' });
  });

  it('are found by the Base64 form of an external id', async () => {
    const { sync } = await lint({
      'people.mapping.yaml':
        'schema: person\nsource: { table: people }\nkey: [id]\nfields:\n  personId: { column: id, transforms: [{ encode: { as: base64 } }] }\n',
      'person.schema.json': definition('person', { personId: TEXT }),
    });
    const how = lookUpOf(sync!.mappings[0]!)!;
    expect([how.columns, how.certain]).toEqual([['id'], true]);
    expect(how.values('AP8=')).toEqual([['\\x00ff']]);
    // Nothing that is encoded so; as bytes it would be those of another id.
    expect(how.values('AP8')).toEqual([]);
  });

  it('are refused if the column contains other values, which SQLite allows', async () => {
    const { map } = await mapper('  a: a\n', { a: TEXT }, { a: 'bytes' });
    expect(map({ a: '\\x00ff' })).toMatchObject({ kind: 'record', data: { a: '00ff' } });
    for (const a of ['ab', '00ff', 'a\\x00ff', '\\x00ff ', '\\x00f', '\\x00FF'])
      expect(map({ a })).toMatchObject({ code: 'mapping_failed', pointer: '/a', rule: 'bytes' });
  });
});

describe('the columns of a template', () => {
  const [A, B, C] = [
    'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    'b1ffcd99-1d2e-4ef8-bb6d-6bb9bd380a22',
    'c2aade99-3f4a-4ef8-bb6d-6bb9bd380a33',
  ] as const;
  const lookUp = async (template: string, types?: Parameters<typeof columns>[0], hasOtherTypes?: true) => {
    const { sync } = await lint({
      'people.mapping.yaml': `schema: person\nsource: { table: people }\nkey: [a]\nfields:\n  personId: { template: '${template}' }\n`,
      'person.schema.json': definition('person', { personId: TEXT }),
    });
    const described = types && columns(types).map((column) => ({ ...column, ...(hasOtherTypes && { hasOtherTypes }) }));
    return lookUpOf(sync!.mappings[0]!, described)!;
  };

  it('have values of their types: an id is split in no other way', async () => {
    const three = await lookUp('{a}-{b}-{c}', { a: 'uuid', b: 'uuid', c: 'uuid' });
    expect(three.values(`${A}-${B}-${C}`)).toEqual([[A, B, C]]);
    expect(isSurelyFound(three, `${A}-${B}-${C}`)).toBe(true);
    expect(three.values(`${A.toUpperCase()}-${B}-${C}`)).toHaveLength(1);
    expect(three.values(`${A}-${B}`)).toEqual([]);
    const mixed = await lookUp('{a}-{b}-{c}', { a: 'integer', b: 'date', c: 'text' });
    expect(mixed.values('-7-2024-02-29-x-1')).toEqual([['-7', '2024-02-29', 'x-1']]);
    expect(mixed.values('7-0044-03-15 BC-x')).toEqual([['7', '0044-03-15 BC', 'x']]);
    expect(mixed.values('7-infinity-x')).toEqual([['7', 'infinity', 'x']]);
    const texts = await lookUp('{a}-{b}', { a: 'integer', b: 'text' });
    expect(texts.values('1-2-3')).toEqual([['1', '2-3']]);
  });

  it('may have any values if they are texts, if their types are not known, or if the database holds them to none', async () => {
    const all = [
      ['a', 'b-1'],
      ['a-b', '1'],
    ];
    expect((await lookUp('{a}-{b}', { a: 'text', b: 'text' })).values('a-b-1')).toEqual(all);
    expect((await lookUp('{a}-{b}')).values('a-b-1')).toEqual(all);
    expect((await lookUp('{a}-{b}', { a: 'uuid', b: 'integer' }, true)).values('a-b-1')).toEqual(all);
    const unsure = await lookUp('{a}-{b}-{c}', { a: 'text', b: 'text', c: 'text' });
    expect(isSurelyFound(unsure, `${A}-${B}-${C}`)).toBe(false);
  });
});

describe('a mapping compared with the columns of the source', () => {
  const check = async (fields: string, types: Parameters<typeof columns>[0], properties: object = { name: TEXT }) => {
    const { sync, locate, findings } = await lint({
      'people.mapping.yaml': `schema: person\nsource: { table: people }\nkey: [id]\nfields:\n  personId: id\n${fields}`,
      'person.schema.json': definition('person', { personId: TEXT, ...(properties as Record<string, never>) }),
    });
    expect(findings).toEqual([]);
    return checkColumns(sync!.mappings[0]!, sync!.tenant, columns(types), locate);
  };

  it('names every column that is missing, with its place and the nearest', async () => {
    const found = await check('  name: { template: "{first} {lst}" }\n', {
      idd: 'integer',
      first: 'text',
      last: 'text',
    });
    expect(found.map(({ kind, line, column, path }) => [kind, line, column, path])).toEqual([
      ['column_missing', 3, 7, 'key[0]'],
      ['column_missing', 5, 13, 'fields.personId.column'],
      ['column_missing', 6, 21, 'fields.name.template'],
    ]);
    expect(found[2]!.message).toBe('no column "lst" in people. Did you mean "last"? Columns: idd, first, last');
  });

  it.each([
    ['a timestamp without a zone', '  name: name\n', 'timestamp', TEXT, 'name its zone with the transform dateTime'],
    ['what has no text', '  name: name\n', 'other', TEXT, 'turn it into text in the query'],
    ['bytes for a number', '  name: name\n', 'bytes', { type: 'number' }, 'ends up as bytes'],
    [
      'bytes as text of another kind',
      '  name: { column: name, transforms: [{ encode: { as: hex } }] }\n',
      'text',
      TEXT,
      'encode does not take text',
    ],
    [
      'a boolean for a number',
      '  name: name\n',
      'boolean',
      { type: 'number' },
      'ends up as boolean, and the schema definition asks for number',
    ],
    ['text for a boolean', '  name: name\n', 'text', { type: 'boolean' }, 'boolean: { true: [...], false: [...] }'],
    [
      'a date for a date-time',
      '  name: name\n',
      'date',
      { type: 'string', format: 'date-time' },
      'choose the midnight',
    ],
    [
      'an instant for a date',
      '  name: name\n',
      'timestamptz',
      { type: 'string', format: 'date' },
      'is a point in time, and the field is a date; convert it in the query, in the zone that you mean',
    ],
    [
      'an instant made of text for a time',
      '  name: { column: name, transforms: [{ dateTime: { zone: UTC } }] }\n',
      'text',
      { type: 'string', format: 'time' },
      'is a point in time, and the field is a time',
    ],
    [
      'a decimal for another type',
      '  name: name\n',
      'decimal',
      { type: ['boolean', 'array'] },
      'ends up as decimal, and the schema definition asks for boolean or array',
    ],
    ['text for a list', '  name: name\n', 'text', { type: 'array' }, 'ends up as text'],
    [
      'a finished number for text',
      '  name: { column: name, transforms: [number] }\n',
      'text',
      TEXT,
      'ends up as number, and the schema definition asks for string',
    ],
    [
      'a finished boolean for text',
      '  name: { column: name, transforms: [{ boolean: { true: [y], false: [n] } }] }\n',
      'text',
      TEXT,
      'ends up as boolean',
    ],
    ['a list for text', '  name: { column: name, transforms: [split] }\n', 'text', TEXT, 'ends up as a list'],
    [
      'a transform behind a finished number',
      '  name: { column: name, transforms: [number, trim] }\n',
      'text',
      {},
      'trim does not take a value that is already a JSON number',
    ],
    [
      'dateTime on a boolean',
      '  name: { column: name, transforms: [{ dateTime: { zone: UTC } }] }\n',
      'boolean',
      TEXT,
      'dateTime does not take boolean; it takes timestamp, date, text',
    ],
  ] as const)('refuses %s', async (_title, fields, type, property, message) => {
    const found = await check(fields, { id: 'integer', name: type }, { name: property });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ kind: 'no_conversion', line: 6 });
    expect(found[0]!.message).toContain(message);
  });

  it('quotes the variable, not its value, if the environment names a column', async () => {
    const { sync, locate } = await lint(
      { 'people.mapping.yaml': FILES['people.mapping.yaml']!.replace('name: name', 'name: ${env:COLUMN}') },
      { ...ENV, COLUMN: 'canary_zq81' },
    );
    const [found] = checkColumns(sync!.mappings[0]!, sync!.tenant, columns({ id: 'integer' }), locate);
    expect(found!.message).toBe('no column "${env:COLUMN}" in people. Columns: id');
  });

  it('refuses two columns of the same name, and does not run', async () => {
    const { sync } = await lint();
    const twice = [...columns({ id: 'integer', name: 'text' }), ...columns({ name: 'text' })];
    expect(checkColumns(sync!.mappings[0]!, sync!.tenant, twice)[0]).toMatchObject({ kind: 'duplicate_column' });
    expect(() => compileMapping(sync!.mappings[0]!, sync!.tenant, columns({ id: 'integer' }))).toThrow(
      'no column "name" in people',
    );
  });
});
