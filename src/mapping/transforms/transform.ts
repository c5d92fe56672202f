/** The one shape of a transform: what it takes and gives, its options, and examples that are run as tests. */
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { ByteTable } from '../byte-json.js';
import type { Kind } from '../kinds.js';
import { Rejection } from '../rejection.js';

export type TransformExample = { readonly options?: JsonObject; readonly in: string } & (
  | { readonly out: JsonValue }
  /** Part of the reason of the rejection. */
  | { readonly rejected: string }
);

export interface Transform {
  readonly name: string;
  /** One sentence for editors, `docs/mapping.md` and messages. */
  readonly description: string;
  /** JSON Schema of each option; those in `required` must be given. */
  readonly options: { readonly properties: JsonObject; readonly required?: readonly string[] };
  /** Kinds of value it takes. Every kind but `timestamp` and `date` arrives in its text form. */
  readonly takes: readonly Kind[];
  /** Kind of what it gives; `same` where it only drops or keeps values. */
  readonly gives: Kind | 'same';
  /** What the options' JSON Schema cannot say: is this zone known? Returns the complaint. */
  readonly check?: (options: JsonObject) => string | undefined;
  /** SQL NULL never arrives here: it stays null. */
  readonly make: (options: JsonObject) => (value: string) => JsonValue | Rejection;
  /** What each byte of a text becomes, 0 where that cannot be told of the byte alone. */
  readonly bytes?: ByteTable;
  readonly examples: readonly TransformExample[];
}

export const rejected = (transform: string, reason: string, value: string): Rejection =>
  new Rejection(`transform: ${transform}`, reason, value);

/** An option that must be a text once its JSON Schema has passed. */
export const textOption = (options: JsonObject, name: string, otherwise: string): string => {
  const value = options[name];
  return typeof value === 'string' ? value : otherwise;
};

/** Texts of a list option; numbers and booleans as YAML writes them, so that `[1, true]` means their texts. */
export const textsOption = (options: JsonObject, name: string): string[] => {
  const value = options[name];
  return Array.isArray(value) ? value.map(scalarText) : [];
};

/** Text of a value that {@link SCALAR} has let pass. */
export const scalarText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** JSON Schema of one entry of {@link textsOption}. */
export const SCALAR: JsonObject = { type: ['string', 'number', 'boolean'] };
