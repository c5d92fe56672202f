/** Shapes of single fields that several groups of operations share. */
import type { JsonObject } from '../../domain/values/json.js';
import { Type, type Static, type TSchema } from 'typebox';

/** Text of at least one character. */
export const Text = (description: string) => Type.String({ minLength: 1, description });

/** How many: a number that is negative or not whole would make counters add up that are wrong. */
export const Count = Type.Integer({ minimum: 0 });

/** One of a closed list. */
export const OneOf = <const T extends string>(
  values: readonly T[],
  options: { description?: string; default?: T } = {},
) => Type.Enum([...values], options);

/**
 * A field of a response that may be missing or null: the document gives its type, and does not promise its presence.
 */
export const Maybe = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));

/** An object whose members the document leaves open. */
export const OpenObject = (description: string) => Type.Object({}, { additionalProperties: true, description });

/** The same in a response, whose members can be read. A request takes any object, also one of a declared type. */
export const OpenRecord = (description: string) =>
  Type.Unsafe<JsonObject>({ type: 'object', properties: {}, additionalProperties: true, description });

/** "boolean or null", "integer or null": a query can express null only by an empty value or the word `null`. */
export const NullableBoolean = (options: { description: string; default?: boolean }) =>
  Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], ...options });
export const NullableInteger = (options: {
  description: string;
  minimum?: number;
  maximum?: number;
  default?: number;
}) => Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });

const Moment = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], description }));

/** The common `startDate` and `endDate` (section 4). "Their date format: not shown"; here it is ISO 8601. */
export const DateRange = {
  startDate: Moment('start of the range: a date, such as 2026-03-01 (UTC), or a time with its zone'),
  endDate: Moment('end of the range, inclusive: a date, such as 2026-03-31 (UTC), or a time with its zone'),
};

/** A merge field of an automation or a communication group (section 2). */
export const MergeField = Type.Object({
  id: Maybe(Type.String()),
  templateName: Maybe(Type.String()),
  displayName: Maybe(Type.String()),
  staticValue: Maybe(Type.String()),
  type: Maybe(Type.String({ description: 'value shown: static' })),
});
export type MergeField = Static<typeof MergeField>;
