/** What tells a cancellation from a failure. */
import { ActivityFailure, CancelledFailure, isCancellation } from '@temporalio/workflow';

/**
 * Whether nothing but a cancellation is behind the error. An activity that fails before it hears that it is cancelled, such as one
 * whose worker has died, is not tried again, whatever it has failed with.
 */
export const isFromCancellation = (error: unknown): boolean =>
  isCancellation(error) || (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED');

/** Such an error in the form by which Temporal tells a cancelled workflow from a failed one. */
export const asCancellation = (error: unknown): unknown =>
  isCancellation(error) ? error : new CancelledFailure('cancelled');
