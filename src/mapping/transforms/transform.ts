/** The interface of all transforms, and what they share for reading their options. */
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import type { ByteTable } from '../encode/copy-value.js';
import type { Kind } from '../encode/value-kind.js';
import { Rejection } from '../encode/rejection.js';

/** An input with the expected output or rejection; the tests run all of them, and the documentation shows some. */
export type TransformExample = { readonly options?: JsonObject; readonly in: string } & (
  | { readonly out: JsonValue }
  /** A part of the reason of the expected rejection. */
  | { readonly rejected: string }
);

/** A step between a column and a field. The JSON Schema of mapping files and the documentation are derived from it. */
export interface Transform {
  readonly name: string;
  /** One sentence or two for editors and `docs/mapping.md`. */
  readonly description: string;
  /** JSON Schema of each option; those in `required` must be given. */
  readonly options: { readonly properties: JsonObject; readonly required?: readonly string[] };
  /** Kinds that it takes. A value arrives in its text form if its kind has one, otherwise as the database writes it. */
  readonly takes: readonly Kind[];
  /** Kind of its results; `same` if it keeps values or replaces them by null. */
  readonly gives: Kind | 'same';
  /** Returns what is wrong with the options that a JSON Schema cannot express; undefined if nothing is. */
  readonly check?: (options: JsonObject) => string | undefined;
  /**
   * Called once for each field, with options that have passed their schema and `check`. The function that it returns is
   * called for each row, but not for SQL NULL, which skips all transforms. It never throws for bad data.
   */
  readonly make: (options: JsonObject) => (value: string) => JsonValue | Rejection;
  /** For transforms that change each character on its own: what each byte becomes; see {@link ByteTable}. */
  readonly bytes?: ByteTable;
  readonly examples: readonly TransformExample[];
}

/** The rejection of `value` by a transform; `reason` must not quote the value. */
export const rejected = (transform: string, reason: string, value: string): Rejection =>
  new Rejection(`transform: ${transform}`, reason, value);

/** The value of a text option, or `otherwise` if it is not given. */
export const textOption = (options: JsonObject, name: string, otherwise: string): string => {
  const value = options[name];
  return typeof value === 'string' ? value : otherwise;
};

/** The entries of a list option as texts: `[1, true]` gives `1` and `true`. Empty if it is not given. */
export const textsOption = (options: JsonObject, name: string): string[] => {
  const value = options[name];
  return Array.isArray(value) ? value.map(scalarText) : [];
};

/** The text of a value that is valid under {@link SCALAR}. */
export const scalarText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** JSON Schema of one entry of {@link textsOption}. */
export const SCALAR: JsonObject = { type: ['string', 'number', 'boolean'] };
