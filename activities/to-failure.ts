/** Errors on their way into workflow history: a code, counts and places, never the text of a driver or a row. */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { activityInfo, Context, log } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { ELSEWHERE_ATTEMPTS, ELSEWHERE_EVERY, mayBeElsewhere } from '../src/domain/elsewhere.js';
import { PartnerSyncError } from '../src/domain/errors.js';

/** Runs an activity's work; the error's code becomes the failure's type, and decides whether Temporal tries again. */
export async function withFailures<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { cancellationSignal } = Context.current();
  // Each batch under way listens to it: many listeners are no leak.
  setMaxListeners(0, cancellationSignal);
  try {
    return await work(cancellationSignal);
  } catch (error) {
    if (cancellationSignal.aborted) throw new CancelledFailure('cancelled');
    throw toFailure(error);
  }
}

export function toFailure(error: unknown): ApplicationFailure {
  if (!(error instanceof PartnerSyncError)) {
    const reference = randomUUID().slice(0, 8);
    // The text may quote rows or connection strings: only the kind of error and where it arose are logged.
    const frames =
      error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at ')) : [];
    log.error('unexpected error in an activity', {
      reference,
      name: error instanceof Error ? error.name : typeof error,
      frames,
    });
    return ApplicationFailure.create({
      type: 'unexpected',
      message: `unexpected error; see the worker log, reference ${reference}`,
      nonRetryable: isHopeless(),
    });
  }
  if (mayBeElsewhere(error)) return elsewhere(error);
  const retryAfterMs = error.details['retryAfterMs'];
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable: !error.retryable || (error.code === 'unexpected' && isHopeless()),
    ...(typeof retryAfterMs === 'number' ? { nextRetryDelay: retryAfterMs } : {}),
    ...(error.code === 'platform_busy' || error.code === 'fenced_off'
      ? { category: ApplicationFailureCategory.BENIGN }
      : {}),
  });
}

/** What this worker lacks is tried on others; when there was time enough for each of them to take it up, none has it. */
function elsewhere({ code, message }: PartnerSyncError): ApplicationFailure {
  const { attempt } = activityInfo();
  return ApplicationFailure.create({
    type: code,
    message: `${message} (worker ${process.pid}@${hostname()}${attempt === 1 ? '' : `, attempt ${attempt} on whichever worker was free`})`,
    nonRetryable: attempt >= ELSEWHERE_ATTEMPTS,
    nextRetryDelay: ELSEWHERE_EVERY,
  });
}

/** What nobody foresaw may be a passing accident, but not this often. */
const isHopeless = (): boolean => activityInfo().attempt >= 5;
