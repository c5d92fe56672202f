/** A group of settings: one object in a settings file, of which any member may be left out. */
import { Type, type TProperties } from 'typebox';

/** `members` each have a default and a description of their own. */
export const Group = <P extends TProperties>(description: string, members: P) =>
  Type.Object(members, { additionalProperties: false, description });

/** One of a few words. */
export const Choice = <const T extends string>(values: readonly [T, ...T[]], description: string) =>
  Type.Enum([...values], { default: values[0], description });

export const Flag = (standard: boolean, description: string) => Type.Boolean({ default: standard, description });

/** A whole number with its bounds. */
export const Whole = (standard: number, bounds: { minimum: number; maximum?: number }, description: string) =>
  Type.Integer({ ...bounds, default: standard, description });

/** Texts, none of them empty. */
export const Texts = (standard: readonly string[], description: string) =>
  Type.Array(Type.String({ minLength: 1 }), { default: [...standard], description });
