/** Whether custom transforms are watched: in checks and examples they are, in runs they are not. */
import type { JsonValue } from '../../../domain/values/json.js';
import { sameJson } from '../../../domain/records/compare.js';
import { ImpureUse, withoutImpureGlobals } from './impure-globals.js';

let isWatching = false;

/**
 * Calls `work`, which must be synchronous. Meanwhile each custom transform is called twice with each value, and rejects
 * the value if the results differ, or if it uses the clock, random numbers or the like.
 */
export function watchingPurity<T>(work: () => T): T {
  const before = isWatching;
  isWatching = true;
  try {
    return work();
  } finally {
    isWatching = before;
  }
}

/** The result of `call`, or why it is not pure; see {@link watchingPurity}. What `call` throws otherwise is thrown. */
export function pureCall(call: () => unknown): { readonly result: unknown } | { readonly impure: string } {
  if (!isWatching) return { result: call() };
  try {
    return withoutImpureGlobals(() => {
      const result = call();
      return isSame(result, call()) ? { result } : { impure: 'gives another result for the same value' };
    });
  } catch (error) {
    if (error instanceof ImpureUse) return { impure: error.message };
    throw error;
  }
}

/** Rejections are objects too, and what is neither JSON nor a rejection is reported by its type, once. */
const isSame = (a: unknown, b: unknown): boolean =>
  typeof a !== typeof b ? false : isOther(a) || sameJson(a as JsonValue, b as JsonValue);

const isOther = (value: unknown): boolean =>
  value instanceof Promise || !['string', 'number', 'boolean', 'object'].includes(typeof value);
