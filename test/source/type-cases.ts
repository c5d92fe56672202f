/** Column types and their values at the edges, in each database's own words: what must arrive, and docs/types.md. */
import type { SourceType } from '../../src/domain/source.js';

export interface TypeCase {
  /** As in CREATE TABLE. */
  readonly ddl: string;
  readonly kind: SourceType;
  /** Literals and the texts that must arrive. */
  readonly values: readonly (readonly [literal: string, text: string])[];
  readonly note?: string;
}

const MB = 1024 * 1024;

export const TYPE_CASES: Readonly<Record<'PostgreSQL' | 'MariaDB' | 'SQLite', readonly TypeCase[]>> = {
  PostgreSQL: [
    {
      ddl: 'bigint',
      kind: 'integer',
      values: [
        ['9223372036854775807', '9223372036854775807'],
        ['-9007199254740993', '-9007199254740993'],
      ],
    },
    {
      ddl: 'numeric',
      kind: 'decimal',
      values: [
        ['123456789012345678901234567890.0123456789', '123456789012345678901234567890.0123456789'],
        ["'NaN'", 'NaN'],
      ],
      note: 'NaN and infinities are no JSON: the row is a dead letter',
    },
    { ddl: 'numeric(12,2)', kind: 'decimal', values: [['1.1', '1.10']] },
    {
      ddl: 'money',
      kind: 'decimal',
      values: [['1234.5', '1234.50']],
      note: 'read as numeric: its own text depends on the server',
    },
    {
      ddl: 'real',
      kind: 'float',
      values: [
        ['0.1', '0.1'],
        ["'Infinity'", 'Infinity'],
      ],
    },
    {
      ddl: 'double precision',
      kind: 'float',
      values: [
        ['0.1::float8 + 0.2', '0.30000000000000004'],
        ["'-0'", '-0'],
        ["'NaN'", 'NaN'],
      ],
    },
    {
      ddl: 'boolean',
      kind: 'boolean',
      values: [
        ['true', 't'],
        ['false', 'f'],
      ],
    },
    {
      ddl: 'date',
      kind: 'date',
      values: [
        ["'0044-03-15 BC'", '0044-03-15 BC'],
        ["'infinity'", 'infinity'],
        ["'10000-01-01'", '10000-01-01'],
      ],
    },
    {
      ddl: 'time',
      kind: 'time',
      values: [
        ["'24:00:00'", '24:00:00'],
        ["'01:02:03.000001'", '01:02:03.000001'],
      ],
    },
    { ddl: 'time with time zone', kind: 'text', values: [["'10:00:00.5+05:30'", '10:00:00.5+05:30']] },
    {
      ddl: 'timestamp',
      kind: 'timestamp',
      values: [
        ["'2020-03-29 01:30:00.123456'", '2020-03-29 01:30:00.123456'],
        ["'-infinity'", '-infinity'],
      ],
      note: 'the mapping names its zone',
    },
    {
      ddl: 'timestamptz',
      kind: 'timestamptz',
      values: [["'2020-06-01 12:00:00.123456+05:30'", '2020-06-01 06:30:00.123456+00']],
    },
    { ddl: 'interval', kind: 'text', values: [["'1 year 2 days 03:04:05.6'", 'P1Y2DT3H4M5.6S']] },
    {
      ddl: 'uuid',
      kind: 'uuid',
      values: [["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']],
    },
    {
      ddl: 'json',
      kind: 'json',
      values: [[`'{"a": 1.50, "a": 9007199254740993}'`, '{"a": 1.50, "a": 9007199254740993}']],
    },
    { ddl: 'jsonb', kind: 'json', values: [[`'{"b":1e400}'`, `{"b": 1${'0'.repeat(400)}}`]] },
    {
      ddl: 'text[]',
      kind: 'json',
      values: [[`ARRAY['a,b', NULL, '"']`, `["a,b",null,"\\""]`]],
      note: 'read by to_json',
    },
    { ddl: 'bigint[]', kind: 'json', values: [['ARRAY[9223372036854775807]', '[9223372036854775807]']] },
    {
      ddl: 'bytea',
      kind: 'bytes',
      values: [
        [`'\\x00ff'`, '\\x00ff'],
        [`''`, '\\x'],
      ],
      note: 'no conversion: encode it in the query',
    },
    { ddl: 'bit(3)', kind: 'text', values: [["B'101'", '101']] },
    {
      ddl: 'inet',
      kind: 'text',
      values: [
        ["'10.0.0.1/8'", '10.0.0.1/8'],
        ["'::1'", '::1'],
      ],
    },
    { ddl: 'char(5)', kind: 'text', values: [["'ab'", 'ab   ']], note: 'with its padding' },
    {
      ddl: 'text',
      kind: 'text',
      values: [
        ["'e' || chr(769) || '😀'", 'e\u0301😀'],
        ["''", ''],
        [`repeat('x', ${MB})`, 'x'.repeat(MB)],
        ["'a' || chr(1) || '\\u0000'", 'a\u0001\\u0000'],
      ],
    },
    { ddl: 'int4range', kind: 'other', values: [["'[1,5)'", '[1,5)']], note: 'no conversion: cast it in the query' },
  ],
  MariaDB: [
    {
      ddl: 'tinyint(1)',
      kind: 'integer',
      values: [
        ['1', '1'],
        ['2', '2'],
      ],
      note: 'a boolean field takes 0 and 1, and refuses others',
    },
    { ddl: 'bigint unsigned', kind: 'integer', values: [['18446744073709551615', '18446744073709551615']] },
    {
      ddl: 'int(5) zerofill',
      kind: 'integer',
      values: [['42', '42']],
      note: 'without the zeros, which are a way of printing',
    },
    {
      ddl: 'decimal(40,10)',
      kind: 'decimal',
      values: [['123456789012345678901234567890.0123456789', '123456789012345678901234567890.0123456789']],
    },
    {
      ddl: 'float',
      kind: 'float',
      values: [
        ['0.1', '0.1'],
        ['16777217.25', '16777218'],
        ['1e-30', '1e-30'],
      ],
      note: 'all digits: the server would print six',
    },
    {
      ddl: 'double',
      kind: 'float',
      values: [
        ['0.1e0 + 0.2e0', '0.30000000000000004'],
        ['-1.7976931348623157e308', '-1.7976931348623157e308'],
      ],
    },
    {
      ddl: 'bit(1)',
      kind: 'boolean',
      values: [
        ["b'1'", 't'],
        ["b'0'", 'f'],
      ],
    },
    { ddl: 'bit(9)', kind: 'integer', values: [["b'101010101'", '341']] },
    {
      ddl: 'date',
      kind: 'date',
      values: [
        ["'0000-00-00'", '0000-00-00'],
        ["'9999-12-31'", '9999-12-31'],
      ],
      note: 'a zero date is no date: the row is a dead letter',
    },
    { ddl: 'time(2)', kind: 'time', values: [["'-838:59:59.99'", '-838:59:59.99']] },
    {
      ddl: 'datetime(6)',
      kind: 'timestamp',
      values: [
        ["'2020-03-29 01:30:00.123456'", '2020-03-29 01:30:00.123456'],
        ["'0000-00-00'", '0000-00-00 00:00:00.000000'],
      ],
      note: 'the mapping names its zone',
    },
    {
      ddl: 'timestamp(3) NULL',
      kind: 'timestamptz',
      values: [["'2020-06-01 12:00:00.123'", '2020-06-01 06:30:00.123']],
      note: 'in UTC; written here in a session of +05:30',
    },
    { ddl: 'year', kind: 'integer', values: [['2020', '2020']] },
    { ddl: "enum('b','a')", kind: 'text', values: [["'a'", 'a']] },
    {
      ddl: "set('a','b')",
      kind: 'text',
      values: [
        ["'b,a'", 'a,b'],
        ["''", ''],
      ],
    },
    { ddl: 'json', kind: 'json', values: [[`'{"a": 1.50}'`, '{"a": 1.50}']] },
    {
      ddl: 'uuid',
      kind: 'uuid',
      values: [["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']],
    },
    { ddl: 'inet6', kind: 'text', values: [["'::1'", '::1']] },
    {
      ddl: 'blob',
      kind: 'bytes',
      values: [["x'00ff'", '\\x00ff']],
      note: 'no conversion: HEX() or TO_BASE64() in the query',
    },
    { ddl: 'binary(4)', kind: 'bytes', values: [["x'00ff'", '\\x00ff0000']] },
    { ddl: 'char(5)', kind: 'text', values: [["'ab'", 'ab']], note: 'the server takes the padding off' },
    { ddl: 'varchar(5) CHARACTER SET latin1', kind: 'text', values: [["'é€'", 'é€']] },
    {
      ddl: 'varchar(5) CHARACTER SET ucs2',
      kind: 'text',
      values: [["_ucs2 x'D800'", '\udced\udca0\udc80']],
      note: 'half a character arrives as lone surrogates: the row is a dead letter',
    },
    {
      ddl: 'longtext',
      kind: 'text',
      values: [
        ["CONCAT('e', _utf8mb4 x'CC81', '😀')", 'e\u0301😀'],
        ["_utf8mb4 x'6100'", 'a\u0000'],
        [`REPEAT('x', ${MB})`, 'x'.repeat(MB)],
      ],
    },
    {
      ddl: 'point',
      kind: 'other',
      values: [['POINT(1, 2)', '\\x000000000101000000000000000000f03f0000000000000040']],
      note: 'no conversion: ST_AsText() in the query',
    },
  ],
  SQLite: [
    {
      ddl: 'integer',
      kind: 'integer',
      values: [
        ['9223372036854775807', '9223372036854775807'],
        ["'abc'", 'abc'],
      ],
      note: 'what is no number stays what it is, and the field refuses it',
    },
    {
      ddl: 'real',
      kind: 'float',
      values: [
        ['0.1 + 0.2', '0.30000000000000004'],
        ['9e999', 'Infinity'],
      ],
    },
    {
      ddl: 'decimal(12,2)',
      kind: 'decimal',
      values: [
        ['12.10', '12.1'],
        ['9007199254740993', '9007199254740993'],
      ],
      note: 'SQLite itself keeps fractions as doubles',
    },
    {
      ddl: 'boolean',
      kind: 'boolean',
      values: [
        ['1', 't'],
        ['0', 'f'],
        ['2', '2'],
      ],
    },
    { ddl: 'date', kind: 'date', values: [["'2020-01-01'", '2020-01-01']] },
    {
      ddl: 'datetime',
      kind: 'timestamp',
      values: [
        ["'2020-01-01 10:00:00'", '2020-01-01 10:00:00'],
        ['1577872800', '1577872800'],
      ],
      note: 'the mapping names its zone; numbers are refused there',
    },
    {
      ddl: 'uuid',
      kind: 'uuid',
      values: [["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']],
    },
    { ddl: 'json', kind: 'json', values: [[`'{"a": 1.50}'`, '{"a": 1.50}']] },
    { ddl: 'blob', kind: 'bytes', values: [["x'00ff'", '\\x00ff']], note: 'no conversion: hex() in the query' },
    {
      ddl: 'text',
      kind: 'text',
      values: [
        ["'e' || char(769) || '😀'", 'e\u0301😀'],
        ["'a' || char(0) || 'b'", 'a\u0000b'],
        ["CAST(x'61FF' AS TEXT)", 'a\udcff'],
        ["CAST(x'EFBFBDFF' AS TEXT)", '\ufffd\udcff'],
        ["x'6162'", 'ab'],
        [`replace(hex(zeroblob(${MB / 2})), '0', 'x')`, 'x'.repeat(MB)],
      ],
      note: 'bytes that are no UTF-8 arrive as lone surrogates: the row is a dead letter',
    },
    { ddl: 'varchar(10)', kind: 'text', values: [["'007'", '007']] },
    {
      ddl: '',
      kind: 'text',
      values: [
        ['5', '5'],
        ["'x'", 'x'],
      ],
      note: 'no declared type, and expressions of queries',
    },
  ],
};
