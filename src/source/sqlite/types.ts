/** SQLite's types: what a column was declared as; each value may still be of another. */
import type { SourceType } from '../../domain/source.js';
import type { ColumnType } from '../dialect.js';

/** How SQLite stores what it is given (https://sqlite.org/datatype3.html, section 3.1). */
export type Affinity = 'integer' | 'text' | 'blob' | 'real' | 'numeric' | 'none';

export function affinityOf(declared: string): Affinity {
  if (declared === '') return 'none';
  if (/INT/i.test(declared)) return 'integer';
  if (/CHAR|CLOB|TEXT/i.test(declared)) return 'text';
  if (/BLOB/i.test(declared)) return 'blob';
  return /REAL|FLOA|DOUB/i.test(declared) ? 'real' : 'numeric';
}

/** What people mean by the names that SQLite itself makes nothing of. */
const MEANT: readonly (readonly [pattern: RegExp, kind: SourceType])[] = [
  [/^BOOL/, 'boolean'],
  [/^(DATETIME|TIMESTAMP)/, 'timestamp'],
  [/^DATE$/, 'date'],
  [/^TIME\b/, 'time'],
  [/^UUID|^GUID/, 'uuid'],
  [/^JSON$/, 'json'],
  [/^(DECIMAL|NUMERIC|NUMBER|MONEY)/, 'decimal'],
];

/** The type behind a declaration; empty for an expression or a column without one. */
export function typeOfDeclared(declared: string): ColumnType {
  const name = declared.toUpperCase();
  const type = kindOfDeclared(name);
  return {
    type,
    databaseType: declared === '' ? 'no declared type' : declared.toLowerCase(),
    ...(type === 'boolean' ? { finish: booleanText } : {}),
    // Without an affinity a number is never equal to a bound text; as texts they compare.
    ...(affinityOf(name) === 'none' ? { order: (sql: string) => `CAST(${sql} AS TEXT)` } : {}),
    ...(affinityOf(name) === 'text' ? { tieBreak: (sql: string) => `${sql} COLLATE BINARY` } : {}),
  };
}

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
