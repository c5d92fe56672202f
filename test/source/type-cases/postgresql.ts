/** Column types of PostgreSQL with their boundary values. */
import { deadLetter, MB, NO_TEXT, type TypeCase } from './type-case.js';

export const POSTGRESQL_CASES: readonly TypeCase[] = [
  {
    ddl: 'bigint',
    kind: 'integer',
    drafted: 'string',
    values: [
      ['9223372036854775807', '9223372036854775807', '9223372036854775807'],
      ['-9007199254740993', '-9007199254740993', '-9007199254740993'],
    ],
  },
  {
    ddl: 'numeric',
    kind: 'decimal',
    drafted: 'string',
    values: [
      [
        '123456789012345678901234567890.0123456789',
        '123456789012345678901234567890.0123456789',
        '123456789012345678901234567890.0123456789',
      ],
    ],
    holding: 'with more digits than a JSON number holds',
  },
  {
    ddl: 'numeric',
    kind: 'decimal',
    drafted: 'number',
    values: [
      ['0.10', '0.10', 0.1],
      ["'NaN'", 'NaN', deadLetter('exact number')],
    ],
    note: 'JSON has no NaN or infinity: the row is a dead letter',
  },
  { ddl: 'numeric(12,2)', kind: 'decimal', drafted: 'number', values: [['1.1', '1.10', 1.1]] },
  {
    ddl: 'money',
    kind: 'decimal',
    drafted: 'number',
    values: [['1234.5', '1234.50', 1234.5]],
    note: 'read as numeric: its own text depends on the server',
  },
  {
    ddl: 'real',
    kind: 'float',
    drafted: 'number',
    values: [
      ['0.1', '0.1', 0.1],
      ["'Infinity'", 'Infinity', deadLetter('exact number')],
    ],
  },
  {
    ddl: 'double precision',
    kind: 'float',
    drafted: 'number',
    values: [
      ['0.1::float8 + 0.2', '0.30000000000000004', 0.30000000000000004],
      ["'-0'", '-0', 0],
      ["'NaN'", 'NaN', deadLetter('exact number')],
    ],
  },
  {
    ddl: 'boolean',
    kind: 'boolean',
    drafted: 'boolean',
    values: [
      ['true', 't', true],
      ['false', 'f', false],
    ],
  },
  {
    ddl: 'date',
    kind: 'date',
    drafted: 'string date',
    values: [
      ["'0044-03-15 BC'", '0044-03-15 BC', deadLetter('years 0001 to 9999')],
      ["'infinity'", 'infinity', deadLetter('finite date')],
      ["'10000-01-01'", '10000-01-01', deadLetter('years 0001 to 9999')],
    ],
  },
  {
    ddl: 'time',
    kind: 'time',
    drafted: 'string',
    values: [
      ["'24:00:00'", '24:00:00', '24:00:00'],
      ["'01:02:03.000001'", '01:02:03.000001', '01:02:03.000001'],
    ],
  },
  {
    ddl: 'time with time zone',
    kind: 'text',
    drafted: 'string',
    values: [["'10:00:00.5+05:30'", '10:00:00.5+05:30', '10:00:00.5+05:30']],
  },
  {
    ddl: 'timestamp',
    kind: 'timestamp',
    drafted: 'string date-time, dateTime { zone: UTC }',
    values: [
      ["'2020-03-29 01:30:00.123456'", '2020-03-29 01:30:00.123456', '2020-03-29T01:30:00.123456Z'],
      ["'-infinity'", '-infinity', deadLetter('transform: dateTime')],
    ],
    note: 'the mapping names its zone',
  },
  {
    ddl: 'timestamptz',
    kind: 'timestamptz',
    drafted: 'string date-time',
    values: [["'2020-06-01 12:00:00.123456+05:30'", '2020-06-01 06:30:00.123456+00', '2020-06-01T06:30:00.123456Z']],
  },
  {
    ddl: 'interval',
    kind: 'text',
    drafted: 'string',
    values: [["'1 year 2 days 03:04:05.6'", 'P1Y2DT3H4M5.6S', 'P1Y2DT3H4M5.6S']],
  },
  {
    ddl: 'uuid',
    kind: 'uuid',
    drafted: 'string uuid',
    values: [
      [
        "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
      ],
    ],
  },
  {
    ddl: 'json',
    kind: 'json',
    drafted: 'any JSON',
    values: [
      [`'{"a": 1.50, "a": 9007199254740993}'`, '{"a": 1.50, "a": 9007199254740993}', deadLetter('exact number')],
    ],
  },
  {
    ddl: 'jsonb',
    kind: 'json',
    drafted: 'any JSON',
    values: [[`'{"b":1e400}'`, `{"b": 1${'0'.repeat(400)}}`, deadLetter('exact number')]],
  },
  {
    ddl: 'text[]',
    kind: 'json',
    drafted: 'any JSON',
    values: [[`ARRAY['a,b', NULL, '"']`, `["a,b",null,"\\""]`, ['a,b', null, '"']]],
    note: 'read by to_json',
  },
  {
    ddl: 'bigint[]',
    kind: 'json',
    drafted: 'any JSON',
    values: [['ARRAY[9223372036854775807]', '[9223372036854775807]', deadLetter('exact number')]],
  },
  {
    ddl: 'bytea',
    kind: 'bytes',
    drafted: 'string',
    values: [
      [`'\\x00ff'`, '\\x00ff', '00ff'],
      [`''`, '\\x', ''],
    ],
    note: 'hex digits, or what `encode` makes of them',
  },
  { ddl: 'bit(3)', kind: 'text', drafted: 'string', values: [["B'101'", '101', '101']] },
  {
    ddl: 'inet',
    kind: 'text',
    drafted: 'string',
    values: [
      ["'10.0.0.1/8'", '10.0.0.1/8', '10.0.0.1/8'],
      ["'::1'", '::1', '::1'],
    ],
  },
  { ddl: 'char(5)', kind: 'text', drafted: 'string', values: [["'ab'", 'ab   ', 'ab   ']], note: 'with its padding' },
  {
    ddl: 'text',
    kind: 'text',
    drafted: 'string',
    values: [
      ["'e' || chr(769) || '😀'", 'e\u0301😀', 'é😀'],
      ["''", '', ''],
      [`repeat('x', ${MB})`, 'x'.repeat(MB), 'x'.repeat(MB)],
      ["'a' || chr(1) || '\\u0000'", 'a\u0001\\u0000', 'a\u0001\\u0000'],
    ],
  },
  { ddl: 'varchar(5)', kind: 'text', drafted: 'string', values: [["'ab '", 'ab ', 'ab ']] },
  { ddl: 'citext', kind: 'text', drafted: 'string', values: [["'Anna'", 'Anna', 'Anna']] },
  { ddl: 'xml', kind: 'text', drafted: 'string', values: [["'<a>1</a>'", '<a>1</a>', '<a>1</a>']] },
  { ddl: 'mood', kind: 'text', drafted: 'string', values: [["'high'", 'high', 'high']], note: 'an enum' },
  { ddl: 'mood[]', kind: 'json', drafted: 'any JSON', values: [["'{low,high}'", '["low","high"]', ['low', 'high']]] },
  {
    ddl: 'net_price',
    kind: 'decimal',
    drafted: 'number',
    values: [['1.5', '1.50', 1.5]],
    note: 'a domain over a domain over numeric(12,2)',
  },
  {
    ddl: 'mail',
    kind: 'text',
    drafted: 'string',
    values: [["'Anna@example.org'", 'Anna@example.org', 'Anna@example.org']],
    note: 'a domain over citext',
  },
  {
    ddl: 'some_mood',
    kind: 'text',
    drafted: 'string',
    values: [["'low'", 'low', 'low']],
    note: 'a domain over an enum',
  },
  {
    ddl: 'moods',
    kind: 'json',
    drafted: 'any JSON',
    values: [["'{low}'", '["low"]', ['low']]],
    note: 'a domain over an array',
  },
  {
    ddl: 'net_price[]',
    kind: 'json',
    drafted: 'any JSON',
    values: [["'{1.5,2}'", '[1.50,2.00]', [1.5, 2]]],
    note: 'an array of a domain',
  },
  {
    ddl: 'bytea',
    holding: 'of files',
    kind: 'bytes',
    drafted: null,
    values: [[`'\\x${'00'.repeat(65)}'`, `\\x${'00'.repeat(65)}`]],
    note: 'left out if values are longer than 64 bytes; with `encode` they are sent',
  },
  {
    ddl: 'bytea',
    holding: 'of 16 bytes',
    kind: 'bytes',
    drafted: 'string uuid, encode { as: uuid }',
    values: [
      [
        `'\\xa0eebc999c0b4ef8bb6d6bb9bd380a11'`,
        '\\xa0eebc999c0b4ef8bb6d6bb9bd380a11',
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
      ],
    ],
  },
  { ddl: 'int4range', kind: 'other', drafted: null, values: [["'[1,5)'", '[1,5)']], note: NO_TEXT },
  {
    ddl: 'place',
    kind: 'other',
    drafted: null,
    values: [["ROW('Lane', 5)", '(Lane,5)']],
    note: `a composite type: ${NO_TEXT}`,
  },
  { ddl: 'hstore', kind: 'other', drafted: null, values: [["'a=>1'", '"a"=>"1"']], note: NO_TEXT },
  { ddl: 'point', kind: 'other', drafted: null, values: [["'(1,2)'", '(1,2)']], note: NO_TEXT },
  { ddl: 'tsvector', kind: 'other', drafted: null, values: [["'a'", "'a'"]], note: NO_TEXT },
];
