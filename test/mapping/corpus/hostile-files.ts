/** Files as nobody writes them by mistake: bombs, other encodings, names that reach for something else. */
import { definition, FILES } from '../sync-on-disk.js';

const SYNC = FILES['sync.yaml']!;
const MAPPING = FILES['people.mapping.yaml']!;
const DEFINITION = FILES['person.schema.json']!;

/** Lines each of which stands for ten of the one before. */
const bomb = Array.from(
  { length: 9 },
  (_, i) =>
    `b${i}: &b${i} [${Array(10)
      .fill(i === 0 ? 'x' : `*b${i - 1}`)
      .join()}]\n`,
);
const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** The valid file with a part of it replaced. */
const of = (file: string) => (part: string, by: string) => {
  if (!file.includes(part)) throw new Error(`no ${part} in the file`);
  return file.replace(part, () => by);
};
const [sync, mapping, schema] = [of(SYNC), of(MAPPING), of(DEFINITION)];
const withProperty = (property: string): string => schema('"name": {', `"more": ${property}, "name": {`);

const M = 'people.mapping.yaml';
const S = 'sync.yaml';
const D = 'person.schema.json';
const NOT_UTF8 = 'error not_utf8 is not UTF-8 text';
const BAD_TEXT = 'error bad_text contains U+0000 or half a character';
const SOURCE_URL = 'must be a URL such as postgres://';
const NO_SCHEMA = 'error schema_missing schema: there is no schema definition';
const BAD_NAME = "error bad_name a mapping's name must match";
const TENANT = 'a tenant id must match ^[A-Za-z0-9_-]{1,64}$';

