/**
 * What Temporal sees of an activity: heartbeats and failures. Workflow history keeps failures, so they contain a code,
 * counts and places, never the text of a driver or a row.
 */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { Context, log } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { mayWorkOnAnotherWorker } from '../src/domain/run/another-worker.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import { milliseconds, times, type DurationName } from '../src/domain/timeouts.js';

/** Adds to the number of rows that are in the ledger, of which the heartbeats tell. */
export type RowsDone = (rows: number) => void;

/**
 * Runs an activity's work, with heartbeats until it ends: a worker that dies stops sending them. `signal` aborts when the activity is
 * cancelled or its worker shuts down.
 *
 * @param pauses between two attempts: the first, and the longest if it fails again and again
 * @throws ApplicationFailure whose type is the error's code, and which says whether Temporal tries again
 * @throws CancelledFailure if the activity was cancelled, whatever its work threw
 */
export async function runActivity<T>(
  work: (signal: AbortSignal, rowsDone: RowsDone) => Promise<T>,
  pauses: Partial<Pauses> = {},
): Promise<T> {
  const { cancellationSignal } = Context.current();
  // Every batch that is being uploaded listens to it, so many listeners are not a leak.
  setMaxListeners(0, cancellationSignal);
  const heartbeats = startHeartbeats();
  try {
    return await work(cancellationSignal, heartbeats.rowsDone);
  } catch (error) {
    if (cancellationSignal.aborted) throw new CancelledFailure('cancelled');
    throw toFailure(error, { first: 'retryFirst', longest: 'retryLongest', ...pauses });
  } finally {
    heartbeats.stop();
  }
}

/** Entries of the table of timeouts. */
export interface Pauses {
  readonly first: DurationName;
  readonly longest: DurationName;
}

/**
 * If the work reports rows, each heartbeat says how many of them are in the ledger and how fast they came. It repeats how
 * the attempts before have failed, which would be lost otherwise; their rows are not those of this attempt.
 */
function startHeartbeats(): { readonly rowsDone: RowsDone; readonly stop: () => void } {
  const context = Context.current();
  const { code, failures } = (context.info.heartbeatDetails ?? {}) as Partial<CountedFailures>;
  const began = performance.now();
  let rows = 0;
  const timer = setInterval(() => {
    const rowsPerSecond = Math.round(rows / ((performance.now() - began) / 1000));
    const progress = rows === 0 ? {} : { rows, rowsPerSecond };
    context.heartbeat({ code, failures, ...progress });
  }, milliseconds('heartbeatEvery'));
  return { rowsDone: (more) => (rows += more), stop: () => clearInterval(timer) };
}

/**
 * The failure that Temporal records. A delay that the platform asked for is kept to. `BENIGN` keeps Temporal from
 * logging what is part of normal operation as a warning.
 */
function toFailure(error: unknown, pauses: Pauses): ApplicationFailure {
  if (!(error instanceof PartnerSyncError)) {
    const reference = randomUUID().slice(0, 8);
    // The text may quote rows or connection strings: only the kind of error and where it arose are logged.
    log.error('unexpected error in an activity', {
      reference,
      name: error instanceof Error ? error.name : typeof error,
      frames: error instanceof Error ? framesOf(error) : [],
    });
    return ApplicationFailure.create({
      type: UNEXPECTED,
      message: `unexpected error; see the worker log, reference ${reference}`,
      ...nextAttempt(UNEXPECTED, pauses),
    });
  }
  if (mayWorkOnAnotherWorker(error)) return onAnotherWorker(error);
  const retryAfterMs = error.details['retryAfterMs'];
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    ...(error.retryable ? nextAttempt(error.code, pauses) : { nonRetryable: true }),
    ...(typeof retryAfterMs === 'number' ? { nextRetryDelay: retryAfterMs } : {}),
    ...(error.code === 'platform_busy' || error.code === 'fenced_off'
      ? { category: ApplicationFailureCategory.BENIGN }
      : {}),
  });
}

/** Where it arose. The stack begins with the message, whose lines may look like frames. */
function framesOf({ stack = '', message }: Error): string[] {
  const after = stack.indexOf(message) + message.length;
  return stack
    .slice(after)
    .split('\n')
    .filter((line) => line.startsWith('    at '));
}

/** Another worker may have what this one lacks: the activity is tried again until all of them have had time to take it. */
function onAnotherWorker({ code, message }: PartnerSyncError): ApplicationFailure {
  const failures = noteFailure(code);
  return ApplicationFailure.create({
    type: code,
    message: `${message} (worker ${process.pid}@${hostname()}${failures === 1 ? '' : `, attempt ${failures} on whichever worker was free`})`,
    nonRetryable: failures >= times('anotherWorkerAttempts'),
    nextRetryDelay: milliseconds('anotherWorkerEvery'),
  });
}

const UNEXPECTED = 'unexpected';

/**
 * Whether and when the next attempt follows. The pause grows with each failure of one kind in a row. A worker that dies is no
 * failure of the work, so its successor begins soon, however many have died (`RETRY` of workflows/activities.ts). An
 * unexpected error may pass, but not after so many attempts.
 */
function nextAttempt(
  code: string,
  { first, longest }: Pauses,
): { readonly nonRetryable: boolean; readonly nextRetryDelay: number } {
  const failures = noteFailure(code);
  const pause = milliseconds(first) * times('retryFactor') ** (failures - 1);
  return {
    nonRetryable: code === UNEXPECTED && failures >= times('unexpectedAttempts'),
    nextRetryDelay: Math.min(pause, milliseconds(longest)),
  };
}

/** What an attempt leaves for the next one, as the details of its last heartbeat. */
interface CountedFailures {
  readonly code: string;
  readonly failures: number;
}

/**
 * Notes that this attempt has failed with `code`, and returns how many have by now. Temporal's own number of the
 * attempt would not do: it includes all attempts that an outage took, so the first failure after the outage would be the
 * last.
 */
function noteFailure(code: string): number {
  const { info, heartbeat } = Context.current();
  const before = info.heartbeatDetails as CountedFailures | undefined;
  const failures = 1 + (before?.code === code ? before.failures : 0);
  heartbeat({ code, failures } satisfies CountedFailures);
  return failures;
}
