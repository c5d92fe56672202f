/** The kinds of value between a column and a field, by which the steps of a field are checked against each other. */
import type { JsonValue } from '../../domain/values/json.js';
import type { SourceType } from '../../domain/source/source.js';
import { dateFromDatabase, instantFromDatabase } from './date-from-database.js';
import { Rejection } from './rejection.js';

/**
 * A source type, or what a transform has made of one. `dateTime` is RFC 3339 text in UTC, `hex` is bytes as lower-case hex
 * digits. `jsonNumber`, `jsonBoolean` and `list` (of texts) are final: no transform takes them.
 */
export type Kind = SourceType | 'dateTime' | 'hex' | 'jsonNumber' | 'jsonBoolean' | 'list';

/** The result of a step; null ends the steps, and so does a rejection. */
export type MappedValue = JsonValue | Rejection;
/** Converts a value that is not null. Never throws for bad data: it returns a {@link Rejection}. */
export type Step = (value: string) => MappedValue;

/** A kind, and the step that leads to it. */
export interface KindAndStep {
  readonly kind: Kind;
  /** null if the value stays as it is. */
  readonly step: Step | null;
}

/** Kinds whose values have one text form; `bytes` have it as `hex`. All others need a transform or SQL. */
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

/** How a value of this kind is written as text; undefined if there is no single right way. */
export function textForm(kind: Kind): KindAndStep | undefined {
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

/** `\x00ff` gives `00ff`. In SQLite, a column of bytes may contain texts and numbers as well, which are rejected. */
const hexFromDatabase = (value: string): string | Rejection =>
  BYTES.test(value) ? value.slice(2) : new Rejection('bytes', 'not bytes, but a text or a number', value);

const booleanText = (value: string): string => (value === 't' ? 'true' : value === 'f' ? 'false' : value);
