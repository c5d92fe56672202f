/** The reason why a value cannot be mapped. */
import { maskedShape } from './masked-shape.js';

/**
 * Returned by the steps of a field, not thrown: bad rows are expected, and must not cost a stack trace each. The value
 * itself is not kept, only its shape.
 */
export class Rejection {
  /** The rule that was broken, in the terms of the mapping: `transform: phone`. */
  readonly rule: string;
  /** What is wrong, in words that do not quote the value. */
  readonly reason: string;
  /** {@link maskedShape} of the value. */
  readonly shape: string;

  constructor(rule: string, reason: string, value: unknown) {
    this.rule = rule;
    this.reason = reason;
    this.shape = maskedShape(value);
  }
}
