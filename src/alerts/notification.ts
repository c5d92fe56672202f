/** The notification of an alert, and the sentences in which people read it. */
import type { Notification, NotificationState } from '../domain/monitoring/alerts.js';
import { HEALTH_TRIGGERS, type HealthTrigger } from '../domain/monitoring/sync-health.js';
import type { DueAlert } from '../ledger/alerts.js';

/** The notification of a due alert. `open`: everything that is wrong with its sync. */
export function notificationOf(alert: DueAlert, open: readonly HealthTrigger[]): Notification {
  const { sync, problem, what, since, endedAt, version } = alert;
  const key = `${sync}/${problem}`;
  return {
    version: 1,
    // A new ledger counts from 1 again, so the time is part of it.
    id: `${key}/${since.toISOString()}/${version}`,
    key,
    state: stateOf(alert),
    sync,
    problem,
    what,
    since: since.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    open: worstFirst(open),
  };
}

/** A target that was not notified of the beginning is notified of the end alone. */
const stateOf = ({ endedAt, begun }: DueAlert): NotificationState =>
  endedAt !== null ? 'recovered' : begun ? 'reminder' : 'problem';

/** In the order of {@link HEALTH_TRIGGERS}. */
export const worstFirst = (triggers: readonly HealthTrigger[]): HealthTrigger[] =>
  HEALTH_TRIGGERS.filter((trigger) => triggers.includes(trigger));

/** A notification that nothing is wrong: it shows that a target can be reached. */
export const testNotification = (sync: string, now: Date): Notification => ({
  version: 1,
  id: `${sync}/test/${now.toISOString()}/1`,
  key: `${sync}/test`,
  state: 'test',
  sync,
  problem: 'test',
  what: 'partner-sync alerts test has asked for this notification; nothing is wrong',
  since: now.toISOString(),
  endedAt: null,
  open: [],
});

const STATES: Readonly<Record<NotificationState, string>> = {
  problem: '',
  reminder: 'still ',
  recovered: 'no longer ',
  test: 'a ',
};

/** `shop: no longer late`. */
export const headline = ({ sync, state, problem }: Notification): string => `${sync}: ${STATES[state]}${problem}`;

/** The lines below the headline. */
export function details({ state, sync, what, since, endedAt, open }: Notification): string[] {
  if (state === 'test') return [`${what}.`];
  return [
    state === 'recovered' ? `It was: ${what}.` : `${what.slice(0, 1).toUpperCase()}${what.slice(1)}.`,
    `Since ${minute(since)}${endedAt === null ? '' : `, over at ${minute(endedAt)}`}.`,
    open.length === 0
      ? 'Nothing is wrong with the sync now.'
      : `${state === 'recovered' ? 'Still wrong' : 'All open problems'}: ${open.join(', ')}.`,
    ...(open.length === 0 ? [] : [`For details: partner-sync status ${sync}`]),
  ];
}

/** `2026-11-23 15:24 UTC`. */
const minute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;
