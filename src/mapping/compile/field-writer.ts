/** The interface of planned fields: functions that write the JSON of a field from a row. */
import type { JsonValue } from '../../domain/values/json.js';
import type { ByteRow, SourceColumn } from '../../domain/source/source.js';
import type { RecordTexts } from '../../records/record-texts.js';
import type { Proven } from '../encode/conversion.js';
import type { MappedValue } from '../encode/value-kind.js';
import { Rejection } from '../encode/rejection.js';
import { writeValue } from '../encode/write-value.js';
import type { Path } from '../language/place.js';

/**
 * Appends the JSON of a field's value to the record. Returns
 * - true if the value is written and is as the plan proves;
 * - false if it is written, but the record has to be checked as a whole (record-check.ts);
 * - null for null, for which nothing is written;
 * - a {@link Rejection} if the row has no value for the field; a part of it may have been written then.
 */
export type WriteField = (row: ByteRow, json: RecordTexts) => boolean | null | Rejection;

/** Tests what the plan of a field does not prove about its values; null if nothing is left to test. */
export type Rule = ((value: JsonValue) => boolean) | null;

/** A field that can be written. */
export interface FieldWriter {
  /** The function that writes the field. It also writes a value that breaks `rule`, and returns false for it. */
  readonly writer: (rule: Rule) => WriteField;
  /** What is known of every value of the field; `reference`: the form of a `$ref` field. */
  readonly proven: Proven | 'reference';
  /** Indexes of the columns that are read as bytes; all others are read as texts. */
  readonly copied: readonly number[];
}

/** Why a field cannot work, for `check`. */
export interface FieldProblem {
  /** Relative to the field in the mapping file. */
  readonly path: Path;
  readonly message: string;
}

/** A field that can be written, with what to do about null. */
export interface PlannedField extends FieldWriter {
  /** Whether null leaves the field out instead of sending null, which would delete it (platform-api.md 4.8). */
  readonly omitNull: boolean;
}

/** The result of planning a field. */
export type FieldPlan = FieldWriter | { readonly problems: readonly FieldProblem[] };

/** A column of the source, and the index of its values in the rows. */
export interface PlacedColumn {
  readonly index: number;
  readonly column: SourceColumn;
}

/** What is proven of a field of which nothing is known. */
export const NOTHING_PROVEN: Proven = { type: null, format: null };

/** Writes the result of a field's steps; see {@link WriteField}. */
export function writeMapped(value: MappedValue, rule: Rule, json: RecordTexts): boolean | null | Rejection {
  if (value === null || value instanceof Rejection) return value;
  const isSendable = writeValue(value, json);
  return isSendable && (rule === null || rule(value));
}
