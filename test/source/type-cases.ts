/** Column types and their values at the edges, in each database's own words: what must arrive, and docs/types.md. */
import type { JsonValue } from '../../src/domain/json.js';
import type { SourceType } from '../../src/domain/source.js';

/** What a value ends as where it is no record: the rule that it breaks. */
export interface DeadLetter {
  readonly deadLetter: string;
}
export const deadLetter = (rule: string): DeadLetter => ({ deadLetter: rule });

export interface TypeCase {
  /** Where a name is part of the guess. */
  readonly name?: string;
  /** As in CREATE TABLE. */
  readonly ddl: string;
  /** What is in a column of this type, where that decides how it is drafted. */
  readonly holding?: string;
  readonly kind: SourceType;
  /** The field that `init` makes of a column with these values; null where it makes none. */
  readonly drafted: string | null;
  /** Literals, the texts that must be read, and what the platform must have; undefined where nothing is sent. */
  readonly values: readonly (readonly [literal: string, text: string, record?: JsonValue | DeadLetter])[];
  readonly note?: string;
}

const MB = 1024 * 1024;

const NO_TEXT = 'no conversion: cast it in the query';

/** What has to be there before the tables. */
export const SETUP: Readonly<Record<'PostgreSQL' | 'MariaDB' | 'SQLite', string>> = {
  PostgreSQL: `
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''UTC''', current_database()); END $$;
    CREATE EXTENSION citext;
    CREATE EXTENSION hstore;
    CREATE TYPE mood AS ENUM ('low', 'high');
    CREATE TYPE place AS (street text, no int);
    CREATE DOMAIN price AS numeric(12,2) CHECK (VALUE >= 0);
    CREATE DOMAIN net_price AS price;
    CREATE DOMAIN mail AS citext;
    CREATE DOMAIN moods AS mood[];
    CREATE DOMAIN some_mood AS mood;`,
  // Zero dates are refused by new servers and there in old ones.
  MariaDB: `SET sql_mode = ''`,
  SQLite: 'SELECT 1',
};

