/**
 * Types of SQL Server. The driver's values are not exact (decimals become doubles, timestamps lose digits), so the
 * server converts every value to text, in a style that keeps each digit.
 */
import type { SourceType } from '../../domain/source/source.js';
import type { ColumnType } from '../dialect.js';

/** The driver's metadata of a column. */
export interface ColumnMetadata {
  readonly colName: string;
  readonly type: { readonly name: string };
  /** 80 is a rowversion, which is a binary(8) otherwise. */
  readonly userType: number;
  readonly precision?: number | undefined;
  readonly scale?: number | undefined;
  /** Bytes; 65535 is `max`. */
  readonly dataLength?: number | undefined;
  /** `sortId` is 0 for Windows collations, and a number for the older ones, whose names begin with SQL_. */
  readonly collation?: { readonly sortId: number } | undefined;
}

const ROWVERSION = 80;
const MAX = 65_535;
/** Bytes of a character of nchar and nvarchar. */
const WIDE = 2;

type Conversion = Omit<ColumnType, 'databaseType'>;

const text = (style: string): ((sql: string) => string) => {
  const [type, number] = style.split(', ');
  return (sql) => `CONVERT(${type}, ${sql}${number === undefined ? '' : `, ${number}`})`;
};

const INTEGER: Conversion = { type: 'integer', select: text('nvarchar(20)') };
const DECIMAL: Conversion = { type: 'decimal', select: text('nvarchar(50)') };
/** Style 2: four digits after the point, no commas. */
const MONEY: Conversion = { type: 'decimal', select: text('nvarchar(50), 2') };
/** Style 3: enough digits to restore the value. */
const FLOAT: Conversion = { type: 'float', select: text('nvarchar(50), 3'), finish: (t) => String(Number(t)) };
const REAL: Conversion = { ...FLOAT, finish: (t) => shortestFloat(t) };
const BIT: Conversion = { type: 'boolean', select: text('nvarchar(1)'), finish: (t) => (t === '1' ? 't' : 'f') };
/** Styles 23 and 121: ISO 8601 with a blank, all digits of the type. */
const DATE: Conversion = { type: 'date', select: text('nvarchar(10), 23') };
const TIME: Conversion = { type: 'time', select: text('nvarchar(16), 121') };
const TIMESTAMP: Conversion = { type: 'timestamp', select: text('nvarchar(27), 121') };
const INSTANT: Conversion = {
  type: 'timestamptz',
  select: (sql) => text('nvarchar(34), 121')(`SWITCHOFFSET(${sql}, '+00:00')`),
  finish: (t) => t.replace(/ \+00:00$/, '+00'),
};
const UUID: Conversion = { type: 'uuid', select: text('nvarchar(36)'), finish: (t) => t.toLowerCase() };
/** Style 2: hex digits without 0x. */
const BYTES: Conversion = {
  type: 'bytes',
  select: (sql) => `CONVERT(varchar(max), CONVERT(varbinary(max), ${sql}), 2)`,
  finish: (t) => `\\x${t.toLowerCase()}`,
};
/** Collations ignore case, accents and trailing blanks; a comparison of bytes does not. */
const TEXT: Conversion = {
  type: 'text',
  select: text('nvarchar(max)'),
  tieBreak: (sql) => `CONVERT(varbinary(8000), CONVERT(nvarchar(4000), ${sql}))`,
};
/** The SQL_ collations order varchar differently from nvarchar, in which bounds are written. */
const OLD_TEXT: Conversion = { ...TEXT, order: text('nvarchar(4000)') };
const XML: Conversion = { type: 'text', select: text('nvarchar(max)') };

/** By the catalogue's names of types. */
const BY_NAME: Readonly<Record<string, Conversion>> = {
  tinyint: INTEGER,
  smallint: INTEGER,
  int: INTEGER,
  bigint: INTEGER,
  decimal: DECIMAL,
  numeric: DECIMAL,
  money: MONEY,
  smallmoney: MONEY,
  float: FLOAT,
  real: REAL,
  bit: BIT,
  date: DATE,
  time: TIME,
  datetime: TIMESTAMP,
  smalldatetime: TIMESTAMP,
  datetime2: TIMESTAMP,
  datetimeoffset: INSTANT,
  uniqueidentifier: UUID,
  binary: BYTES,
  varbinary: BYTES,
  image: BYTES,
  timestamp: BYTES,
  rowversion: BYTES,
  char: TEXT,
  varchar: TEXT,
  nchar: TEXT,
  nvarchar: TEXT,
  text: XML,
  ntext: XML,
  sysname: TEXT,
  xml: XML,
};

/** The facts of a column's type, joined in one text for {@link typeOfCode}. */
export function codeOf({ type, userType, precision, scale, dataLength, collation }: ColumnMetadata): string {
  return [nameOf(type.name, userType, dataLength), precision, scale, dataLength, collation?.sortId].join('/');
}

/** The driver's types of nullable columns, by their length in bytes. */
const NULLABLE: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  intn: { 1: 'tinyint', 2: 'smallint', 4: 'int', 8: 'bigint' },
  floatn: { 4: 'real', 8: 'float' },
  moneyn: { 4: 'smallmoney', 8: 'money' },
  datetimen: { 4: 'smalldatetime', 8: 'datetime' },
};
const PLAIN: Readonly<Record<string, string>> = {
  bitn: 'bit',
  decimaln: 'decimal',
  numericn: 'numeric',
  variant: 'sql_variant',
};

function nameOf(driverName: string, userType: number, length: number | undefined): string {
  const name = driverName.toLowerCase();
  if (userType === ROWVERSION) return 'rowversion';
  return NULLABLE[name]?.[length ?? 0] ?? PLAIN[name] ?? name;
}

/** The type behind a code of {@link codeOf}; `other` for an unknown name. */
export function typeOfCode(code: string): ColumnType {
  const [name, precision, scale, length, sortId] = code.split('/') as [string, string, string, string, string];
  const old = (name === 'varchar' || name === 'char') && Number(sortId) > 0;
  const conversion = old ? OLD_TEXT : (BY_NAME[name] ?? { type: 'other' as const });
  return { ...conversion, databaseType: written(name, precision, scale, Number(length)) };
}

function written(name: string, precision: string, scale: string, length: number): string {
  switch (name) {
    case 'decimal':
    case 'numeric':
      return `${name}(${precision},${scale})`;
    case 'time':
    case 'datetime2':
    case 'datetimeoffset':
      return `${name}(${scale})`;
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary':
      return `${name}(${length === MAX ? 'max' : length})`;
    case 'nchar':
    case 'nvarchar':
      return `${name}(${length === MAX ? 'max' : length / WIDE})`;
    default:
      return name;
  }
}

/** The kind of a column by the type's name in the catalogue: `decimal(12,2)`, `nvarchar(max)`. */
export const kindOfName = (databaseType: string): SourceType =>
  BY_NAME[databaseType.replace(/\(.*$/, '').toLowerCase()]?.type ?? 'other';

/** The shortest text of a real: `0.1` for `1.00000001e-001`, whose nine digits restore the value but are not needed. */
function shortestFloat(exact: string): string {
  const value = Math.fround(Number(exact));
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}
