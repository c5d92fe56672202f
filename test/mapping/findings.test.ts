/** What `check` reports about mistakes in files: place, value, what is allowed and what was probably meant. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { formatFinding } from '../../src/domain/sync/finding.js';
import { checkSyncFiles, listSyncs, loadSync } from '../../src/mapping/load-sync.js';
import { definition, ENV, FILES, findingsOf, lint, syncFolder } from './sync-on-disk.js';

const sync = (more: string) => ({ 'sync.yaml': `${FILES['sync.yaml']}${more}` });
const mapping = (fields: string, head = 'source: { table: people }\nkey: [id]\n') => ({
  'people.mapping.yaml': `schema: person\n${head}fields:\n  personId: id\n${fields}`,
});

describe('a sync without mistakes', () => {
  it('loads, with defaults for what is left out', async () => {
    const { spec: loaded } = await loadSync(syncFolder(), 'shop', ENV);
    expect(loaded).toMatchObject({
      name: 'shop',
      source: { connection: ENV.SHOP_URL, poolMax: 4, statementTimeout: 30 },
      tenant: { kind: 'constant', tenant: 'tenant-a' },
      mode: 'incremental',
      upload: {
        requestsAtOnce: 8,
        batchSize: 500,
        batchBytes: 4_194_304,
        inDoubtDelay: 30,
        batchDeadline: 600,
        waitForPending: 600,
      },
      schedules: [],
    });
    expect(loaded.mappings[0]).toMatchObject({
      name: 'people',
      file: 'shop/people.mapping.yaml',
      cursor: null,
      options: {
        onConflict: 'upsert',
        ignoreUnknownFields: false,
        dependencyWaitTimeout: 0,
        batchSize: null,
        longestExternalId: 1_300,
      },
    });
  });

  it('may be written in JSON too', async () => {
    const people = { schema: 'person', source: { table: 'people' }, key: ['id'], fields: { personId: 'id' } };
    expect(
      await findingsOf({ 'people.mapping.yaml': null, 'people.mapping.json': JSON.stringify(people, null, '\t') }),
    ).toEqual([]);
  });

  it('reads a cursor given by name alone as a column with ten minutes of overlap', async () => {
    const { sync: loaded } = await lint(mapping('', 'source: { table: people }\nkey: [id]\ncursor: updated_at\n'));
    expect(loaded!.mappings[0]!.cursor).toEqual({ column: 'updated_at', overlap: 600 });
  });
});

describe('the typical mistakes are named with their place', () => {
  it.each([
    [
      'a key typed wrongly',
      sync('upload: { batchsize: 5 }\n'),
      'sync.yaml:5:11 error unknown_key upload.batchsize: unknown key "batchsize". Did you mean "batchSize"?',
    ],
    [
      'a top-level key typed wrongly',
      { 'sync.yaml': FILES['sync.yaml']!.replace('source:', 'souce:') },
      'sync.yaml:1:1 error unknown_key souce: unknown key "souce". Did you mean "source"?',
    ],
    [
      'a mode that does not exist',
      sync('mode: ful\n'),
      'sync.yaml:5:7 error not_allowed mode: not allowed: "ful". Did you mean "full"? Allowed: incremental, full',
    ],
    [
      'a duration without its unit',
      sync('upload: { inDoubtDelay: 5 }\n'),
      'sync.yaml:5:25 error wrong_type upload.inDoubtDelay: must be a duration with its unit, such as 30s, 10m, 6h or 1d; got 5 (a number)',
    ],
    [
      'a size without its unit',
      sync('upload: { batchBytes: 4MB }\n'),
      'sync.yaml:5:23 error bad_format upload.batchBytes: must be a size with its unit',
    ],
    [
      'a cron field out of range',
      sync('schedules:\n  - { name: a, cron: 61 * * * * }\n'),
      'sync.yaml:6:22 error bad_cron schedules[0].cron: "61 * * * *": minute is 61, allowed 0-59',
    ],
    [
      'a time zone that does not exist',
      sync('schedules:\n  - { name: a, every: 1h, timezone: London }\n'),
      'sync.yaml:6:37 error bad_time_zone schedules[0].timezone: "London": is not a time zone',
    ],
    [
      'a schedule that never runs',
      sync('schedules:\n  - { name: a, every: 0s }\n'),
      'sync.yaml:6:23 error bad_positive_duration schedules[0].every: "0s": must be longer than 0s',
    ],
    [
      'two schedules of one name',
      sync('schedules:\n  - { name: a, every: 1h }\n  - { name: a, every: 2h }\n'),
      'sync.yaml:7:13 error duplicate_name schedules[1].name',
    ],
    [
      'a tenant id that no header can carry',
      { 'sync.yaml': FILES['sync.yaml']!.replace('tenant-a', '"a b"') },
      'sync.yaml:4:9 error bad_tenant_id tenant: "a b": a tenant id must match',
    ],
    [
      'a transform typed wrongly',
      mapping('  name: { column: name, transforms: [lowercse] }\n'),
      'people.mapping.yaml:6:38 error unknown_transform fields.name.transforms[0]: unknown transform "lowercse". Did you mean "lowercase"? Known: trim,',
    ],
    [
      'a transform without the options it needs',
      mapping('  name: { column: name, transforms: [phone] }\n'),
      'people.mapping.yaml:6:38 error missing_key fields.name.transforms[0]: the transform phone needs options: { phone: { country: ... } }',
    ],
    [
      'an option typed wrongly',
      mapping('  name: { column: name, transforms: [{ phone: { contry: GB } }] }\n'),
      'people.mapping.yaml:6:49 error unknown_key fields.name.transforms[0].phone.contry: unknown key "contry". Did you mean "country"?',
    ],
    [
      'a field of two kinds',
      mapping('  name: { column: name, constant: x }\n'),
      'people.mapping.yaml:6:25 error unknown_key fields.name.constant: unknown key "constant". Allowed: column, transforms, omitNull',
    ],
    [
      'a field of no kind',
      mapping('  name: { omitNull: true }\n'),
      'people.mapping.yaml:6:9 error missing_key fields.name: needs one of: ref and column, column, coalesce, template, constant; got omitNull',
    ],
    [
      'a field that is a number',
      mapping('  name: 5\n'),
      'people.mapping.yaml:6:9 error wrong_type fields.name: must be text (the name of a column) or a map with',
    ],
    [
      'a field that the schema does not know',
      mapping('  nmae: name\n'),
      'people.mapping.yaml:6:3 error unknown_field fields.nmae: "nmae" is not a property of the schema person. Did you mean "name"?',
    ],
    [
      'a template with an open brace',
      mapping('  name: { template: "{name" }\n'),
      'people.mapping.yaml:6:21 error bad_template fields.name.template: "{name": a single { at character 1',
    ],
    [
      'a constant of the wrong type',
      mapping('  name: { constant: 5 }\n'),
      'people.mapping.yaml:6:21 error constant_invalid fields.name.constant: breaks the schema definition (type)',
    ],
    [
      'a wait longer than the platform allows',
      mapping('options: { dependencyWaitTimeout: 25h }\n'),
      'people.mapping.yaml:6:35 error bad_dependency_wait options.dependencyWaitTimeout: "25h": must be between 0s and 24h',
    ],
    [
      'a required field that is not mapped',
      { 'person.schema.json': definition('person', { personId: { type: 'string' }, name: {}, email: {} }, ['email']) },
      'people.mapping.yaml:4:1 error field_missing fields: the field "email" of the schema person is not mapped',
    ],
    [
      'an external id that may be left out',
      {
        'people.mapping.yaml': FILES['people.mapping.yaml']!.replace(
          'personId: id',
          'personId: { column: id, omitNull: true }',
        ),
      },
      'people.mapping.yaml:5:37 error omit_null fields.personId.omitNull',
    ],
    [
      'a schema definition that is not there',
      { 'people.mapping.yaml': FILES['people.mapping.yaml']!.replace('person', 'persn') },
      'people.mapping.yaml:1:9 error schema_missing schema: there is no schema definition "persn" here. Did you mean "person"?',
    ],
    [
      'a schema definition named otherwise than its file',
      { 'person.schema.json': definition('human', { personId: {}, name: {} }) },
      'person.schema.json:2:11 error name_mismatch name: must be "person"',
    ],
    [
      'a schema definition that is not a JSON Schema',
      { 'person.schema.json': definition('person', { personId: { type: 'strng' }, name: {} }) },
      'person.schema.json:5:13 error schema_invalid schema: the JSON Schema cannot be used',
    ],
    [
      'a reference to anywhere outside',
      {
        'person.schema.json': definition('person', {
          personId: {},
          name: { properties: { a: { $ref: 'https://example.org/x' } } },
        }),
      },
      "person.schema.json:5:13 error schema_invalid schema: the JSON Schema cannot be used: can't resolve reference",
    ],
    [
      'a file that is not read',
      { 'orders.maping.yaml': 'x: 1\n' },
      'orders.maping.yaml warning unknown_file is not read',
    ],
  ])('%s', async (_title, files, expected) => {
    const findings = await findingsOf(files);
    expect(findings[0]).toContain(expected);
  });

  it('names one mistake once, although it breaks several rules', async () => {
    expect(await findingsOf(mapping('  name: { colum: name, transforms: [trim] }\n'))).toEqual([
      'people.mapping.yaml:6:11 error unknown_key fields.name.colum: unknown key "colum". Did you mean "column"? Allowed: column, transforms, omitNull',
    ]);
  });

  it('reports the mistakes of all files at once', async () => {
    const findings = await findingsOf({
      ...sync('mode: ful\nx: 1\n'),
      ...mapping('  nmae: name\n  name: 5\n'),
      'person.schema.json': '{}',
    });
    expect(findings.map((finding) => finding.split(' ')[0])).toEqual([
      'sync.yaml:5:7',
      'sync.yaml:6:1',
      'people.mapping.yaml:7:9',
      'person.schema.json:1:1',
      'person.schema.json:1:1',
      'person.schema.json:1:1',
      'person.schema.json:1:1',
    ]);
  });

  it('throws all of them as one error when a run starts', async () => {
    const error = await loadSync(syncFolder(mapping('  a: b\n  c: d\n')), 'shop', ENV).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PartnerSyncError);
    expect((error as PartnerSyncError).code).toBe('config_invalid');
    expect((error as PartnerSyncError).message.split('\n')).toHaveLength(2);
  });

  it('names a sync that does not exist, and those that do', async () => {
    const folder = syncFolder();
    expect(await listSyncs(folder)).toEqual(['shop']);
    const { findings } = await checkSyncFiles(folder, 'shpo', ENV);
    expect(findings.map(formatFinding)).toEqual(['shpo error sync_missing there is no such sync. Syncs: shop']);
    expect((await checkSyncFiles(folder, '../shop', ENV)).findings[0]!.kind).toBe('bad_name');
  });
});

describe('references', () => {
  const child = (field: string, property: object) => ({
    'dogs.mapping.yaml': `schema: dog\nsource: { table: dogs }\nkey: [id]\nfields:\n  dogId: id\n  owner: ${field}\n`,
    'dog.schema.json': definition('dog', { dogId: {}, owner: property as never }),
  });

  it.each([
    [
      'must be written as ref',
      child('owner_id', { $ref: 'person' }),
      '6:3 error ref_expected fields.owner: "owner" is a reference to the schema person: write { ref: people, column: ... }',
    ],
    [
      'need a $ref in the schema',
      child('{ ref: people, column: owner_id }', { type: 'string' }),
      '6:17 error ref_unexpected fields.owner.ref',
    ],
    [
      'need a mapping that exists',
      child('{ ref: poeple, column: owner_id }', { $ref: 'person' }),
      '6:17 error mapping_missing fields.owner.ref: there is no mapping "poeple". Did you mean "people"?',
    ],
    [
      'need a mapping of the right schema',
      child('{ ref: people, column: owner_id }', { $ref: 'company' }),
      '6:17 error ref_schema fields.owner.ref: the schema definition refers to company, and the mapping "people" fills person',
    ],
    [
      'may not form a cycle of which every one is required',
      {
        ...child('{ ref: dogs, column: mother_id }', { $ref: 'dog' }),
        'dog.schema.json': definition('dog', { dogId: {}, owner: { $ref: 'dog' } }, ['owner']),
      },
      '6:17 error reference_cycle fields.owner.ref: the mappings refer to each other in a cycle (dogs -> dogs)',
    ],
  ])('%s', async (_title, files, expected) => {
    expect((await findingsOf(files))[0]).toContain(`dogs.mapping.yaml:${expected}`);
  });
});

describe('files that cannot be trusted', () => {
  const people = 'people.mapping.yaml';
  it.each([
    ['broken YAML', 'schema: [a\nx: y\n', ':2:1 error syntax'],
    ['a key written twice', `${FILES[people]}schema: b\n`, ':7:1 error duplicate_key'],
    ['a tag that means code elsewhere', 'schema: !!js/function "x"\n', ':1:9 error syntax'],
    [
      'a number that YAML reads as another',
      `${FILES[people]}  a: { constant: 010 }\n`,
      ':7:18 error doubtful_number 010 would be read as 10',
    ],
    [
      'a number that would be rounded',
      `${FILES[people]}  a: { constant: 9007199254740993 }\n`,
      ':7:18 error doubtful_number 9007199254740993',
    ],
    [
      'a key that YAML reads as another',
      `${FILES[people]}  a: { column: b, transforms: [{ values: { map: { 01: x } } }] }\n`,
      ':7:51 error doubtful_number 01 would be read as 1; quote it',
    ],
    [
      'a key that is the same as another but for its quotes',
      `${FILES[people]}  a: { column: b, transforms: [{ values: { map: { 1: x, '1': y } } }] }\n`,
      ':7:57 error duplicate_key',
    ],
    [
      'a key that is null',
      `${FILES[people]}  null: x\n`,
      ':7:3 error doubtful_number null would be read as an empty text',
    ],
    [
      'a number that is compared letter by letter, and reads otherwise',
      `${FILES[people]}  a: { column: b, transforms: [{ nullIf: { equals: [0, -1.00] } }] }\n`,
      ':7:56 error doubtful_number -1.00 would be read as -1; quote it',
    ],
    [
      'a word that is compared letter by letter, and reads otherwise',
      `${FILES[people]}  a: { column: b, transforms: [{ values: { map: { A: TRUE } } }] }\n`,
      ':7:54 error doubtful_number TRUE would be read as true; quote it',
    ],
    ['a number that is none', `${FILES[people]}  a: { constant: .nan }\n`, ':7:18 error doubtful_number .nan'],
    [
      'an alias bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replace(
        /./g,
        (c) =>
          `${c}: &${c} [${Array(9)
            .fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`)
            .join(',')}]\n`,
      )}`,
      ':1:1 error too_many_aliases',
    ],
    ['nesting beyond reason', '['.repeat(100_000), ':1:1 error too_deep'],
    [
      'nesting by indentation',
      Array.from({ length: 60 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
      ':33:33 error too_deep',
    ],
    ['a huge file', `# ${'x'.repeat(1024 * 1024)}\n`, ' error too_large'],
    ['nothing at all', '', ':1:1 error wrong_type must be a map of keys; got null'],
    ['a field named __proto__', `${FILES[people]}  __proto__: x\n`, ':7:3 error forbidden_name fields.__proto__'],
    ['a field named constructor', `${FILES[people]}  constructor: x\n`, ':7:3 error forbidden_name fields.constructor'],
  ])('are refused: %s', async (_title, text, expected) => {
    expect((await findingsOf({ [people]: text })).join('\n')).toContain(`${people}${expected}`);
    expect({}).not.toHaveProperty('x');
  });

  it('are not read from outside the folder through a symbolic link', async () => {
    const folder = syncFolder({ 'people.mapping.yaml': null });
    const outside = syncFolder();
    symlinkSync(join(outside, 'shop', 'people.mapping.yaml'), join(folder, 'shop', 'people.mapping.yaml'));
    const { findings } = await checkSyncFiles(folder, 'shop', ENV);
    expect(findings.map((finding) => finding.kind)).toEqual(['outside_folder']);
    symlinkSync(join(outside, 'shop'), join(folder, 'other'));
    expect((await checkSyncFiles(folder, 'other', ENV)).findings[0]!.kind).toBe('outside_folder');
  });

  it('are refused if a folder has their name', async () => {
    const folder = syncFolder({ 'people.mapping.yaml': null });
    mkdirSync(join(folder, 'shop', 'people.mapping.yaml'));
    writeFileSync(join(folder, 'shop', 'b.mapping.yaml'), FILES['people.mapping.yaml']!);
    expect((await checkSyncFiles(folder, 'shop', ENV)).findings.map((finding) => finding.kind)).toContain('not_a_file');
  });
});

describe('values from the environment', () => {
  const CANARY = 'canary-Zq81';

  it('are named if they are not set, wherever they are used', async () => {
    expect(await findingsOf(mapping('  name: ${env:NAME_COLUMN}\n'), {})).toEqual([
      'sync.yaml:3:15 error env_missing source.connection: the environment variable SHOP_URL is not set',
      'people.mapping.yaml:6:9 error env_missing fields.name: the environment variable NAME_COLUMN is not set',
    ]);
  });

  it('never become YAML', async () => {
    const { sync: loaded } = await lint(mapping('  name: x${env:N}\n'), { ...ENV, N: 'a\nkey: [b]' });
    expect(loaded!.mappings[0]!.fields.get('name')).toMatchObject({ column: 'xa\nkey: [b]' });
  });

  it('never appear in findings, whatever is wrong with them', async () => {
    const everything = {
      'sync.yaml':
        'source: { client: "${env:C}", connection: "${env:C}", statementTimeout: "${env:C}" }\ntenant: "${env:C} x"\nmode: ${env:C}\nschedules: [{ name: "${env:C}", cron: "${env:C}", timezone: "${env:C}" }]\n',
      'people.mapping.yaml':
        'schema: ${env:C}\nsource: { table: "${env:C}" }\nkey: "${env:C}"\nfields:\n  personId: { template: "{${env:C}" }\n  name: { ref: "${env:C}", column: a, transforms: ["${env:C}", { phone: { country: "${env:C}" } }] }\n',
      'person.schema.json': definition('${env:C}', { personId: { type: '${env:C}' }, name: {} }).replace(
        '"personId"',
        '"${env:C}"',
      ),
    };
    const findings = await findingsOf(everything, { C: CANARY });
    expect(findings.length).toBeGreaterThan(10);
    expect(findings.join('\n')).not.toContain(CANARY);
  });
});

describe('the version of a sync', () => {
  const version = async (files: Record<string, string>, env = ENV) => (await lint(files, env)).sync!.version;

  it('changes with what is sent, and with nothing else', async () => {
    const before = await version({});
    expect(before).toMatch(/^[0-9a-f]{16}$/);
    expect(await version({}, { SHOP_URL: 'postgres://other@elsewhere/shop' })).toBe(before);
    expect(await version({ 'people.mapping.yaml': `# a comment\n${FILES['people.mapping.yaml']}` })).toBe(before);
    expect(
      await version({ 'people.mapping.yaml': FILES['people.mapping.yaml']!.replace('name: name', 'name: nick') }),
    ).not.toBe(before);
    expect(await version({ 'sync.yaml': FILES['sync.yaml']!.replace('tenant-a', 'tenant-b') })).not.toBe(before);
  });
});
