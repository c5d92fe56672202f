/** How long a record is waited for on its way to the platform, and how often it is sent again. */
import type { TimeoutEntry } from './entry.js';

export const DELIVERY = {
  inDoubtDelay: {
    value: 30,
    unit: 's',
    bounds:
      'the wait after a lost response before newer content of its records is sent; after a crash twice as long, from the intent on',
    why: 'the longest that the platform is assumed to need for a request under way',
    setting: '`upload.inDoubtDelay`',
  },
  inDoubtDelaysAfterCrash: {
    value: 2,
    unit: 'times',
    bounds: 'that wait after a crash',
    why: 'the POST may have ended one delay after its intent, and be applied one delay after that',
  },
  postShareOfInDoubtDelay: {
    value: 0.5,
    unit: 'times',
    bounds: 'one POST of a batch, and the age at which its intent is renewed before the POST, as a share of that wait',
    why: 'both together end within one delay of the intent',
  },
  inDoubtRepeats: {
    value: 6,
    unit: 'attempts',
    bounds: 'how often a batch is sent again in place after a lost response, with the pauses of other retries',
    why: 'that many in a row are no accident; the activity is then retried, from the state in the ledger',
  },
  longestBusyWait: {
    value: 1,
    unit: 'min',
    bounds: 'the wait in place while the platform rejects a batch because it is busy (425, 429, 503)',
    why: 'the retries of the activity are slower, and free the worker meanwhile',
  },
  batchFirstPoll: {
    value: 40,
    unit: 'ms',
    bounds: 'the pause before the first poll of a batch; it grows by a factor of 1.7',
    why: 'a small batch is complete at about that time',
  },
  batchPollFactor: {
    value: 1.7,
    unit: 'times',
    bounds: 'the growth of that pause',
    why: 'a long batch needs few polls, and its end is noticed within its own length',
  },
  batchLongestPoll: {
    value: 2,
    unit: 's',
    bounds: 'the pause between two polls of a batch; all of them vary by a quarter',
    why: 'the end of a batch is noticed soon enough whatever its length',
  },
  batchDeadline: {
    value: 10,
    unit: 'min',
    bounds: 'the wait for the outcomes of a batch, before its records count as unknown',
    why: 'far beyond what the platform takes; an activity has half an hour for two such waits',
    setting: '`upload.batchDeadline`',
  },
  batchIdRecorded: {
    value: 30,
    unit: 'ms',
    bounds: "the delay before a batch's id is written to the ledger, together with the ids of other batches",
    why: 'shorter than the pause before the first poll of the batch',
  },
  readAgain: {
    value: 1,
    unit: 's',
    bounds: 'the delay before a record that was in flight in another batch, or whose outcome is unknown, is read again',
    why: 'batches take about as long',
  },
  parentComing: {
    value: 2,
    unit: 's',
    bounds: 'the delay before another attempt at a record whose parent is in flight',
    why: 'the parent is in a batch of this run',
  },
  childFirstRetry: {
    value: 1,
    unit: 'min',
    bounds:
      'the delay before a record without its parent is sent a third time; the second attempt follows at once, and later delays double',
    why: 'a parent that comes in this run is there at the second time',
  },
  childLongestRetry: {
    value: 1,
    unit: 'h',
    bounds: 'that delay at its longest',
    why: 'a record that waits a long time costs next to nothing',
  },
  childAttempts: {
    value: 5,
    unit: 'attempts',
    bounds: 'how often such a record is sent, before it becomes a dead letter',
    why: 'a quarter of an hour in total; it is sent again whenever its parents are delivered',
  },
  dependencyWait: {
    value: 0,
    unit: 's',
    bounds: 'the time for which the platform is asked to keep a child pending if its parent is missing',
    why: "the platform's own default: it rejects the record at once",
    setting: '`options.dependencyWaitTimeout`',
  },
  longestPending: {
    value: 25,
    unit: 'h',
    bounds: 'the time for which a record counts as pending on the platform, whatever date the platform names',
    why: 'no platform keeps one pending for more than 24 hours (platform-api.md, section 8)',
  },
  clocksApart: {
    value: 1,
    unit: 'min',
    bounds: 'what is added to that time, for clocks of the platform and the ledger that differ',
    why: 'a record is not sent a second time while it may still be pending',
  },
  expiryNamedBefore: {
    value: 1,
    unit: 'd',
    bounds: 'how far in the past the expiry date of a pending record may lie, as the platform gives it',
    why: 'dates further off mean "never", or are in another notation',
  },
  expiryNamedAhead: {
    value: 2,
    unit: 'd',
    bounds: 'how far in the future it may lie',
    why: 'the same',
  },
  dueSoon: {
    value: 30,
    unit: 's',
    bounds: 'how far ahead a record may be due for a run to continue polling it',
    why: 'a record that is due later is left to a later run',
  },
  overlap: {
    value: 10,
    unit: 'min',
    bounds: 'how far an incremental run reads back behind its position',
    why: 'rows may carry a time from before their commit',
    setting: '`cursor.overlap`',
  },
  highWatermarkBehind: {
    value: 1,
    unit: 'min',
    bounds:
      'how far the high watermark may be behind the clock for the rows above it to be left to a later incremental run',
    why: 'few transactions are open for longer; while one is, each run reads these rows, most of them again',
  },
  cursorAhead: {
    value: 2,
    unit: 'd',
    bounds: 'how far in the future the cursor of a row may lie to be left to a later incremental run',
    why: 'the date may be 26 hours ahead elsewhere; rows further ahead, such as 9999-12-31, are read by each run',
  },
  catchupWindow: {
    value: 10,
    unit: 'min',
    bounds: 'how late a schedule still starts a run that an outage of Temporal has made it miss',
    why: 'the next run continues from the position anyway',
    setting: '`schedules[].catchupWindow`',
  },
  scheduleJitter: {
    value: 30,
    unit: 's',
    bounds: 'the random delay of scheduled starts',
    why: 'syncs with the same schedule do not all start at once',
    setting: '`schedules[].jitter`',
  },
  pausedLimit: {
    value: 1,
    unit: 'd',
    bounds: 'how long a schedule may be paused before something counts as wrong with the sync',
    why: 'work on a system is mostly over by then; a longer pause may have been forgotten',
    setting: '`limits.paused`',
  },
  waitingLimit: {
    value: 1,
    unit: 'h',
    bounds: 'how long a record may wait before something counts as wrong with the sync',
    why: 'most parents arrive with the next run',
    setting: '`limits.waiting`',
  },
  retryingLimit: {
    value: 30,
    unit: 's',
    bounds:
      'the time for which the steps of a run may fail, or the platform may refuse requests, before that counts as wrong',
    why: 'most restarts are over by then, and people are still notified within two minutes',
    setting: '`limits.retrying` in sync.yaml',
  },
  retryRecorded: {
    value: 5,
    unit: 's',
    bounds:
      'the time for which a request or a read fails in place before the ledger is told, and between two such records of a sync',
    why: 'most faults are over by then; those that last cost one statement every few seconds',
  },
  retryingEnds: {
    value: 3,
    unit: 'min',
    bounds: 'the time without a failure after which the steps of a run count as working again',
    why: 'the next attempt comes within a minute, and may take a while to fail',
  },
  stalledLimit: {
    value: 1,
    unit: 'h',
    bounds:
      'the time for which a run may settle nothing before `status` and alerts call it stalled, in addition to `waitForPending`',
    why: 'a chunk waits at most minutes for a batch; a run that polls pending records settles nothing either',
    setting: '`limits.stalled` in sync.yaml',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
