/**
 * What programs import from the package: workers, runs, and the platform client with its errors and its contract. Workers and
 * runs load Temporal and the drivers on first use.
 */
export { createWorker, type CreateWorkerOptions, type EmbeddedWorker } from './embedding/create-worker.js';
export type { WorkerLogger } from './observability/worker-logger.js';
export {
  findRun,
  startRun,
  type RunHandle,
  type RunInputs,
  type RunOptions,
  type StartRunOptions,
} from './embedding/start-run.js';
export type { MappingProgress } from './domain/run/progress.js';
export type { MappingReport, RunKind, RunOutcome, RunReport } from './domain/run/run.js';
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
