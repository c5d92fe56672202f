/** The audit: entries are written with what they tell of, and never changed. Retention alone removes old ones. */
import type { Knex } from 'knex';
import type { Actor, AuditAction, AuditEntry, NewAuditEntry } from '../domain/run/audit.js';
import { foreignText } from '../domain/values/foreign-text.js';
import type { JsonObject } from '../domain/values/json.js';

/** Which entries to show. */
export interface AuditFilter {
  /** Of all syncs if it is left out. */
  readonly sync?: string;
  /** ISO 8601. */
  readonly since?: string;
  readonly limit: number;
}

export interface AuditView {
  /** The latest entries, newest first. */
  latest(filter: AuditFilter): Promise<readonly AuditEntry[]>;
}

export interface Audit extends AuditView {
  /** For what is done outside the ledger; its own actions write their entries themselves. */
  add(entry: NewAuditEntry): Promise<void>;
}

/** Most characters that are kept of a name: it comes from outside, such as from the memo of a workflow. */
const LONGEST_NAME = 200;

/** Writes an entry, in the transaction of the action that it tells of; nothing if there is one with its key. */
export async function writeAudit(knex: Knex, { sync, action, actor, subject, key }: NewAuditEntry): Promise<void> {
  const entry = {
    sync,
    action,
    who: actor.who === null ? null : foreignText(actor.who, LONGEST_NAME),
    origin: actor.origin,
    subject: JSON.stringify(subject),
    key: key ?? null,
  };
  await knex('audit').insert(entry).onConflict().ignore();
}

interface AuditRow {
  id: string;
  at: Date;
  sync: string;
  action: AuditAction;
  who: string | null;
  origin: Actor['origin'];
  subject: JsonObject;
}

export const openAuditView = (knex: Knex): AuditView => ({
  async latest({ sync, since, limit }) {
    const query = knex('audit').orderBy('at', 'desc').orderBy('id', 'desc').limit(limit);
    if (sync !== undefined) void query.where({ sync });
    if (since !== undefined) void query.where('at', '>=', since);
    const rows = await query.select<AuditRow[]>('id', 'at', 'sync', 'action', 'who', 'origin', 'subject');
    return rows.map(({ who, origin, at, ...entry }) => ({ ...entry, at: at.toISOString(), actor: { who, origin } }));
  },
});

export const openAudit = (knex: Knex): Audit => ({
  ...openAuditView(knex),
  add: (entry) => writeAudit(knex, entry),
});
