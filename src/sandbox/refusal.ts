/** A request that the sandbox refuses, and the two envelopes in which it says so (platform-api.md sections 1 and 7). */
import type { SandboxSettings } from './settings.js';

/** More would help nobody, and one bad column of a full batch yields hundreds. */
const LISTED_ERRORS = 100;

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly errors: readonly string[];

  constructor(status: number, message: string, errors: readonly string[] = []) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

/** The body of an error answer in the given shape. */
export function errorBody(shape: SandboxSettings['errorShape'], message: string, errors: readonly string[]): object {
  const listed =
    errors.length > LISTED_ERRORS
      ? [...errors.slice(0, LISTED_ERRORS), `... and ${errors.length - LISTED_ERRORS} more`]
      : errors;
  switch (shape) {
    case 'standard':
      return { success: false, message, ...(listed.length === 0 ? {} : { errors: listed }) };
    case 'alternative':
      // This shape has no list, so the reasons go into its one text: without them nobody could act on the answer.
      return { success: false, message, data: { error: [message, ...listed].join('; ') } };
  }
}