/** What it is, the name of the file, its content, and how the line begins that `check` prints. */
export const HOSTILE_FILES: readonly (readonly [string, string, string | Buffer, string])[] = [
  ['an alias bomb', M, MAPPING + bomb.join(''), `${M}:1:1 error too_many_aliases`],
  ['an alias bomb in sync.yaml', S, SYNC + bomb.join(''), `${S}:1:1 error too_many_aliases`],
  ['an alias bomb in JSON', D, bomb.join(''), `${D}:1:1 error syntax is not JSON`],
  ['a list that contains itself', M, `${MAPPING}x: &x [*x]\n`, `${M}:7:8 error too_many_aliases *x stands in what`],
  ['a map that contains itself', S, `${SYNC}x: &x { y: *x }\n`, `${S}:5:12 error too_many_aliases`],
  ['a map that is merged into itself', M, `${MAPPING}x: &x {<<: *x}\n`, `${M}:7:12 error too_many_aliases`],
  ['a key that contains itself', M, `${MAPPING}? &x [*x]\n: 1\n`, `${M}:7:7 error too_many_aliases`],
  ['a tag of JavaScript', M, mapping('name: name', 'name: !!js/function "f"'), `${M}:6:9 error syntax Unresolved tag`],
  ['a tag of Python', M, mapping('name: name', 'name: !!python/object/apply:os.system [id]'), `${M}:6:9 error syntax`],
  ['a tag of Ruby', S, `!ruby/object:Gem::Installer\n${SYNC}`, `${S}:1:1 error syntax Unresolved tag`],
  ['a tag for bytes', M, mapping('name: name', 'name: !!binary aGk='), `${M}:6:18 error tag tags (!) are not`],
  ['a set', M, mapping('key: [id]', 'key: !!set {id}'), `${M}:3:12 error wrong_type key: must be a list`],
  ['a second document', M, `${MAPPING}---\n${MAPPING}`, `${M}:7:1 error syntax a second document`],
  ['no document', M, '# nothing\n', `${M}:1:1 error wrong_type must be a map of keys`],
  ['UTF-16', M, utf16(MAPPING), `${M} ${NOT_UTF8}`],
  ['UTF-16 in sync.yaml', S, utf16(SYNC), `${S} ${NOT_UTF8}`],
  ['UTF-16 in a definition', D, utf16(DEFINITION), `${D} ${NOT_UTF8}`],
  ['Latin 1', M, latin1(mapping('people', 'p\u00f6ple')), `${M} ${NOT_UTF8}`],
  ['Latin 1 in a definition', D, latin1(schema('"person"', '"p\u00f6rson"')), `${D} ${NOT_UTF8}`],
  ['a picture', M, Buffer.from('89504e470d0a1a0a0000', 'hex'), `${M} ${NOT_UTF8}`],
  [
    'half a character in bytes',
    M,
    Buffer.concat([Buffer.from(MAPPING), Buffer.from([0xe2, 0x82])]),
    `${M} ${NOT_UTF8}`,
  ],
  ['a surrogate in bytes', M, Buffer.concat([Buffer.from(MAPPING), Buffer.from('eda080', 'hex')]), `${M} ${NOT_UTF8}`],
  ['U+0000', M, mapping('name: name', 'name: na\0me'), `${M}:6:9 ${BAD_TEXT}`],
  ['U+0000 as an escape', M, mapping('name: name', 'name: "na\\0me"'), `${M}:6:9 ${BAD_TEXT}`],
  ['U+0000 in a key', M, mapping('name: name', '"na\\0me": name'), `${M}:6:3 ${BAD_TEXT}`],
  ["U+0000 in a table's name", M, mapping('table: people', 'table: "a\\0b"'), `${M}:2:18 ${BAD_TEXT}`],
  ['U+0000 in a query', M, mapping('table: people', 'query: "SELECT 1\\0"'), `${M}:2:18 ${BAD_TEXT}`],
  ['U+0000 in a definition', D, schema('"name": {', '"na\\u0000me": {'), `${D}:11:7 ${BAD_TEXT}`],
  ['half a character', M, mapping('name: name', 'name: "\\uD800"'), `${M}:6:9 ${BAD_TEXT}`],
  ["half a character in a table's name", M, mapping('table: people', 'table: "\\uDC00"'), `${M}:2:18 ${BAD_TEXT}`],
  ['half a character in a definition', D, withProperty('{"description":"\\ud800"}'), `${D}:11:30 ${BAD_TEXT}`],
  ['__proto__ as a key', M, `${MAPPING}__proto__: {a: 1}\n`, `${M}:7:1 error unknown_key __proto__`],
  ['constructor as a key', M, `${MAPPING}constructor: {a: 1}\n`, `${M}:7:1 error unknown_key constructor`],
  ['__proto__ as a field', M, `${MAPPING}  __proto__: name\n`, `${M}:7:3 error forbidden_name fields.__proto__`],
  ['prototype as a field', M, `${MAPPING}  prototype: name\n`, `${M}:7:3 error forbidden_name fields.prototype`],
  [
    'the source in __proto__',
    M,
    mapping('{ table', '{ __proto__: { table').replace('people }', 'people } }'),
    `${M}:2:9 error missing_key source`,
  ],
  ['__proto__ for a list', M, mapping('[id]', '{ __proto__: id }'), `${M}:3:6 error wrong_type key: must be a list`],
  [
    '__proto__ in a definition',
    D,
    schema('"name":', '"__proto__": {"x":1}, "name":'),
    `${D}:2:3 error unknown_key __proto__`,
  ],
  [
    '__proto__ as a transform',
    M,
    mapping('name: name', 'name: { column: name, transforms: [{ __proto__: {} }] }'),
    `${M}:6:40 error unknown_transform`,
  ],
  [
    'constructor as a transform',
    M,
    mapping('name: name', 'name: { column: name, transforms: [constructor] }'),
    `${M}:6:38 error unknown_transform`,
  ],
  [
    'a path as a transform',
    M,
    mapping('name: name', 'name: { column: name, transforms: [../../evil] }'),
    `${M}:6:38 error unknown_transform`,
  ],
  ['__proto__ as a variable', S, sync('SHOP_URL', '__proto__'), `${S}:3:15 error env_missing source.connection`],
  ['constructor as a variable', S, sync('SHOP_URL', 'constructor'), `${S}:3:15 error env_missing source.connection`],
  ['a command in a variable', S, sync('SHOP_URL', 'PATH;id'), `${S}:3:15 error env_invalid source.connection`],
  ['a variable in a variable', S, sync('${env:SHOP_URL}', '${env:${env:SHOP_URL}}'), `${S}:3:15 error env_invalid`],
  [
    'a file for the address',
    S,
    sync('${env:SHOP_URL}', '${file:/etc/passwd}'),
    `${S}:3:15 error bad_source_url source.connection: "\${file:/etc/passwd}": ${SOURCE_URL}`,
  ],
  ['a file as the address', S, sync('${env:SHOP_URL}', 'file:///etc/passwd'), `${S}:3:15 error bad_source_url`],
  ['a page as the address', S, sync('${env:SHOP_URL}', 'http://169.254.169.254/'), `${S}:3:15 error bad_source_url`],
  ['a command as the address', S, sync('${env:SHOP_URL}', '$(id)'), `${S}:3:15 error bad_source_url`],
  [
    'a file as a query',
    M,
    mapping('table: people', 'query: { file: ../../etc/passwd }'),
    `${M}:2:18 error wrong_type source.query: must be text`,
  ],
  ['a file as a list of columns', M, mapping('[id]', '${file:../x}'), `${M}:3:6 error wrong_type key: must be a list`],
  [
    'a schema above the folder',
    M,
    mapping('schema: person', 'schema: ../../etc/passwd'),
    `${M}:1:9 ${NO_SCHEMA} "../../etc/passwd"`,
  ],
  ['a schema that is the folder above', M, mapping('schema: person', 'schema: ..'), `${M}:1:9 ${NO_SCHEMA} ".."`],
  [
    'a schema from the root',
    M,
    mapping('schema: person', 'schema: /etc/passwd'),
    `${M}:1:9 ${NO_SCHEMA} "/etc/passwd"`,
  ],
  ['a schema above, encoded', M, mapping('schema: person', 'schema: "%2e%2e"'), `${M}:1:9 ${NO_SCHEMA} "%2e%2e"`],
  [
    'a mapping above the folder',
    M,
    `${MAPPING}  boss: { ref: ../people, column: name }\n`,
    `${M}:7:3 error unknown_field fields.boss`,
  ],
  [
    'a definition named after a path',
    D,
    schema('"person"', '"../x"'),
    `${D}:2:11 error bad_format name: must be a name`,
  ],
  ['a definition named ..', D, schema('"person"', '".."'), `${D}:2:11 error bad_format name: must be a name`],
  [
    'a definition named with a line',
    D,
    schema('"person"', '"a\\nb"'),
    `${D}:2:11 error bad_format name: must be a name`,
  ],
  [
    'a definition with a name twice',
    D,
    schema('"name": "person"', '"name": "x", "name": "person"'),
    `${D}:2:16 error duplicate_key`,
  ],
  [
    'a tenant with a line',
    S,
    sync('tenant-a', '"a\\r\\nx: y"'),
    `${S}:4:9 error bad_tenant_id tenant: "a\\r\\nx: y": ${TENANT}`,
  ],
  ['a tenant with blanks', S, sync('tenant-a', '" a "'), `${S}:4:9 error bad_tenant_id tenant: " a ": ${TENANT}`],
  ['a tenant named ..', S, sync('tenant-a', '".."'), `${S}:4:9 error bad_tenant_id tenant: "..": ${TENANT}`],
  ['a tenant of 65 characters', S, sync('tenant-a', 'x'.repeat(65)), `${S}:4:9 error bad_tenant_id tenant: "xxx`],
  ['a tenant in Cyrillic', S, sync('tenant-a', 'tenant-а'), `${S}:4:9 error bad_tenant_id tenant`],
  [
    'maps in maps, 20,000 deep',
    M,
    `${MAPPING}x: ${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)}\n`,
    `${M}:1:1 error too_deep`,
  ],
  ['lists in lists without an end', M, mapping('[id]', '['.repeat(50_000)), `${M}:1:1 error too_deep`],
  [
    'maps in a definition, 20,000 deep',
    D,
    withProperty(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`),
    `${D}:1:1 error too_deep`,
  ],
  ['lists in a definition without an end', D, '['.repeat(50_000), `${D}:1:1 error too_deep`],
  ['a number beyond all numbers', S, `${SYNC}upload: { batchSize: 1e400 }\n`, `${S}:5:22 error doubtful_number 1e400`],
  ['no number', S, `${SYNC}upload: { batchSize: .nan }\n`, `${S}:5:22 error doubtful_number .nan`],
  [
    'a number that is rounded',
    S,
    `${SYNC}upload: { batchSize: 99999999999999999999 }\n`,
    `${S}:5:22 error doubtful_number`,
  ],
  [
    'a key of 100,000 characters',
    M,
    `${MAPPING}${'x'.repeat(100_000)}: 1\n`,
    `${M}:7:1 error syntax The : indicator must be`,
  ],
  [
    'a schema of 100,000 characters',
    M,
    mapping('schema: person', `schema: ${'x'.repeat(100_000)}`),
    `${M}:1:9 ${NO_SCHEMA} "xxx`,
  ],
  ['a million characters', M, `# ${'x'.repeat(1024 * 1024)}`, `${M} error too_large`],
  ['a tab', M, mapping('  name: name', '\tname: name'), `${M}:6:1 error syntax a tab as indentation`],
  ['colours of a terminal', M, mapping('schema: person', 'schema: "\\e[31mred"'), `${M}:1:9 ${NO_SCHEMA}`],
  ['a mapping named .', '..mapping.yaml', MAPPING, `..mapping.yaml ${BAD_NAME}`],
  ['a mapping in capitals', 'PEOPLE.mapping.yaml', MAPPING, `PEOPLE.mapping.yaml ${BAD_NAME}`],
  ['a mapping with a blank', 'a b.mapping.yaml', MAPPING, `a b.mapping.yaml ${BAD_NAME}`],
  ['a mapping named like an option', '-rf.mapping.yaml', MAPPING, `-rf.mapping.yaml ${BAD_NAME}`],
  ['a mapping named __proto__', '__proto__.mapping.yaml', MAPPING, `__proto__.mapping.yaml ${BAD_NAME}`],
  [
    'a mapping with a long name',
    `${'x'.repeat(100)}.mapping.yaml`,
    MAPPING,
    `${'x'.repeat(100)}.mapping.yaml ${BAD_NAME}`,
  ],
  ['a mapping with a line in its name', 'a\nb.mapping.yaml', MAPPING, 'a b.mapping.yaml warning unknown_file'],
  [
    'a definition named __proto__',
    '__proto__.schema.json',
    definition('__proto__', { id: { type: 'string' } }),
    '__proto__.schema.json:1:1 warning unused_schema',
  ],
];