export const TYPE_CASES: Readonly<Record<'PostgreSQL' | 'MariaDB' | 'SQLite', readonly TypeCase[]>> = {
  PostgreSQL: [
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
      note: 'NaN and infinities are no JSON: the row is a dead letter',
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
      note: 'left out where values are of more than 64 bytes; `encode` sends them',
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
  ],
  MariaDB: [
    {
      ddl: 'tinyint(1)',
      kind: 'integer',
      drafted: 'integer',
      values: [
        ['1', '1', 1],
        ['2', '2', 2],
      ],
      note: 'a boolean field takes 0 and 1, and refuses others',
    },
    {
      ddl: 'bigint unsigned',
      kind: 'integer',
      drafted: 'string',
      values: [['18446744073709551615', '18446744073709551615', '18446744073709551615']],
    },
    {
      ddl: 'int(5) zerofill',
      kind: 'integer',
      drafted: 'integer',
      values: [['42', '42', 42]],
      note: 'without the zeros, which are a way of printing',
    },
    {
      ddl: 'decimal(40,10)',
      kind: 'decimal',
      drafted: 'string',
      values: [
        [
          '123456789012345678901234567890.0123456789',
          '123456789012345678901234567890.0123456789',
          '123456789012345678901234567890.0123456789',
        ],
      ],
    },
    {
      ddl: 'float',
      kind: 'float',
      drafted: 'number',
      values: [
        ['0.1', '0.1', 0.1],
        ['16777217.25', '16777218', 16777218],
        ['1e-30', '1e-30', 1e-30],
      ],
      note: 'all digits: the server would print six',
    },
    {
      ddl: 'double',
      kind: 'float',
      drafted: 'number',
      values: [
        ['0.1e0 + 0.2e0', '0.30000000000000004', 0.30000000000000004],
        ['-1.7976931348623157e308', '-1.7976931348623157e308', -1.7976931348623157e308],
      ],
    },
    {
      ddl: 'bit(1)',
      kind: 'boolean',
      drafted: 'boolean',
      values: [
        ["b'1'", 't', true],
        ["b'0'", 'f', false],
      ],
    },
    { ddl: 'bit(9)', kind: 'integer', drafted: 'integer', values: [["b'101010101'", '341', 341]] },
    {
      ddl: 'date',
      kind: 'date',
      drafted: 'string date',
      values: [
        ["'0000-00-00'", '0000-00-00', deadLetter('years 0001 to 9999')],
        ["'9999-12-31'", '9999-12-31', '9999-12-31'],
      ],
      note: 'a zero date is no date: the row is a dead letter',
    },
    {
      ddl: 'time(2)',
      kind: 'time',
      drafted: 'string',
      values: [["'-838:59:59.99'", '-838:59:59.99', '-838:59:59.99']],
    },
    {
      ddl: 'datetime(6)',
      kind: 'timestamp',
      drafted: 'string date-time, dateTime { zone: UTC }',
      values: [
        ["'2020-03-29 01:30:00.123456'", '2020-03-29 01:30:00.123456', '2020-03-29T01:30:00.123456Z'],
        ["'0000-00-00'", '0000-00-00 00:00:00.000000', deadLetter('transform: dateTime')],
      ],
      note: 'the mapping names its zone',
    },
    {
      ddl: 'timestamp(3) NULL',
      kind: 'timestamptz',
      drafted: 'string date-time',
      values: [["'2020-06-01 12:00:00.123'", '2020-06-01 06:30:00.123+00', '2020-06-01T06:30:00.123Z']],
      note: 'in UTC; written here in a session of +05:30',
    },
    {
      ddl: 'timestamp NULL',
      kind: 'timestamptz',
      drafted: 'string date-time',
      values: [
        ["'2020-06-01 12:00:00'", '2020-06-01 06:30:00+00', '2020-06-01T06:30:00Z'],
        ["'0000-00-00'", '0000-00-00 00:00:00+00', deadLetter('years 0001 to 9999')],
      ],
      note: 'a zero date is no date: the row is a dead letter',
    },
    { ddl: 'year', kind: 'integer', drafted: 'integer', values: [['2020', '2020', 2020]] },
    { ddl: "enum('b','a')", kind: 'text', drafted: 'string', values: [["'a'", 'a', 'a']] },
    {
      ddl: "set('a','b')",
      kind: 'text',
      drafted: 'string',
      values: [
        ["'b,a'", 'a,b', 'a,b'],
        ["''", '', ''],
      ],
    },
    { ddl: 'json', kind: 'json', drafted: 'any JSON', values: [[`'{"a": 1.50}'`, '{"a": 1.50}', { a: 1.5 }]] },
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
    { ddl: 'inet6', kind: 'text', drafted: 'string', values: [["'::1'", '::1', '::1']] },
    { ddl: 'inet4', kind: 'text', drafted: 'string', values: [["'10.0.0.1'", '10.0.0.1', '10.0.0.1']] },
    {
      ddl: 'blob',
      kind: 'bytes',
      drafted: 'string',
      values: [["x'00ff'", '\\x00ff', '00ff']],
      note: 'hex digits, or what `encode` makes of them',
    },
    {
      ddl: 'mediumblob',
      holding: 'of files',
      kind: 'bytes',
      drafted: null,
      values: [["REPEAT('x', 65)", `\\x${'78'.repeat(65)}`]],
      note: 'left out where values are of more than 64 bytes; `encode` sends them',
    },
    {
      ddl: 'binary(16)',
      kind: 'bytes',
      drafted: 'string uuid, encode { as: uuid }',
      values: [
        [
          "x'a0eebc999c0b4ef8bb6d6bb9bd380a11'",
          '\\xa0eebc999c0b4ef8bb6d6bb9bd380a11',
          'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
        ],
      ],
      note: 'in the order in which the bytes are kept: what UUID_TO_BIN() swapped stays swapped',
    },
    { ddl: 'varbinary(16)', kind: 'bytes', drafted: 'string', values: [["x'00'", '\\x00', '00']] },
    { ddl: 'binary(4)', kind: 'bytes', drafted: 'string', values: [["x'00ff'", '\\x00ff0000', '00ff0000']] },
    {
      ddl: 'char(5)',
      kind: 'text',
      drafted: 'string',
      values: [["'ab'", 'ab', 'ab']],
      note: 'the server takes the padding off',
    },
    { ddl: 'varchar(5) CHARACTER SET latin1', kind: 'text', drafted: 'string', values: [["'é€'", 'é€', 'é€']] },
    {
      ddl: 'varchar(5) CHARACTER SET ucs2',
      kind: 'text',
      drafted: 'string',
      values: [["_ucs2 x'D800'", '\udced\udca0\udc80', deadLetter('encodable')]],
      note: 'half a character arrives as lone surrogates: the row is a dead letter',
    },
    {
      ddl: 'longtext',
      kind: 'text',
      drafted: 'string',
      values: [
        ["CONCAT('e', _utf8mb4 x'CC81', '😀')", 'e\u0301😀', 'é😀'],
        ["_utf8mb4 x'6100'", 'a\u0000', deadLetter('refused by the platform')],
        [`REPEAT('x', ${MB})`, 'x'.repeat(MB), 'x'.repeat(MB)],
      ],
    },
    {
      ddl: 'point',
      kind: 'other',
      drafted: null,
      values: [['POINT(1, 2)', '\\x000000000101000000000000000000f03f0000000000000040']],
      note: 'no conversion: ST_AsText() in the query',
    },
  ],
  SQLite: [
    {
      ddl: 'integer',
      kind: 'integer',
      drafted: 'string',
      values: [
        ['9223372036854775807', '9223372036854775807', '9223372036854775807'],
        ["'abc'", 'abc', 'abc'],
      ],
      note: 'what is no number stays what it is, and the field refuses it',
    },
    {
      ddl: 'real',
      kind: 'float',
      drafted: 'number',
      values: [
        ['0.1 + 0.2', '0.30000000000000004', 0.30000000000000004],
        ['9e999', 'Infinity', deadLetter('exact number')],
      ],
    },
    {
      ddl: 'decimal(12,2)',
      kind: 'decimal',
      drafted: 'string',
      values: [
        ['12.10', '12.1', '12.1'],
        ['9007199254740993', '9007199254740993', '9007199254740993'],
      ],
      note: 'SQLite itself keeps fractions as doubles',
    },
    {
      ddl: 'boolean',
      kind: 'boolean',
      drafted: 'boolean',
      values: [
        ['1', 't', true],
        ['0', 'f', false],
        ['2', '2', deadLetter('boolean')],
      ],
    },
    { ddl: 'date', kind: 'date', drafted: 'string date', values: [["'2020-01-01'", '2020-01-01', '2020-01-01']] },
    {
      ddl: 'datetime',
      kind: 'timestamp',
      drafted: 'string date-time, dateTime { zone: UTC }',
      values: [
        ["'2020-01-01 10:00:00'", '2020-01-01 10:00:00', '2020-01-01T10:00:00Z'],
        ['1577872800', '1577872800', deadLetter('transform: dateTime')],
      ],
      note: 'the mapping names its zone; numbers among texts are refused there',
    },
    {
      ddl: 'datetime',
      holding: 'with zones',
      kind: 'timestamp',
      drafted: 'string date-time, instant',
      values: [
        ["'2020-01-01T10:00:00.500Z'", '2020-01-01T10:00:00.500Z', '2020-01-01T10:00:00.5Z'],
        ["'2020-01-01 10:00:00+02:00'", '2020-01-01 10:00:00+02:00', '2020-01-01T08:00:00Z'],
      ],
    },
    {
      ddl: 'timestamp',
      holding: 'in seconds',
      kind: 'timestamp',
      drafted: 'string date-time, instant { from: seconds }',
      values: [['1577872800', '1577872800', '2020-01-01T10:00:00Z']],
    },
    {
      ddl: 'datetime',
      holding: 'in milliseconds',
      kind: 'timestamp',
      drafted: 'string date-time, instant { from: milliseconds }',
      values: [['1577872800123', '1577872800123', '2020-01-01T10:00:00.123Z']],
    },
    {
      name: 'paid_at',
      ddl: 'integer',
      holding: 'called like a time',
      kind: 'integer',
      drafted: 'string date-time, instant { from: seconds }',
      values: [['1577872800', '1577872800', '2020-01-01T10:00:00Z']],
    },
    {
      ddl: 'text',
      holding: 'with zones',
      kind: 'text',
      drafted: 'string date-time, instant',
      values: [["'2020-01-01T10:00:00Z'", '2020-01-01T10:00:00Z', '2020-01-01T10:00:00Z']],
    },
    {
      ddl: 'uuid',
      kind: 'uuid',
      drafted: 'string uuid',
      values: [
        [
          "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
          'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
          'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
        ],
      ],
    },
    { ddl: 'json', kind: 'json', drafted: 'any JSON', values: [[`'{"a": 1.50}'`, '{"a": 1.50}', { a: 1.5 }]] },
    {
      ddl: 'blob',
      kind: 'bytes',
      drafted: 'string',
      values: [["x'00ff'", '\\x00ff', '00ff']],
      note: 'hex digits, or what `encode` makes of them',
    },
    {
      ddl: 'text',
      kind: 'text',
      drafted: 'string',
      values: [
        ["'e' || char(769) || '😀'", 'e\u0301😀', 'é😀'],
        ["'a' || char(0) || 'b'", 'a\u0000b', deadLetter('refused by the platform')],
        ["CAST(x'61FF' AS TEXT)", 'a\udcff', deadLetter('encodable')],
        ["CAST(x'EFBFBDFF' AS TEXT)", '\ufffd\udcff', deadLetter('encodable')],
        ["x'6162'", 'ab', 'ab'],
        [`replace(hex(zeroblob(${MB / 2})), '0', 'x')`, 'x'.repeat(MB), 'x'.repeat(MB)],
      ],
      note: 'bytes that are no UTF-8 arrive as lone surrogates: the row is a dead letter',
    },
    { ddl: 'varchar(10)', kind: 'text', drafted: 'string', values: [["'007'", '007', '007']] },
    {
      ddl: '',
      kind: 'text',
      drafted: 'string',
      values: [
        ['5', '5', '5'],
        ["'x'", 'x', 'x'],
      ],
      note: 'no declared type, and expressions of queries',
    },
  ],
};
