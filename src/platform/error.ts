/** The errors of the client: what was called, what was returned, and whether the call may have taken effect. */
import { PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import type { Operation } from './contract/operation.js';

/** The kinds of {@link PlatformError}. */
export type PlatformErrorCode = Extract<ErrorCode, `platform_${string}` | 'redirect_refused'>;

/** What is known of a failed call, besides the operation. */
export interface CallFacts {
  readonly status?: number;
  /** `x-request-id` of the response. */
  readonly requestId?: string | undefined;
  /** The platform's message, from either shape of error; it may quote what was sent. */
  readonly platformMessage?: string;
  /** The platform's list of specific errors: the first ten, and how many more there are. */
  readonly errors?: readonly string[];
  /** Whether the request may have taken effect although there was no usable response. */
  readonly inDoubt?: boolean;
  /** Milliseconds to wait, from Retry-After. */
  readonly retryAfterMs?: number | undefined;
  /** The request was not sent, because of an earlier Retry-After. */
  readonly unsent?: boolean;
  /** Whether the response was no JSON object, as that of a gateway that cannot reach the platform. */
  readonly isForeign?: boolean;
  /** The failure has lasted so long that retries are pointless. */
  readonly final?: boolean;
}

/** What is known of the failed call; nothing if the error is about something else. */
export const callFacts = ({ details }: PartnerSyncError): CallFacts => details;

/**
 * A failed call: one of the classes below, by the kind of failure. `code` is that of the catalogue, see
 * `docs/errors.md`. `path` is the path of the contract with its placeholders: ids stay out of logs.
 */
export class PlatformError extends PartnerSyncError {
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly platformMessage: string;
  readonly errors: readonly string[];

  constructor(code: PlatformErrorCode, operation: Operation, what: string, facts: CallFacts = {}) {
    const { method, path } = operation;
    super(code, `${describe(operation)} ${what}`, { method, path, ...facts });
    this.method = method;
    this.path = path;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.platformMessage = facts.platformMessage ?? '';
    this.errors = facts.errors ?? [];
  }
}

/** No complete response (`platform_unreachable`). */
export class PlatformUnreachable extends PlatformError {}
/** The platform is busy or limits requests: 425, 429 or 503 (`platform_busy`). */
export class PlatformBusy extends PlatformError {}
/** The platform failed: 408 or 5xx (`platform_failed`). */
export class PlatformFailed extends PlatformError {}
/** The token is rejected, or lacks the permission: 401 or 403 (`platform_unauthorized`). */
export class PlatformUnauthorized extends PlatformError {}
/** The request is rejected: 400, 404, 409, 422 and the like (`platform_refused`). */
export class PlatformRefused extends PlatformError {}
/** The request is too large: 413 (`platform_too_large`). */
export class PlatformTooLarge extends PlatformError {}
/** HTML, a truncated response, or a missing field (`platform_response_invalid`). */
export class PlatformResponseInvalid extends PlatformError {}
/** A redirect, which is never followed, so that token and data go nowhere else (`redirect_refused`). */
export class RedirectRefused extends PlatformError {}

const CLASSES: Readonly<Record<PlatformErrorCode, typeof PlatformError>> = {
  platform_unreachable: PlatformUnreachable,
  platform_busy: PlatformBusy,
  platform_failed: PlatformFailed,
  platform_unauthorized: PlatformUnauthorized,
  platform_refused: PlatformRefused,
  platform_too_large: PlatformTooLarge,
  platform_response_invalid: PlatformResponseInvalid,
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

/**
 * The request, the status of the response, and the platform's message and list of errors. Only for the person who sent
 * the request: the message may quote records (ADR 0009).
 */
export const responseText = ({ method, path, status, platformMessage, errors }: PlatformError): string =>
  `${method} ${path} returned ${status}: ${[platformMessage, ...errors].join('; ')}`;

/** Whether the request may have taken effect although there was no usable response. */
export function isInDoubt(error: unknown): boolean {
  return (
    error instanceof PartnerSyncError &&
    (callFacts(error).inDoubt === true || error.code === 'platform_response_invalid')
  );
}

/** Whether the platform says that the resource does not exist (404), or no longer (410). */
export const isNotFound = (error: unknown): boolean =>
  error instanceof PlatformError && (error.status === 404 || error.status === 410);
