/** Matchers with types of their own: vitest's are `any`. */
import { expect } from 'vitest';

export const anyText = expect.any(String) as string;
export const anyNumber = expect.any(Number) as number;
export const anyObject = expect.any(Object) as object;
export const textWith = (part: string): string => expect.stringContaining(part) as string;
export const textLike = (pattern: RegExp): string => expect.stringMatching(pattern) as string;
