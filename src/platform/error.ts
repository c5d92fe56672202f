/** The errors of the client: what was called, what came instead of data, and whether the call may have taken effect. */
import { PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import type { Operation } from './contract/operation.js';

/** The kinds of {@link PlatformError}. */
export type PlatformErrorCode = Extract<ErrorCode, `platform_${string}` | 'redirect_refused'>;

/** What is known of a failed call, besides the operation. */
export interface CallFacts {
  readonly status?: number;
  /** `x-request-id` of the answer. */
  readonly requestId?: string | undefined;
  /** The platform's own words, from either shape of error; they may quote what was sent. */
  readonly words?: string;
  /** The platform's list of specific errors, at most ten. */
  readonly errors?: readonly string[];
  /** Whether the request may have taken effect although no usable answer came. */
  readonly inDoubt?: boolean;
  /** Milliseconds that the platform asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** The request was held back here, since the platform asks to be left alone. */
  readonly unsent?: boolean;
  /** It was so for so long that trying again makes no sense. */
  readonly lasting?: boolean;
}

/**
 * A call that did not end with data: one of the classes below, by the kind of failure. `code` says the kind too, and
 * `docs/errors.md` explains it. `path` is the path of the contract with its placeholders: ids stay out of logs.
 */
export class PlatformError extends PartnerSyncError {
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly words: string;
  readonly errors: readonly string[];

  constructor(code: PlatformErrorCode, operation: Operation, what: string, facts: CallFacts = {}) {
    const { method, path } = operation;
    super(code, `${describe(operation)} ${what}`, { method, path, ...facts });
    this.method = method;
    this.path = path;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.words = facts.words ?? '';
    this.errors = facts.errors ?? [];
  }
}

/** No complete answer came (`platform_unreachable`). */
export class PlatformUnreachable extends PlatformError {}
/** The platform asks for patience: 425, 429 or 503 (`platform_busy`). */
export class PlatformBusy extends PlatformError {}
/** The platform failed: 408 or 5xx (`platform_failed`). */
export class PlatformFailed extends PlatformError {}
/** The token is refused, or what it may do: 401 or 403 (`platform_unauthorized`). */
export class PlatformUnauthorized extends PlatformError {}
/** The request is refused: 400, 404, 409, 422 and the like (`platform_refused`). */
export class PlatformRefused extends PlatformError {}
/** The request is refused for its size: 413 (`platform_too_large`). */
export class PlatformTooLarge extends PlatformError {}
/** HTML, half an answer, or a field that is missing (`platform_answer_invalid`). */
export class PlatformAnswerInvalid extends PlatformError {}
/** A redirect, which is never followed: token and data stay; repeated where it may be (`redirect_refused`). */
export class RedirectRefused extends PlatformError {}

const CLASSES: Readonly<Record<PlatformErrorCode, typeof PlatformError>> = {
  platform_unreachable: PlatformUnreachable,
  platform_busy: PlatformBusy,
  platform_failed: PlatformFailed,
  platform_unauthorized: PlatformUnauthorized,
  platform_refused: PlatformRefused,
  platform_too_large: PlatformTooLarge,
  platform_answer_invalid: PlatformAnswerInvalid,
  redirect_refused: RedirectRefused,
};

/** The error of the class that its code has. */
export const platformError = (
  code: PlatformErrorCode,
  operation: Operation,
  what: string,
  facts: CallFacts = {},
): PlatformError => new CLASSES[code](code, operation, what, facts);

/** `GET /api/batches/{batchId}` */
export const describe = ({ method, path }: Operation): string => `${method} ${path}`;

/** Whether the request may have taken effect although no usable answer came. */
export function isInDoubt(error: unknown): boolean {
  return (
    error instanceof PartnerSyncError && (error.details['inDoubt'] === true || error.code === 'platform_answer_invalid')
  );
}

/** Whether the platform says that what was asked for is not there (404), or not any more (410). */
export const isNotFound = (error: unknown): boolean =>
  error instanceof PlatformError && (error.status === 404 || error.status === 410);
