/** A request that the sandbox refuses, and the two envelopes in which it says so (platform-api.md sections 1 and 7). */
import type { RefusalKind } from '../platform/contract/refusals.js';
import type { SandboxSettings } from './settings.js';

/** Why a request is refused; its status is a setting. `notUnderstood` is a text that 4.2 cannot read. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind | 'notUnderstood';
  /** Specific errors, of which as many are shown as the settings say. */
  readonly errors: readonly string[];
  /** Of the answer. */
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

/** The body of an error answer in the given shape, with so many of its errors at most. */
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
      // This shape has no list, so the reasons go into its one text: without them nobody could act on the answer.
      return { success: false, message, data: { error: [message, ...listed].join('; ') } };
  }
}
