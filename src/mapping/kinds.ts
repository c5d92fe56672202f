/** What a value is on its way from a column to a field: a source type, or what a transform has made of it. */
import type { JsonValue } from '../domain/json.js';
import type { SourceType } from '../domain/source.js';
import { dateFromDatabase, instantFromDatabase } from './date-text.js';
import { Rejection } from './rejection.js';

/**
 * `dateTime` is RFC 3339 text in UTC, `hex` bytes as hex digits; `jsonNumber`, `jsonBoolean` and `list` (of texts) are
 * final: no transform takes them.
 */
export type Kind = SourceType | 'dateTime' | 'hex' | 'jsonNumber' | 'jsonBoolean' | 'list';

export type MappedValue = JsonValue | Rejection;
export type Step = (value: string) => MappedValue;

export interface Typed {
  readonly kind: Kind;
  /** null where the value is right as it is. */
  readonly step: Step | null;
}

/** Kinds with a text form of their own; the others need a transform or an expression in the query. */
export const TEXT_KINDS = [
  'text',
  'integer',
  'decimal',
  'float',
  'boolean',
  'date',
  'time',
  'timestamptz',
  'uuid',
  'json',
  'dateTime',
  'hex',
] as const satisfies readonly Kind[];

/** The text that people would write for a value of this kind; undefined where there is no single right one. */
export function textForm(kind: Kind): Typed | undefined {
  switch (kind) {
    case 'boolean':
      return { kind, step: booleanText };
    case 'date':
      return { kind, step: dateFromDatabase };
    case 'bytes':
      return { kind: 'hex', step: hexFromDatabase };
    case 'timestamptz':
      return { kind: 'dateTime', step: instantFromDatabase };
    default:
      return (TEXT_KINDS as readonly Kind[]).includes(kind) ? { kind, step: null } : undefined;
  }
}

const BYTES = /^\\x(?:[0-9a-f]{2})*$/;

/** `\x00ff` as `00ff`. SQLite keeps texts and numbers in a column of bytes too. */
const hexFromDatabase = (value: string): string | Rejection =>
  BYTES.test(value) ? value.slice(2) : new Rejection('bytes', 'not bytes, but a text or a number', value);

const booleanText = (value: string): string => (value === 't' ? 'true' : value === 'f' ? 'false' : value);
