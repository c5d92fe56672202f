/** SQLite's types, as columns declare them; a value may still be of another type. */
import type { SourceType } from '../../domain/source/source.js';
import type { ColumnType } from '../dialect.js';

/** How SQLite stores what it is given (https://sqlite.org/datatype3.html, section 3.1). */
export type Affinity = 'integer' | 'text' | 'blob' | 'real' | 'numeric' | 'none';

/** The affinity of a declared type. */
export function affinityOf(declared: string): Affinity {
  if (declared === '') return 'none';
  if (/INT/i.test(declared)) return 'integer';
  if (/CHAR|CLOB|TEXT/i.test(declared)) return 'text';
  if (/BLOB/i.test(declared)) return 'blob';
  return /REAL|FLOA|DOUB/i.test(declared) ? 'real' : 'numeric';
}

/** Kinds by type names that mean nothing to SQLite itself, but do to people. */
const MEANT: readonly (readonly [pattern: RegExp, kind: SourceType])[] = [
  [/^BOOL/, 'boolean'],
  [/^(DATETIME|TIMESTAMP)/, 'timestamp'],
  [/^DATE$/, 'date'],
  [/^TIME\b/, 'time'],
  [/^UUID|^GUID/, 'uuid'],
  [/^JSON$/, 'json'],
  [/^(DECIMAL|NUMERIC|NUMBER|MONEY)/, 'decimal'],
];

const binary = (sql: string): string => `${sql} COLLATE BINARY`;
/**
 * A column may ignore case whatever its type: `STRING`, which has no meaning to SQLite, holds texts as well as numbers. What iif()
 * returns has no collation.
 */
const TIE_BREAKS: Readonly<Partial<Record<Affinity, (sql: string) => string>>> = {
  text: binary,
  numeric: binary,
};

/** Without an affinity, a number or bytes never equal a bound text, so all are compared by the text that a page has for them. */
function untyped(sql: string): string {
  return `iif(typeof(${sql}) = 'blob', '\\x' || lower(hex(${sql})), CAST(${sql} AS TEXT))`;
}

/** The type of a declaration, which is empty for expressions and for columns without one. */
export function typeOfDeclared(declared: string): ColumnType {
  const name = declared.toUpperCase();
  const type = kindOfDeclared(name);
  const tieBreak = TIE_BREAKS[affinityOf(name)];
  return {
    type,
    databaseType: declared === '' ? 'no declared type' : declared.toLowerCase(),
    hasOtherTypes: true,
    ...(type === 'boolean' ? { finish: booleanText } : {}),
    ...(affinityOf(name) === 'none' ? { order: untyped, mayTie: true } : {}),
    ...(tieBreak === undefined ? {} : { tieBreak }),
  };
}

/** The kind of a declared type. */
export function kindOfDeclared(declared: string): SourceType {
  const name = declared.toUpperCase();
  const meant = MEANT.find(([pattern]) => pattern.test(name))?.[1];
  if (meant !== undefined) return meant;
  switch (affinityOf(name)) {
    case 'integer':
      return 'integer';
    case 'real':
      return 'float';
    case 'blob':
      return 'bytes';
    case 'text':
    case 'none':
    case 'numeric':
      return 'text';
  }
}

const booleanText = (text: string): string => (text === '1' ? 't' : text === '0' ? 'f' : text);
