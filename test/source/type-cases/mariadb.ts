/** Column types of MariaDB with their boundary values. */
import { deadLetter, MB, type TypeCase } from './type-case.js';

export const MARIADB_CASES: readonly TypeCase[] = [
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
    note: 'a zero date is not a date: the row is a dead letter',
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
    note: 'a zero date is not a date: the row is a dead letter',
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
    note: 'left out if values are longer than 64 bytes; with `encode` they are sent',
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
    note: 'in the order in which the bytes are stored: what UUID_TO_BIN() swapped stays swapped',
  },
  { ddl: 'varbinary(16)', kind: 'bytes', drafted: 'string', values: [["x'00'", '\\x00', '00']] },
  { ddl: 'binary(4)', kind: 'bytes', drafted: 'string', values: [["x'00ff'", '\\x00ff0000', '00ff0000']] },
  {
    ddl: 'char(5)',
    kind: 'text',
    drafted: 'string',
    values: [["'ab'", 'ab', 'ab']],
    note: 'the server removes the padding',
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
];
