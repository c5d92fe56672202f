/** The errors of the client: what was called, what came instead of data, and whether the call may have taken effect. */
import { PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import type { Operation } from './contract/operation.js';

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
}

/**
 * A call that did not end with data. `code` tells the kinds apart, and `docs/errors.md` explains them:
 *
 * - `platform_unreachable`: no complete answer; `platform_busy`: 425, 429 or 503; `platform_failed`: 408 or 5xx
 * - `platform_unauthorized`: 401 or 403; `platform_refused`: 400, 404, 409 and the like; `platform_too_large`: 413
 * - `platform_answer_invalid`: HTML, half an answer, a field missing; `redirect_refused`: 3xx, which is never followed
 *
 * `path` is the path of the contract with its placeholders: ids stay out of logs.
 */
export class PlatformError extends PartnerSyncError {
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly words: string;
  readonly errors: readonly string[];

  constructor(code: ErrorCode, operation: Operation, what: string, facts: CallFacts = {}) {
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
