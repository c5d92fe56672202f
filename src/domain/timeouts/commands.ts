/** How long the commands wait, and how often they poll. */
import type { TimeoutEntry } from './entry.js';

export const COMMANDS = {
  progressOnTerminal: {
    value: 1,
    unit: 's',
    bounds: 'the time between two polls of a run on a terminal, on which its lines are redrawn',
    why: 'the display seems live',
  },
  progressInLog: {
    value: 5,
    unit: 's',
    bounds: 'the same if output goes to a file or a pipe',
    why: 'each poll adds lines',
  },
  runBegins: {
    value: 1,
    unit: 's',
    bounds: 'the time between two polls for a run that has not begun',
    why: 'a worker takes it up at once',
  },
  runLook: {
    value: 5,
    unit: 's',
    bounds: 'one poll of a run',
    why: 'a query to a workflow without a worker may get no response',
  },
  runAnswer: {
    value: 20,
    unit: 's',
    bounds: 'the answer of a run to `pause`, `resume`, `approve` or `set-rate`',
    why: 'a worker answers within milliseconds, even if it is busy within seconds',
  },
  noWorkerReport: {
    value: 4,
    unit: 's',
    bounds: 'the silence after which `run` reports that no worker is polling',
    why: 'a worker that is running has begun by then',
  },
  statusConnect: {
    value: 3,
    unit: 's',
    bounds: 'the time that `status` takes to reach Temporal',
    why: 'the ledger knows most runs; somebody is waiting at a terminal',
  },
  statusQuery: {
    value: 10,
    unit: 's',
    bounds: 'the time that `status` takes to ask Temporal for runs that the ledger lacks',
    why: 'the same',
  },
  statusFollow: {
    value: 2,
    unit: 's',
    bounds: 'the time between two refreshes of `status --follow`',
    why: 'somebody is watching',
  },
  probeMapping: {
    value: 20,
    unit: 's',
    bounds: 'the time for which `check` maps rows of one mapping; no limit with `--probe-rows all`',
    why: 'somebody is waiting for it',
  },
  reconcileProgress: {
    value: 3,
    unit: 's',
    bounds: 'the time between two lines of progress of `reconcile`',
    why: 'each is a line of its own',
  },
  batchesWait: {
    value: 10,
    unit: 'min',
    bounds: 'the time that `platform batches wait` waits',
    why: 'as long as a run waits for a batch',
    setting: '`--for`',
  },
  batchesWaitFirstPause: {
    value: 200,
    unit: 'ms',
    bounds: 'its first pause between two polls; it grows by a factor of 1.5',
    why: 'a small batch is complete at about that time',
  },
  batchesWaitFactor: {
    value: 1.5,
    unit: 'times',
    bounds: 'the growth of that pause',
    why: 'a long batch needs few polls',
  },
  batchesWaitLongestPause: {
    value: 5,
    unit: 's',
    bounds: 'its longest pause between two polls',
    why: 'somebody is watching',
  },
  doctorPart: {
    value: 8,
    unit: 's',
    bounds: 'the time that a worker gives to each part that `doctor` asks about',
    why: 'a response without one part is worth more than none',
  },
  doctorWorker: {
    value: 15,
    unit: 's',
    bounds: 'the time that a worker is given to respond to `doctor` (schedule-to-close timeout)',
    why: 'longer than it takes to check everything, however busy the worker is',
  },
  doctorWorkerAttempts: {
    value: 1,
    unit: 'attempts',
    bounds: 'how often `doctor` asks a worker',
    why: 'finding workers that do not respond is the purpose of `doctor`',
  },
  doctorAll: {
    value: 40,
    unit: 's',
    bounds: 'the time that all workers together are given',
    why: 'if none is running, nothing even picks up the request',
  },
  doctorTask: {
    value: 2,
    unit: 's',
    bounds: 'the time after which the request is taken from a frozen worker and given to the next one',
    why: 'it takes milliseconds',
  },
  doctorWorkerGone: {
    value: 90,
    unit: 's',
    bounds: 'the age of the last poll after which `doctor` considers a worker gone',
    why: 'a worker asks Temporal for work at least once a minute',
  },
  doctorClocksApart: {
    value: 5,
    unit: 's',
    bounds: 'the difference between two clocks up to which `doctor` gives no warning',
    why: 'overlap and high watermark cover far more',
  },
  doctorTokenEnds: {
    value: 7,
    unit: 'd',
    bounds: 'the remaining life of the token below which `doctor` gives a warning',
    why: 'time to renew it, holidays included',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
