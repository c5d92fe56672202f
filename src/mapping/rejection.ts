/** A value that cannot be mapped: returned, not thrown, since a bad row is data and must not cost a stack trace. */
import { maskedShape } from './mask.js';

export class Rejection {
  /** The rule that was broken, from the mapping's words: `transform: phone`. Never holds the value. */
  readonly rule: string;
  readonly reason: string;
  readonly shape: string;

  constructor(rule: string, reason: string, value: unknown) {
    this.rule = rule;
    this.reason = reason;
    this.shape = maskedShape(value);
  }
}
