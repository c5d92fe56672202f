/** The public API of the package: the platform client, its errors and the platform's contract. */
export { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from './domain/errors.js';
export { PlatformClient, type CallInput } from './platform/client.js';
export type { BodyOf, DataOf, Operation, ParamsOf, QueryOf } from './platform/contract/operation.js';
export { operations, type OperationName, type Operations } from './platform/contract/operations.js';
export {
  isInDoubt,
  isNotFound,
  PlatformBusy,
  PlatformError,
  PlatformFailed,
  PlatformRefused,
  PlatformResponseInvalid,
  PlatformTooLarge,
  PlatformUnauthorized,
  PlatformUnreachable,
  RedirectRefused,
  type PlatformErrorCode,
} from './platform/error.js';
export type { EntryOf, ListName } from './platform/lists.js';
export {
  DEFAULT_PLATFORM_SETTINGS,
  type PlatformClientOptions,
  type PlatformSettings,
} from './platform/client-settings.js';
export type { CallOptions } from './platform/transport.js';
