/**
 * The error that handlers throw to refuse a request, and the two envelopes in which it is sent (sections 1 and 7).
 */
import type { RefusalKind } from '../platform/contract/refusals.js';
import type { SandboxSettings } from './settings.js';

/**
 * A request that is refused. `kind` determines the HTTP status through the settings; `notUnderstood` is a text that 4.2
 * cannot interpret.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind | 'notUnderstood';
  /** Specific errors, shown up to the number that the settings allow. */
  readonly errors: readonly string[];
  /** Headers to add to the response, such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    kind: Refusal['kind'],
    message: string,
    errors: readonly string[] = [],
    headers: Refusal['headers'] = {},
  ) {
    super(message);
    this.kind = kind;
    this.errors = errors;
    this.headers = headers;
  }
}

/**
 * The body of an error response in the given shape. `most` limits the listed errors; a last entry says how many were cut
 * off.
 *
 * `standard` is the error envelope of section 1, `alternative` the shape of the resource and batch operations.
 */
export function errorBody(
  shape: SandboxSettings['errorShape'],
  message: string,
  errors: readonly string[],
  most: number,
): object {
  const rest = errors.length - most;
  const listed = rest > 0 && most > 0 ? [...errors.slice(0, most), `... and ${rest} more`] : errors.slice(0, most);
  switch (shape) {
    case 'standard':
      return { success: false, message, ...(listed.length === 0 ? {} : { errors: listed }) };
    case 'alternative':
      // This shape has no list of errors. Without the reasons in its text, a caller could not act on the response.
      return { success: false, message, data: { error: [message, ...listed].join('; ') } };
  }
}
