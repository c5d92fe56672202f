/** How long the activities of a run may take, and how Temporal tries them again. */
import type { TimeoutEntry } from './entry.js';

export const ACTIVITIES = {
  retryFirst: {
    value: 1,
    unit: 's',
    bounds:
      'the pause before the second attempt of an activity, and before each attempt that follows the death of a worker',
    why: 'most network faults are over by then; a dead worker says nothing about the work',
  },
  retryFactor: {
    value: 2,
    unit: 'times',
    bounds: 'the growth of that pause from one failure to the next of the same kind',
    why: 'a long outage costs few attempts',
  },
  retryLongest: {
    value: 1,
    unit: 'min',
    bounds: 'the pause between two attempts of an activity that fails',
    why: 'a run continues within a minute of the end of an outage',
  },
  unexpectedAttempts: {
    value: 5,
    unit: 'attempts',
    bounds: 'attempts of an activity that fails with `unexpected`',
    why: 'most bugs persist; an intermittent one has usually gone by then',
  },
  bookkeepingAttempt: {
    value: 2,
    unit: 'min',
    bounds:
      'one attempt of an activity that looks something up or writes to the ledger, such as `openRun` (start-to-close timeout)',
    why: 'it takes seconds; if the ledger does not respond, the attempt has failed with an error of its own by then',
  },
  bookkeepingTotal: {
    value: 6,
    unit: 'h',
    bounds: 'such an activity with all its attempts (schedule-to-close timeout)',
    why: 'a database that is down for maintenance overnight makes no run fail',
  },
  failureRecordAttempt: {
    value: 20,
    unit: 's',
    bounds: 'one attempt of `recordFailure`, which records in the ledger why a run failed (start-to-close timeout)',
    why: 'it is one statement',
  },
  failureRecordTotal: {
    value: 1,
    unit: 'min',
    bounds: '`recordFailure` with all its attempts (schedule-to-close timeout)',
    why: 'the ledger may be the reason why the run failed; `status` then asks Temporal',
  },
  longActivityAttempt: {
    value: 30,
    unit: 'min',
    bounds:
      'one attempt of an activity that does long work a part at a time, such as `loadPartition` (start-to-close timeout)',
    why: 'longer than anything that it waits for: a batch, a lost response, a new token',
  },
  longActivityTotal: {
    value: 24,
    unit: 'h',
    bounds: 'such an activity with all its attempts (schedule-to-close timeout)',
    why: 'as long as a `Retry-After` may be',
  },
  longActivityHeartbeat: {
    value: 10,
    unit: 's',
    bounds: 'the silence after which such an activity is given to another worker (heartbeat timeout)',
    why: 'a killed worker is soon replaced, and a long garbage collection is not mistaken for its end',
  },
  heartbeatEvery: {
    value: 2,
    unit: 's',
    bounds: 'the time between two heartbeats of an activity',
    why: 'several may be lost before the heartbeat timeout',
  },
  heartbeatThrottle: {
    value: 3,
    unit: 's',
    bounds: 'the time for which the SDK holds heartbeats back',
    why: 'well below the heartbeat timeout; a cancellation arrives with the response to a heartbeat',
  },
  timeSlice: {
    value: 15,
    unit: 's',
    bounds: 'the time slice for which an activity works on a partition before it returns',
    why: 'long compared with the cost of dispatching an activity, short compared with a deployment',
  },
  loadQueueWait: {
    value: 20,
    unit: 's',
    bounds:
      'the wait of a time slice in the load queue before it may go to the common queue (schedule-to-start timeout)',
    why: 'longer than a time slice: a longer wait means that other time slices are stuck, or that there are very many',
  },
  smallTenantsEvery: {
    value: 10,
    unit: 's',
    bounds: 'the time between two deliveries of the new rows of small tenants, and before the first one',
    why: 'with a delivery under way and its own, new rows are there within some 30 s; most runs are shorter',
  },
  smallTenantsAttempts: {
    value: 1,
    unit: 'attempts',
    bounds: 'attempts at such a delivery',
    why: 'nothing depends on it, and the next one begins soon',
  },
  smallTenantsLongestPause: {
    value: 2,
    unit: 'min',
    bounds: 'the longest pause between two such deliveries, after several have failed',
    why: 'the run itself usually hits the same error',
  },
  stagePoll: {
    value: 60,
    unit: 's',
    bounds: 'the time for which pending records are polled after each stage',
    why: 'children find their parents before the next stage, and parents that will not come delay no stage',
  },
  waitForPending: {
    value: 10,
    unit: 'min',
    bounds: 'the time for which pending records are polled at the end of a run',
    why: 'records that wait for a parent complete soon, or not before somebody intervenes',
    setting: '`upload.waitForPending`',
  },
  guardWait: {
    value: 24,
    unit: 'h',
    bounds: 'the time for which a run on hold waits for approval before it ends',
    why: 'somebody sees it the next day at the latest',
    setting: '`guard.wait`',
  },
  pollFirstPause: {
    value: 1,
    unit: 's',
    bounds: 'the first pause between two polls of pending records; it doubles',
    why: 'most are complete at the second poll',
  },
  pollLongestPause: {
    value: 2,
    unit: 'min',
    bounds: 'the pause between two polls of pending records',
    why: 'a run of ten minutes in which nothing happens polls a dozen times',
  },
  pollLongestPauseWhileDue: {
    value: 30,
    unit: 's',
    bounds: 'the same while some records are due to be sent again soon',
    why: 'they are not kept waiting for the others',
  },
  anotherWorkerEvery: {
    value: 1,
    unit: 's',
    bounds: 'the pause before work is given to another worker, if one lacks its files or variables',
    why: 'a worker that lacks them fails fast, and would take the next attempt first',
  },
  anotherWorkerAttempts: {
    value: 30,
    unit: 'attempts',
    bounds: 'attempts until it is assumed that no worker has them',
    why: 'with one good worker among four, one run in five thousand fails',
  },
  workerDrain: {
    value: 30,
    unit: 's',
    bounds: 'the time that a worker gives its activities when it is asked to stop',
    why: 'longer than a time slice, so that nothing needs to be cancelled',
  },
  workerIdle: {
    value: 50,
    unit: 'ms',
    bounds: 'the delay before a starting worker compiles the schemas of the mapping language',
    why: 'by then it is waiting for Temporal and has time',
  },
  metricsKept: {
    value: 15,
    unit: 's',
    bounds: 'the age of the metrics that are read from the ledger',
    why: 'reading them costs some statements, and Prometheus asks about as often',
  },
  metricsStatement: {
    value: 3,
    unit: 's',
    bounds: 'a statement that reads them',
    why: 'each follows an index and stops at a bound; a ledger that takes longer has more important work',
  },
  metricsWait: {
    value: 5,
    unit: 's',
    bounds: 'the time for which `/metrics` waits for the ledger and the sources',
    why: "half of Prometheus' own deadline: the worker's own metrics arrive in any case",
  },
  traceExport: {
    value: 3,
    unit: 's',
    bounds: 'a request to the collector of traces, and the sending of the last ones when a process ends',
    why: 'only the end of a process waits for traces',
    setting: '`OTEL_EXPORTER_OTLP_TIMEOUT`, in milliseconds, for the request',
  },
  readySilence: {
    value: 10,
    unit: 's',
    bounds: 'the age of the last response of the ledger and of Temporal up to which `/ready` reports a worker as ready',
    why: 'one lost response says nothing about the worker',
  },
  readyWait: {
    value: 500,
    unit: 'ms',
    bounds: 'the time for which `/ready` waits for the ledger and Temporal',
    why: 'the deadline of a Kubernetes probe is a second by default',
  },
  temporalConnect: {
    value: 10,
    unit: 's',
    bounds: 'connecting to Temporal',
    why: 'long enough for a slow network, short enough for somebody at a terminal',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
