/** Parsers of option values: what is wrong is said at once, with what is allowed. */
import { InvalidArgumentError } from 'commander';
import { nearest } from '../domain/names.js';

export const choice =
  <T extends string>(allowed: readonly T[]) =>
  (value: string): T => {
    const found = allowed.find((a) => a === value);
    if (found !== undefined) return found;
    const near = nearest(value, allowed);
    throw new InvalidArgumentError(
      `Allowed: ${allowed.join(', ')}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
    );
  };

export const port = (value: string): number => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError('Allowed: 0 to 65535; 0 takes a free port.');
  return number;
};

/** `all`, or how many, from `least` on. */
const allOrFrom =
  (least: number) =>
  (value: string): 'all' | number => {
    if (value === 'all') return 'all';
    const count = Number(value);
    if (!Number.isSafeInteger(count) || count < least)
      throw new InvalidArgumentError(`Allowed: all, or a number from ${least} on.`);
    return count;
  };
export const allOrCount = allOrFrom(1);
export const allOrNone = allOrFrom(0);
