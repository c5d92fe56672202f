/** Column types of SQLite with their boundary values. */
import { deadLetter, MB, type TypeCase } from './type-case.js';

export const SQLITE_CASES: readonly TypeCase[] = [
  {
    ddl: 'integer',
    kind: 'integer',
    drafted: 'string',
    values: [
      ['9223372036854775807', '9223372036854775807', '9223372036854775807'],
      ["'abc'", 'abc', 'abc'],
    ],
    note: 'a value that is not a number keeps its text; a number field refuses it',
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
    note: 'SQLite itself stores fractions as doubles',
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
    note: 'the mapping names its zone, and refuses numbers among the texts',
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
    holding: 'named like a time',
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
    note: 'bytes that are not UTF-8 arrive as lone surrogates: the row is a dead letter',
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
];
