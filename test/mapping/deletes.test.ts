/** Deleted rows in the mapping language: which rows count as deleted, what is sent for them, and what is refused. */
import { describe, expect, it } from 'vitest';
import { checkColumns } from '../../src/mapping/compile/check-columns.js';
import { compileMapping } from '../../src/mapping/compile/compile-mapping.js';
import type { SourceType } from '../../src/domain/source/source.js';
import { columns, definition, FILES, findingsOf, lint } from './sync-on-disk.js';

const ROWS = 'source: { table: people }\nkey: [id]\n';
const files = (deletes: string, more = 'cursor: changed\n') => ({
  'people.mapping.yaml': `schema: person\n${ROWS}${more}deletes: ${deletes}\nfields:\n  personId: id\n  name: name\n  status: { constant: active }\n  note: { column: note, omitNull: true }\n`,
  'person.schema.json': definition(
    'person',
    {
      personId: { type: 'string' },
      name: { type: 'string' },
      status: { type: 'string', enum: ['active', 'gone'] },
      note: { type: 'string' },
    },
    ['personId', 'name'],
  ),
});

async function mapped(deletes: string, type: SourceType, value: string | null, databaseType: string = type) {
  const { sync, findings } = await lint(files(deletes));
  expect(findings).toEqual([]);
  const source = columns({ id: 'integer', changed: 'timestamptz', name: 'text', note: 'text', gone: type });
  const typed = source.map((column) => (column.name === 'gone' ? { ...column, databaseType } : column));
  const { columns: order, map } = compileMapping(sync!.mappings[0]!, sync!.tenant, typed);
  const row: Record<string, string | null> = { id: '7', changed: '2026-01-01 00:00:00+00', name: 'Anna', gone: value };
  const result = map(order.map((name) => row[name] ?? null));
  if (result.kind !== 'record') throw new Error(result.reason);
  return { json: result.json, deletion: result.deletion };
}

const LIVE = { json: '{"personId":"7","name":"Anna","status":"active"}', deletion: undefined };
const DELETED = { json: '{"personId":"7","status":"gone","note":null}', deletion: 'apply' };
const ACTION = 'action: { set: { status: gone }, clear: [note] }';

describe('a row counts as deleted', () => {
  it.each<[SourceType, string, string | null]>([
    ['boolean', 't', 'f'],
    ['boolean', 't', null],
    // What a column of SQLite that is declared as BOOLEAN may contain.
    ['boolean', 'true', 'false'],
    ['boolean', '1', '0'],
    ['boolean', 'TRUE', 'maybe'],
    ['timestamptz', '2026-01-01 00:00:00+00', null],
    ['date', '2026-01-01', null],
    // What MySQL, PostgreSQL and SQLite have for a date that is none.
    ['timestamp', '2026-01-01 00:00:00', '0000-00-00 00:00:00'],
    ['date', '2026-01-01', '0000-00-00'],
    ['timestamptz', '0044-03-15 00:00:00+00 BC', 'infinity'],
    ['timestamp', '2026-01-01 00:00:00', ''],
  ])('if a %s column is %s, not if it is %s', async (type, deleted, live) => {
    expect(await mapped(`{ column: gone, ${ACTION} }`, type, deleted)).toEqual(DELETED);
    expect(await mapped(`{ column: gone, ${ACTION} }`, type, live)).toEqual(LIVE);
  });

  it('if a column has one of the values that the mapping lists', async () => {
    const deletes = `{ column: gone, values: ['1', '2'], ${ACTION} }`;
    expect(await mapped(deletes, 'integer', '2')).toEqual(DELETED);
    expect(await mapped(deletes, 'integer', '0')).toEqual(LIVE);
    expect(await mapped(deletes, 'integer', null)).toEqual(LIVE);
  });

  it.each(["'false'", "'0'", 'F'])('if a flag is false, written as %s', async (written) => {
    const deletes = `{ column: gone, values: [${written}], ${ACTION} }`;
    expect(await mapped(deletes, 'boolean', 'f')).toEqual(DELETED);
    expect(await mapped(deletes, 'boolean', 'false')).toEqual(DELETED);
    expect(await mapped(deletes, 'boolean', '0')).toEqual(DELETED);
    for (const value of ['t', 'true', 'maybe', null]) expect(await mapped(deletes, 'boolean', value)).toEqual(LIVE);
  });

  it('if a column of fixed length has one of the values, which the database fills up with blanks', async () => {
    const deletes = `{ column: gone, values: [X], ${ACTION} }`;
    expect(await mapped(deletes, 'text', 'X  ', 'character(3)')).toEqual(DELETED);
    expect(await mapped(deletes, 'text', 'Y  ', 'character(3)')).toEqual(LIVE);
    expect(await mapped(deletes, 'text', 'X  ', 'character varying(3)')).toEqual(LIVE);
  });

  it('and nothing is sent for it if the mapping ignores deleted rows', async () => {
    expect(await mapped('{ column: gone, action: ignore }', 'boolean', 't')).toEqual({
      json: '{"personId":"7"}',
      deletion: 'ignore',
    });
  });
});

it('asks which numbers mean deleted, since every row has one', async () => {
  const { sync } = await lint(files(`{ column: gone, ${ACTION} }`));
  const source = columns({ id: 'integer', changed: 'timestamptz', name: 'text', note: 'text', gone: 'integer' });
  const findings = checkColumns(sync!.mappings[0]!, sync!.tenant, source);
  expect(findings.map(({ kind, path, message }) => [kind, path, message])).toEqual([
    [
      'deletes_values',
      'deletes.column',
      "gone is integer: say which of its values mean deleted, such as values: ['1']",
    ],
  ]);
});

