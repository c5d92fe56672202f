/**
 * Constructors for the declarations of settings: each takes the default and the description that docs/sandbox.md shows.
 */
import { Type, type TProperties } from 'typebox';

/**
 * A group of settings: one object in a settings file, of which any member may be left out. Each of `members` has its
 * own default and description.
 */
export const Group = <P extends TProperties>(description: string, members: P) =>
  Type.Object(members, { additionalProperties: false, description });

/** One of a few words; the first is the default. */
export const Choice = <const T extends string>(values: readonly [T, ...T[]], description: string) =>
  Type.Enum([...values], { default: values[0], description });

/** A setting that is true or false. */
export const Flag = (defaultValue: boolean, description: string) =>
  Type.Boolean({ default: defaultValue, description });

/** An integer within inclusive bounds. */
export const Whole = (defaultValue: number, bounds: { minimum: number; maximum?: number }, description: string) =>
  Type.Integer({ ...bounds, default: defaultValue, description });

/** A list of non-empty texts. */
export const Texts = (defaultValue: readonly string[], description: string) =>
  Type.Array(Type.String({ minLength: 1 }), { default: [...defaultValue], description });
