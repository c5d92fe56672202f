/**
 * The interface of transforms that users write: a file `<name>.transform.js` in the folder of a sync exports one as its
 * default. This module is what such a file may import, so it needs nothing else at run time.
 */
import type { JsonObject, JsonValue } from '../../../domain/values/json.js';
import type { TEXT_KINDS } from '../../encode/value-kind.js';

/** A kind of value that a transform can take. Each has one text form, in which the value arrives. */
export type TransformInput = (typeof TEXT_KINDS)[number];

/** What a transform can give, and the type of its results. */
export interface TransformResults {
  readonly text: string;
  /** Finite. */
  readonly number: number;
  readonly boolean: boolean;
  /** Texts. */
  readonly list: readonly string[];
  /** Maps and lists of JSON values. */
  readonly json: JsonObject | readonly JsonValue[];
}

/** Returned by {@link TransformContext.reject}: the row becomes a dead letter. */
export interface TransformRejection {
  /** The name of the declared reason. */
  readonly rejection: string;
}

/** JSON Schema of one option. An option without a `default` must be given in the mapping. */
export interface TransformOption {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';
  readonly enum?: readonly JsonValue[];
  readonly default?: JsonValue;
  readonly description?: string;
  /** Any other keyword of JSON Schema. */
  readonly [keyword: string]: unknown;
}

/** The type of an option's value, from its JSON Schema. */
export type TransformOptionValue<S extends TransformOption> = S extends { readonly enum: readonly (infer E)[] }
  ? E
  : S extends { readonly type: 'string' }
    ? string
    : S extends { readonly type: 'integer' | 'number' }
      ? number
      : S extends { readonly type: 'boolean' }
        ? boolean
        : JsonValue;

/** What a transform gets beside the value. */
export interface TransformContext<
  Options extends Readonly<Record<string, TransformOption>> = Readonly<Record<string, TransformOption>>,
  Reason extends string = string,
> {
  /** The options of the field, with defaults filled in. Frozen. */
  readonly options: { readonly [Name in keyof Options]: TransformOptionValue<Options[Name]> };
  /** Rejects the row for a declared reason: `return reject('tooLong')`. */
  readonly reject: (reason: Reason) => TransformRejection;
}

/** A value in its text form, and what the transform must make of it. */
export type CustomTransformExample<Reason extends string = string> = {
  readonly in: string;
  /** As in a mapping. */
  readonly options?: JsonObject;
} & (
  | { readonly out: JsonValue }
  /** The name of the reason. */
  | { readonly rejected: Reason }
);

/** A transform of a user. */
export interface CustomTransform<
  Gives extends keyof TransformResults = keyof TransformResults,
  Options extends Readonly<Record<string, TransformOption>> = Readonly<Record<string, TransformOption>>,
  Reason extends string = string,
> {
  /** One sentence for people who read the mapping. */
  readonly description?: string;
  /** Kinds of value that it takes; by default `['text']`. */
  readonly takes?: readonly TransformInput[];
  readonly gives: Gives;
  readonly options?: Options;
  /**
   * Why it may reject a row: names, and the sentences that dead letters show. They are declared rather than made, so that
   * none can contain a value of the row.
   */
  readonly rejections?: Readonly<Record<Reason, string>>;
  /** Run whenever the sync is loaded; at least one. */
  readonly examples: readonly CustomTransformExample<NoInfer<Reason>>[];
  /**
   * Maps one value, which is never SQL NULL. It must be synchronous, and its result must follow from its arguments alone:
   * no clock, no random numbers, no environment, no network, no state. null is sent as null.
   */
  readonly apply: (
    value: string,
    context: TransformContext<Options, NoInfer<Reason>>,
  ) => TransformResults[Gives] | null | TransformRejection;
}

/** Returns the transform as it is; the compiler checks `apply` and the examples against the other keys. */
export const defineTransform = <
  Gives extends keyof TransformResults,
  const Options extends Readonly<Record<string, TransformOption>> = Record<never, TransformOption>,
  Reason extends string = never,
>(
  transform: CustomTransform<Gives, Options, Reason>,
): CustomTransform<Gives, Options, Reason> => transform;
