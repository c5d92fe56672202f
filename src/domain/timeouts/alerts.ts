/** How often syncs are looked at, and how notices of what is wrong with them are delivered. */
import type { TimeoutEntry } from './entry.js';

export const ALERTS = {
  watchEvery: {
    value: 1,
    unit: 'min',
    bounds: 'the time between two looks of the watch schedule at all syncs that have `alerts`',
    why: 'whatever goes wrong is told within two minutes',
  },
  watchCatchup: {
    value: 1,
    unit: 'min',
    bounds: 'how late a look may still start',
    why: 'after an outage, one look finds all that has changed',
  },
  watchAttempt: {
    value: 1,
    unit: 'min',
    bounds: 'one attempt to look at all syncs',
    why: 'it takes some milliseconds a sync, and pings that are not answered take a few seconds',
  },
  watchTotal: {
    value: 4,
    unit: 'min',
    bounds: 'a look with all its attempts',
    why: 'a later look sees all that this one would have seen',
  },
  watchWorkflow: {
    value: 5,
    unit: 'min',
    bounds: 'the workflow of a look',
    why: 'one that no worker has taken up must not keep later ones from starting',
  },
  lookAfterRun: {
    value: 10,
    unit: 's',
    bounds: 'the look at a sync at the end of its run',
    why: 'the run must not wait for it; the watch looks again within a minute',
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
    bounds: 'one attempt to send a target all that is due',
    why: 'longer than its notices together take',
  },
  alertRetryFirst: {
    value: 5,
    unit: 's',
    bounds: 'the pause before a target that could not be told is tried a second time; it doubles',
    why: 'most network faults are over by then',
  },
  alertRetryLongest: {
    value: 1,
    unit: 'min',
    bounds: 'the pause between two attempts to tell a target',
    why: 'it is told within a minute of the end of an outage',
  },
  alertRetryAfterLongest: {
    value: 1,
    unit: 'h',
    bounds: 'a `Retry-After` of a webhook or of Slack; a longer one counts as this',
    why: 'a notice that comes much later helps nobody',
  },
  alertTotal: {
    value: 24,
    unit: 'h',
    bounds: 'telling a target, with all attempts, after which the workflow fails',
    why: 'somebody sees the failed workflow; the notice stays due, and the next look begins again',
  },
  alertReminder: {
    value: 1,
    unit: 'd',
    bounds: 'the time after which a problem that has not ended is told again',
    why: 'nobody forgets it, and nobody is numbed',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
