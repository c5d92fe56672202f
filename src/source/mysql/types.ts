/** Types of MySQL and MariaDB, from the metadata of fields, and the decoding of their bytes. */
import type { FieldPacket } from 'mysql2';
import type { SourceType } from '../../domain/source/source.js';
import { decodeText } from '../decode-text.js';
import type { ColumnType } from '../dialect.js';

const UNSIGNED = 32;
const ZEROFILL = 64;
const ENUM = 256;
const SET = 2048;
/** The character set of binary columns. */
const BINARY = 63;
/** All text arrives as utf8mb4, so lengths are given as four bytes a character. */
const BYTES_A_CHARACTER = 4;

/** By the protocol's number of a type: its name and kind. */
const TYPES: Readonly<Record<number, readonly [name: string, kind: SourceType]>> = {
  0: ['decimal', 'decimal'],
  1: ['tinyint', 'integer'],
  2: ['smallint', 'integer'],
  3: ['int', 'integer'],
  4: ['float', 'float'],
  5: ['double', 'float'],
  6: ['null', 'text'],
  7: ['timestamp', 'timestamptz'],
  8: ['bigint', 'integer'],
  9: ['mediumint', 'integer'],
  10: ['date', 'date'],
  11: ['time', 'time'],
  12: ['datetime', 'timestamp'],
  13: ['year', 'integer'],
  16: ['bit', 'integer'],
  245: ['json', 'json'],
  246: ['decimal', 'decimal'],
  249: ['text', 'text'],
  250: ['text', 'text'],
  251: ['text', 'text'],
  252: ['text', 'text'],
  253: ['varchar', 'text'],
  254: ['char', 'text'],
  255: ['geometry', 'other'],
};
/** The names of text types whose character set is binary. */
const BYTES_NAMES: Readonly<Record<string, string>> = { text: 'blob', varchar: 'varbinary', char: 'binary' };

/** Properties of a field that the driver sets without declaring them. */
interface Field {
  readonly columnType?: number;
  readonly characterSet?: number;
  readonly columnLength?: number;
  readonly flags: number | readonly string[];
  readonly decimals: number;
  readonly extendedTypeName?: string;
  readonly extendedFormat?: string;
}

/** The facts of a field's type, joined in one text for {@link typeOfCode}. */
export function codeOf(packet: FieldPacket): string {
  const field = packet as unknown as Field;
  const flags = Number(field.flags) & (UNSIGNED | ZEROFILL | ENUM | SET);
  const bytes = field.characterSet === BINARY ? 1 : 0;
  const extended = field.extendedFormat ?? field.extendedTypeName ?? '';
  return [field.columnType, flags, bytes, field.columnLength, field.decimals, extended].join('/');
}

function factsOf(code: string) {
  const [number, flags, bytes, length, decimals, extended] = code.split('/') as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    number: Number(number),
    flags: Number(flags),
    isBytes: bytes === '1',
    length: Number(length),
    decimals: Number(decimals),
    extended,
  };
}

/** The type behind a code of {@link codeOf}; `other` for an unknown number. */
export function typeOfCode(code: string): ColumnType {
  const { number, flags, isBytes, length, decimals, extended } = factsOf(code);
  const [name, kind] = TYPES[number] ?? ['unknown', 'other'];
  const unsigned = flags & UNSIGNED ? ' unsigned' : '';
  const fraction = decimals > 0 && decimals <= 6 ? `(${decimals})` : '';
  switch (name) {
    case 'tinyint':
      return { type: kind, databaseType: `tinyint${length === 1 ? '(1)' : ''}${unsigned}` };
    case 'decimal': {
      const digits = length - (decimals > 0 ? 1 : 0) - (unsigned === '' ? 1 : 0);
      return { type: kind, databaseType: `decimal(${digits},${decimals})${unsigned}` };
    }
    case 'float':
      // The server would write a float with six digits only.
      return { type: kind, databaseType: `float${unsigned}`, select: (sql) => `${sql} * 1e0`, finish: shortestFloat };
    case 'bit':
      return { ...(length === 1 ? BOOLEAN : { type: kind }), databaseType: `bit(${length})`, select: bitsAsNumber };
    case 'datetime':
    case 'timestamp':
    case 'time':
      return { type: kind, databaseType: `${name}${fraction}` };
    case 'text':
    case 'varchar':
    case 'char':
      return textOrBytes(name, flags, isBytes, length, extended);
    default:
      return { type: kind, databaseType: `${name}${unsigned}` };
  }
}

