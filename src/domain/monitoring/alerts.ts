/** Alerts: who is notified of what is wrong with a sync, and what a notification contains. */
import type { FailOn, SyncLimits } from '../sync/sync.js';
import type { HealthTrigger } from './sync-health.js';

/** The ways in which a target is notified. */
export const TARGET_KINDS = ['webhook', 'slack', 'email'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** Somebody who is notified, from an entry of `alerts` in sync.yaml. */
export interface AlertTarget {
  /** 16 hex digits that stand for kind and address in the ledger, so that an entry may move in its file. */
  readonly id: string;
  /** For people: `alerts[0] (webhook)`. Messages name the target by this, since its address is a secret. */
  readonly label: string;
  /** The problems that it is notified of. */
  readonly on: readonly HealthTrigger[];
  /** `url` is a secret: never log it. */
  readonly address:
    | { readonly kind: 'webhook' | 'slack'; readonly url: string }
    | { readonly kind: 'email'; readonly to: readonly string[] };
}

/** An address that is called after each evaluation of the sync's alerts; somebody outside notices if the calls stop. */
export interface PingTarget {
  readonly label: string;
  /** A secret, as above. */
  readonly url: string;
}

/** By what a sync is judged, and who is notified. */
export interface AlertSettings {
  readonly sync: string;
  readonly targets: readonly AlertTarget[];
  readonly pings: readonly PingTarget[];
  readonly limits: SyncLimits;
  readonly failOn: FailOn;
  readonly hasSchedules: boolean;
}

/** Whether anybody wants to know what is wrong with the sync: otherwise its alerts are not evaluated. */
export const hasAlerts = ({ targets, pings }: Pick<AlertSettings, 'targets' | 'pings'>): boolean =>
  targets.length + pings.length > 0;

/** Whether there is anything for the watch to do: it also sees what becomes of schedules, and of runs that were terminated. */
export const needsWatch = (settings: AlertSettings): boolean => settings.hasSchedules || hasAlerts(settings);

/** `problem`: something has gone wrong; `reminder`: it still is, a day later; `recovered`: it is over; `test`: nothing is. */
export type NotificationState = 'problem' | 'reminder' | 'recovered' | 'test';

/**
 * What a target gets: names, counts and times, no value of a row and no id of a record. It is the body of a webhook
 * (docs/monitoring.md); another `version` would be another form. Times are ISO 8601 in UTC.
 */
export interface Notification {
  readonly version: 1;
  /** The same whenever this notification is sent again. */
  readonly id: string;
  /** The same for a problem, its reminders and its end. */
  readonly key: string;
  readonly state: NotificationState;
  readonly sync: string;
  readonly problem: HealthTrigger | 'test';
  /** What is wrong, or was, in a sentence. */
  readonly what: string;
  /** When the problem was first seen. */
  readonly since: string;
  /** When it was seen to be over; null while it is not. */
  readonly endedAt: string | null;
  /** Everything that is wrong with the sync now, the worst first. */
  readonly open: readonly HealthTrigger[];
}

/** Whether a notification was delivered, or why not: without the target's address. */
export type Delivery =
  | { readonly delivered: true }
  /** `why` is a phrase; `retryAfter` in milliseconds, if the target has asked for it. */
  | { readonly delivered: false; readonly why: string; readonly retryAfter: number | null };

/** A sync whose alerts cannot be read. */
export interface UnreadableAlerts {
  readonly sync: string;
  /** Whether it has this ping address, as far as its sync.yaml shows. */
  readonly hasPing: (url: string) => boolean;
}

/** The result of evaluating the alerts of all syncs. */
export interface WatchResult {
  /** How many syncs with alerts there are, and with how many something is wrong. */
  readonly syncs: number;
  readonly wrong: number;
  /** Syncs whose sync.yaml cannot be read. */
  readonly unreadable: readonly string[];
  /** Ping addresses that did not answer, as `shop: alerts[2] (ping)`. */
  readonly pingsUnanswered: readonly string[];
}

/** The result of delivering to a target. */
export interface DeliveredNotifications {
  readonly delivered: number;
}

/** What notifying people needs from outside; src/alerts provides it. */
export interface Alerting {
  /** The syncs of the mappings folder, with alerts or without, and those whose sync.yaml cannot be read. */
  all(): Promise<{ readonly syncs: readonly AlertSettings[]; readonly unreadable: readonly UnreadableAlerts[] }>;
  /** null for a sync without alerts, and for one whose sync.yaml cannot be read. */
  of(sync: string): Promise<AlertSettings | null>;
  /** Never rejects for what a target does or does not do. */
  send(target: AlertTarget, notification: Notification): Promise<Delivery>;
  ping(target: PingTarget): Promise<Delivery>;
}
