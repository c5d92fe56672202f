/** Alerts: whom a sync tells what is wrong with it, and what it tells them. */
import type { FailOn, SyncLimits } from './sync.js';
import type { HealthTrigger } from './sync-health.js';

/** The ways in which a target is told. */
export const TARGET_KINDS = ['webhook', 'slack', 'email'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** Somebody who is told, from an entry of `alerts` in sync.yaml. */
export interface AlertTarget {
  /** 16 hex digits that stand for kind and address in the ledger, so that an entry may move in its file. */
  readonly id: string;
  /** For people: `alerts[0] (webhook)`. Messages name the target by this, since its address is a secret. */
  readonly label: string;
  /** What it is told of. */
  readonly on: readonly HealthTrigger[];
  /** `url` is a secret: never log it. */
  readonly address:
    | { readonly kind: 'webhook' | 'slack'; readonly url: string }
    | { readonly kind: 'email'; readonly to: readonly string[] };
}

/** An address that is called whenever the sync was looked at; somebody outside notices if the calls stop. */
export interface PingTarget {
  readonly label: string;
  /** A secret, as above. */
  readonly url: string;
}

/** By what a sync is judged, and who is told. */
export interface AlertSettings {
  readonly sync: string;
  readonly targets: readonly AlertTarget[];
  readonly pings: readonly PingTarget[];
  readonly limits: SyncLimits;
  readonly failOn: FailOn;
}

/** `problem`: something has gone wrong; `reminder`: it still is, a day later; `recovered`: it is over; `test`: nothing is. */
export type NoticeState = 'problem' | 'reminder' | 'recovered' | 'test';

/**
 * What a target is told: names, counts and times, no value of a row and no id of a record. It is the body of a webhook
 * (docs/monitoring.md); another `version` would be another form. Times are ISO 8601 in UTC.
 */
export interface Notice {
  readonly version: 1;
  /** The same whenever this notice is sent again. */
  readonly id: string;
  /** The same for a problem, its reminders and its end. */
  readonly key: string;
  readonly state: NoticeState;
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

/** What a target was told, or why not: without its address. */
export type Delivery =
  | { readonly delivered: true }
  /** `why` is a phrase; `retryAfter` in milliseconds, if the target has asked for it. */
  | { readonly delivered: false; readonly why: string; readonly retryAfter: number | null };

/** The result of a look at all syncs. */
export interface WatchResult {
  /** How many syncs with alerts there are, and with how many something is wrong. */
  readonly syncs: number;
  readonly wrong: number;
  /** Syncs whose sync.yaml cannot be read. */
  readonly unreadable: readonly string[];
  /** Ping addresses that did not answer, as `shop: alerts[2] (ping)`. */
  readonly pingsUnanswered: readonly string[];
}

/** The result of telling a target. */
export interface DeliveredNotices {
  readonly delivered: number;
}

/** What telling people needs from outside; src/alerts provides it. */
export interface Alerting {
  /** The syncs of the mappings folder that have alerts, and those whose sync.yaml cannot be read. */
  all(): Promise<{ readonly syncs: readonly AlertSettings[]; readonly unreadable: readonly string[] }>;
  /** null for a sync without alerts, and for one whose sync.yaml cannot be read. */
  of(sync: string): Promise<AlertSettings | null>;
  /** Never rejects for what a target does or does not do. */
  send(target: AlertTarget, notice: Notice): Promise<Delivery>;
  ping(target: PingTarget): Promise<Delivery>;
}
