/** The audit: what people and commands have done to a sync. Runs that a schedule starts are no entries of it. */
import type { JsonObject } from '../values/json.js';

/** What an entry can be about. */
export const AUDIT_ACTIONS = [
  'run_started',
  'run_paused',
  'run_resumed',
  'run_cancelled',
  'run_terminated',
  'rate_set',
  'dead_letters_replayed',
  'dead_letters_dropped',
  'removals_approved',
  'hold_approved',
  'forgotten',
  'feed_removed',
  'feed_given_up',
  'pruned',
  'schedules_applied',
  'schedules_paused',
  'schedules_resumed',
  'schedules_triggered',
  'schema_pushed',
  'platform_relocated',
  'reconcile_started',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who did something, and from where: a command, the Web UI or another client of Temporal, or a run by itself. */
export interface Actor {
  /** As they name themselves, such as an account and a machine: nobody proves it. null where nobody has said. */
  readonly who: string | null;
  readonly origin: 'cli' | 'temporal' | 'worker';
}

/** How the ids of the Updates begin that our commands send. Whatever is typed into the Web UI's form, its ids are others. */
export const COMMAND_UPDATE = 'partner-sync/';

/** Whoever sent an Update with this id to a workflow; `by`: as they name themselves, which the Web UI's form allows too. */
export const actorOfUpdate = (id: string, by: string | undefined): Actor => ({
  who: by ?? null,
  origin: id.startsWith(COMMAND_UPDATE) ? 'cli' : 'temporal',
});

/** What an entry tells. */
interface AuditContent {
  readonly sync: string;
  readonly action: AuditAction;
  readonly actor: Actor;
  /** What it was done to: names, counts and causes, never an id of a record or a value of a row. */
  readonly subject: JsonObject;
}

/** An entry to be written. */
export interface NewAuditEntry extends AuditContent {
  /** Of several entries with one key, the first is kept; for an action that may be tried again. */
  readonly key?: string;
}

/** An entry as it is kept. */
export interface AuditEntry extends AuditContent {
  readonly id: string;
  /** ISO 8601, by the ledger's clock. */
  readonly at: string;
}
