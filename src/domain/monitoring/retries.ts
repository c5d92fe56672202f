/**
 * Retries in place: a request or a read that has failed, and is made again without giving up the activity that needs it. A
 * file of its own, because modules that may not import one another report them.
 */
import type { ErrorCode } from '../errors.js';

/** Told that an attempt has failed with this code, and another one follows; `failingFor`: milliseconds since the first failure. */
export type OnRetry = (code: ErrorCode, failingFor: number) => void;
