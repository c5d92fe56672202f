/** How often the alerts of syncs are evaluated, and how notifications are delivered. */
import type { TimeoutEntry } from './entry.js';

export const ALERTS = {
  watchEvery: {
    value: 1,
    unit: 'min',
    bounds: 'the time between two evaluations of all syncs that have `alerts`, by the watch schedule',
    why: 'with the default of `limits.retrying`, people are notified within two minutes',
  },
  watchCatchup: {
    value: 1,
    unit: 'min',
    bounds: 'how late an evaluation may still start',
    why: 'after an outage, one evaluation finds all that has changed',
  },
  watchSchedules: {
    value: 10,
    unit: 's',
    bounds: 'asking Temporal how schedules are, and recording it, before an evaluation',
    why: 'it takes milliseconds for each; alerts are evaluated without it, and the next evaluation asks again',
  },
  watchFeeds: {
    value: 5,
    unit: 's',
    bounds: 'looking at the change feeds of a sync before an evaluation',
    why: 'it is one query of the source; its alerts are evaluated without it, and the next evaluation looks again',
  },
  feedUnseen: {
    value: 30,
    unit: 's',
    bounds: 'how long nobody may have looked at a change feed before the watch does',
    why: 'a run that reads it looks more often',
  },
  watchAttempt: {
    value: 1,
    unit: 'min',
    bounds: 'one attempt to evaluate all syncs (start-to-close timeout)',
    why: 'it takes some milliseconds for each sync, and a few seconds if pings are not answered',
  },
  watchTotal: {
    value: 4,
    unit: 'min',
    bounds: 'an evaluation with all its attempts (schedule-to-close timeout)',
    why: 'a later one sees all that this one would have seen',
  },
  watchWorkflow: {
    value: 5,
    unit: 'min',
    bounds: 'the workflow of an evaluation (execution timeout)',
    why: 'an evaluation that no worker takes up must not keep later ones from starting',
  },
  evaluateSync: {
    value: 10,
    unit: 's',
    bounds: 'the evaluation of one sync, by the watch and at the end of its run',
    why: 'neither other syncs nor the run must wait for it; the watch evaluates again within a minute',
  },
  alertRequest: {
    value: 10,
    unit: 's',
    bounds: 'one request to a webhook, to Slack or to a ping address, from its first to its last byte',
    why: 'such servers answer at once, or not at all',
  },
  alertMail: {
    value: 20,
    unit: 's',
    bounds: 'each of: connecting to the mail server, its greeting, and its silence after that',
    why: 'some mail servers greet late on purpose',
  },
  alertAttempt: {
    value: 5,
    unit: 'min',
    bounds: 'one attempt to send a target all notifications that are due (start-to-close timeout)',
    why: 'longer than they take together; heartbeats tell sooner that the worker has died',
  },
  alertRetryFirst: {
    value: 5,
    unit: 's',
    bounds: 'the pause before the second attempt of a delivery; it doubles (initial interval)',
    why: 'most network faults are over by then',
  },
  alertRetryLongest: {
    value: 1,
    unit: 'min',
    bounds: 'the pause between two attempts to deliver to a target (maximum interval)',
    why: 'the notification arrives within a minute of the end of an outage',
  },
  alertRetryAfterLongest: {
    value: 1,
    unit: 'h',
    bounds: 'a `Retry-After` of a webhook or of Slack; a longer one counts as this',
    why: 'a notification that comes much later helps nobody',
  },
  alertWorkflow: {
    value: 25,
    unit: 'h',
    bounds: 'a workflow that delivers to a target, whether or not a worker continues it',
    why: 'one that no worker continues, as of a release that is gone, would stand in the way of all that follow',
  },
  alertTotal: {
    value: 24,
    unit: 'h',
    bounds: 'delivering to a target, with all attempts, after which the workflow fails (schedule-to-close timeout)',
    why: 'somebody sees the failed workflow; the notification stays due, and the next evaluation begins again',
  },
  alertReminder: {
    value: 1,
    unit: 'd',
    bounds: 'the time after which people are reminded of a problem that has not ended',
    why: 'often enough to be remembered, rarely enough not to be ignored',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