it.each<SourceType>(['integer', 'decimal', 'float'])('asks for values that a column of type %s has', async (type) => {
  const { sync } = await lint(files(`{ column: gone, values: ['true', '1', '-2.50', ' ', '1e3'], ${ACTION} }`));
  const source = columns({ id: 'integer', changed: 'timestamptz', name: 'text', note: 'text', gone: type });
  expect(checkColumns(sync!.mappings[0]!, sync!.tenant, source).map(({ path, message }) => [path, message])).toEqual([
    ['deletes.values[0]', `gone is ${type}, which is never "true": write a number, such as '1'`],
    ['deletes.values[3]', `gone is ${type}, which is never " ": write a number, such as '1'`],
  ]);
});

it('asks for values that a flag has', async () => {
  const { sync } = await lint(files(`{ column: gone, values: ['true', no], ${ACTION} }`));
  const source = columns({ id: 'integer', changed: 'timestamptz', name: 'text', note: 'text', gone: 'boolean' });
  expect(checkColumns(sync!.mappings[0]!, sync!.tenant, source).map(({ path, message }) => [path, message])).toEqual([
    ['deletes.values[1]', "gone is boolean, which is never \"no\": write 'true' or 'false'"],
  ]);
});

it.each([
  [
    'values without a column',
    `{ values: [x], ${ACTION} }`,
    undefined,
    '5:20 error deletes_values deletes.values: are the values of a column; name it with column',
  ],
  [
    'an action that does nothing',
    '{ action: {} }',
    undefined,
    '5:20 error deletes_field deletes.action: neither sets nor clears a field; to do nothing, write ignore',
  ],
  [
    'a field that a row that comes back would not overwrite',
    '{ action: { set: { nme: x } } }',
    undefined,
    `5:29 error deletes_field deletes.action.set.nme: "nme" is not among the mapping's fields, so a row that comes back would not overwrite it. Did you mean "name"?`,
  ],
  [
    'a field that a row with NULL would not overwrite',
    '{ action: { set: { note: x } } }',
    undefined,
    '5:35 error omit_null deletes.action.set.note: "note" has omitNull, so a row that comes back with NULL would not overwrite it',
  ],
  [
    'a value that the schema definition refuses',
    '{ action: { set: { status: deleted } } }',
    undefined,
    '5:37 error constant_invalid deletes.action.set.status: breaks the schema definition (enum)',
  ],
  [
    'the external id',
    '{ action: { clear: [personId] } }',
    undefined,
    '5:30 error deletes_field deletes.action.clear[0]: the external id names the record and must stay',
  ],
  [
    'a field that the schema requires',
    '{ action: { clear: [name] } }',
    undefined,
    '5:30 error deletes_field deletes.action.clear[0]: the schema requires "name", so it cannot be cleared',
  ],
  [
    'changes although every change is refused',
    `{ ${ACTION} }\noptions: { onConflict: reject }`,
    undefined,
    '6:24 error deletes_rejected options.onConflict: reject would refuse every change of a record, so none could be set or cleared for a deleted row; use upsert',
  ],
])('refuses %s', async (_, deletes, more, finding) => {
  expect(await findingsOf(files(deletes, more))).toEqual([`people.mapping.yaml:${finding}`]);
});

describe('a sync that mirrors', () => {
  const mirror = { 'sync.yaml': `${FILES['sync.yaml']}schedules: [{ name: nightly, every: 24h, mode: mirror }]\n` };

  it('is refused if no mapping says what to do about vanished rows', async () => {
    expect(await findingsOf({ ...files('{ action: ignore }'), ...mirror })).toEqual([
      'sync.yaml:5:48 error mirror_without_deletes schedules[0].mode: no mapping declares with deletes what happens to records whose rows are gone; declare an action, or use mode full',
    ]);
    expect(await findingsOf({ ...files(`{ ${ACTION} }`), ...mirror })).toEqual([]);
  });

  it('is refused if rows cannot be found by their external id', async () => {
    const { 'people.mapping.yaml': mapping, ...rest } = files(`{ ${ACTION} }`);
    const trimmed = mapping.replace('personId: id', 'personId: { column: id, transforms: [trim] }');
    expect(await findingsOf({ ...rest, 'people.mapping.yaml': trimmed, ...mirror })).toEqual([
      'people.mapping.yaml:7:13 error mirror_unsure fields.personId: mode mirror looks rows up by their external id, which must be a column or a template without transforms (except string)',
    ]);
  });
});

describe('a mapping with deletes whose schema another mapping fills, too', () => {
  const { 'people.mapping.yaml': people, ...rest } = files(`{ ${ACTION} }`);
  const staff = `schema: person\n${ROWS}fields:\n  personId: id\n  name: name\n`;

  it('causes a warning', async () => {
    expect(await findingsOf({ ...rest, 'people.mapping.yaml': people, 'staff.mapping.yaml': staff })).toEqual([
      'people.mapping.yaml:1:9 warning schema_shared schema: is also filled by staff: if rows of both have the same external id, each overwrites the record of the other, and may mark it as deleted',
    ]);
  });

  it('causes none if their external ids begin with different texts', async () => {
    const withText = (mapping: string, text: string) =>
      mapping.replace('personId: id', `personId: { template: '${text}-{id}' }`);
    expect(
      await findingsOf({
        ...rest,
        'people.mapping.yaml': withText(people, 'person'),
        'staff.mapping.yaml': withText(staff, 'staff'),
      }),
    ).toEqual([]);
  });

  it('causes none if no mapping marks records as deleted', async () => {
    const { 'people.mapping.yaml': ignoring } = files('{ action: ignore }');
    expect(await findingsOf({ ...rest, 'people.mapping.yaml': ignoring, 'staff.mapping.yaml': staff })).toEqual([]);
  });
});
