/** Maps single rows in unit tests. */
import { PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import type { SourceType } from '../domain/source/source.js';
import type { JsonObject } from '../domain/values/json.js';
import { nearest } from '../domain/values/names.js';
import { mapRow as mapTexts } from '../mapping/check/run-examples.js';
import { didYouMean } from '../mapping/language/violation-message.js';
import { testMapping, type TestSync } from './open-sync.js';

/**
 * A value of a row. A text is taken as the database writes it, as in examples; docs/mapping.md shows the texts of all kinds.
 * Others become such a text:
 *
 * - numbers and bigints their digits; decimals that a number would round must be texts,
 * - `true` and `false` `t` and `f`,
 * - dates a point in time for `timestamptz`, or their day in UTC for `date`,
 * - bytes `\x00ff`, for `bytes`,
 * - maps and lists their JSON, for `json`.
 */
export type TestValue =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | readonly unknown[]
  | { readonly [key: string]: unknown }
  | null
  | undefined;

/** A row by column names; a column that is left out is NULL. */
export type TestRow = Readonly<Record<string, TestValue>>;

/** The record that a row becomes. */
export interface MappedTestRow {
  readonly kind: 'record';
  readonly tenant: string;
  readonly externalId: string;
  /** Its fields, in the order of the mapping. */
  readonly record: JsonObject;
  /** Of a row that is marked as deleted: whether its record is changed, or nothing is sent. */
  readonly deletion?: 'apply' | 'ignore';
}

/** Why a row becomes a dead letter: the first rule that it breaks. */
export interface RejectedTestRow {
  readonly kind: 'rejected';
  readonly code: ErrorCode;
  /** null if the row has no known tenant. */
  readonly tenant: string | null;
  /** null if the row has no usable external id. */
  readonly externalId: string | null;
  /** JSON pointer to the field: `/email`; empty for the tenant. */
  readonly pointer: string;
  /** Such as `format: email` or `transform: phone`. */
  readonly rule: string;
  /** In words, without the value. */
  readonly reason: string;
  /** The value, masked: `text(12) aa9.aaa`. */
  readonly shape: string;
}

/**
 * Maps a row as a run would. Custom transforms are called twice, and must be pure.
 *
 * @throws PartnerSyncError `input_invalid` for a mapping or column that does not exist, and for a value that does not fit its
 *   column; `config_invalid` if the mapping does not fit the columns.
 */
export function mapRow(sync: TestSync, mapping: string, row: TestRow): MappedTestRow | RejectedTestRow {
  const { columns, compiled } = testMapping(sync, mapping);
  const texts = Object.fromEntries(
    Object.entries(row).map(([name, value]): [string, string | null] => {
      if (!Object.hasOwn(columns, name)) throw unknownColumn(mapping, name, Object.keys(columns));
      return [name, value === null || value === undefined ? null : textOf(name, columns[name]!, value)];
    }),
  );
  const result = mapTexts(compiled, texts);
  if (result.kind === 'failed') {
    const { code, tenant, externalId, pointer, rule, reason, shape } = result;
    return { kind: 'rejected', code, tenant, externalId, pointer, rule, reason, shape };
  }
  const { tenant, externalId, data, deletion } = result;
  return { kind: 'record', tenant, externalId, record: data, ...(deletion !== undefined && { deletion }) };
}

function unknownColumn(mapping: string, name: string, columns: readonly string[]): PartnerSyncError {
  const message = `${mapping} reads no column "${name}".${didYouMean(nearest(name, columns))} Columns: ${columns.join(', ')}`;
  return new PartnerSyncError('input_invalid', message);
}

/** The text in which a database would give the value. */
function textOf(column: string, type: SourceType, value: NonNullable<TestValue>): string {
  const misfit = (what: string): PartnerSyncError =>
    new PartnerSyncError('input_invalid', `${column} is a column of the kind ${type}, and ${what}`);
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && !Number.isFinite(value)) throw misfit(`${value} must be given as a text`);
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value !== 'object') return String(value);
  if (value instanceof Date) return dateText(value, type, misfit);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (type !== 'json') throw misfit('takes no map or list');
  return JSON.stringify(value);
}

function dateText(value: Date, type: SourceType, misfit: (what: string) => PartnerSyncError): string {
  const [day, time] = value.toISOString().split('T') as [string, string];
  if (type === 'timestamptz') return `${day} ${time.replace('Z', '+00')}`;
  if (type === 'date') return day;
  throw misfit('a Date does not say which text it means there: give the text');
}