function textOrBytes(name: string, flags: number, isBytes: boolean, length: number, extended: string): ColumnType {
  if (extended === 'json' || extended === 'uuid') return { type: extended, databaseType: extended };
  if (extended !== '') return { type: 'text', databaseType: extended };
  if (flags & (ENUM | SET))
    // They sort by their internal numbers, but compare with text as text.
    return {
      type: 'text',
      databaseType: flags & ENUM ? 'enum' : 'set',
      order: (sql) => `CAST(${sql} AS CHAR)`,
      tieBreak: bytesOfText,
    };
  if (isBytes) {
    const bytes = BYTES_NAMES[name]!;
    return { type: 'bytes', databaseType: bytes === 'blob' ? bytes : `${bytes}(${length})` };
  }
  return {
    type: 'text',
    databaseType: name === 'text' ? name : `${name}(${length / BYTES_A_CHARACTER})`,
    tieBreak: bytesOfText,
  };
}

/** Collations ignore case, accents and trailing blanks; bytes do not. */
const bytesOfText = (sql: string): string => `CAST(CONVERT(${sql} USING utf8mb4) AS BINARY)`;

/** MariaDB sends a column's bits as bytes, but an expression's as digits, and calls both of them bit. */
const bitsAsNumber = (sql: string): string => `${sql} + 0`;

const BOOLEAN: Pick<ColumnType, 'type' | 'finish'> = {
  type: 'boolean',
  finish: (digit) => (digit === '0' ? 'f' : 't'),
};

/** The shortest text of a double that denotes the same float: `0.1` for `0.10000000149011612`. */
function shortestFloat(text: string): string {
  const exact = Number(text);
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(exact.toPrecision(digits));
    if (Math.fround(short) === exact) return String(short);
  }
  return text;
}

/** The function that decodes a field's bytes to the text that the product promises. */
export function decoderOf(packet: FieldPacket): (bytes: Buffer) => string {
  const { number, flags, isBytes } = factsOf(codeOf(packet));
  const [name] = TYPES[number] ?? ['unknown'];
  if (name === 'geometry' || (isBytes && name in BYTES_NAMES)) return (b) => `\\x${b.toString('hex')}`;
  if (name in BYTES_NAMES || name === 'json') return decodeText;
  // The session's zone is UTC; only the column's type says that the value is a point in time.
  if (name === 'timestamp') return (b) => `${b.toString('latin1')}+00`;
  // ZEROFILL only pads the display with zeros.
  if (flags & ZEROFILL) return (b) => b.toString('latin1').replace(/^0+(?=\d)/, '');
  return (b) => b.toString('latin1');
}

/** The kind of a column by the type's name in the catalogue: `int(10) unsigned`, `enum('a','b')`. */
export function kindOfName(columnType: string): SourceType {
  const name = /^[a-z]+\d*/i.exec(columnType)?.[0].toLowerCase() ?? '';
  if (columnType === 'bit(1)') return 'boolean';
  if (/blob$|binary$/.test(name)) return 'bytes';
  if (/text$|^inet[46]$|^enum$|^set$/.test(name)) return 'text';
  if (name === 'uuid') return 'uuid';
  return Object.values(TYPES).find(([known]) => known === name)?.[1] ?? 'other';
}
