/** What the ledger knows about one record now, for people: what it waits for, what is in doubt, and which open batches and removal plan it is in. */
import type { Knex } from 'knex';

export interface WaitingState {
  readonly tenant: string;
  readonly reason: string;
  readonly missing: readonly { readonly schemaName: string; readonly externalId: string }[];
  /** What the platform said when it was sent last (masked), if that is more than that a parent is missing; else null. */
  readonly rejection: string | null;
  /** How often it was sent in vain. */
  readonly tries: number;
  /** ISO 8601, as are the other times. */
  readonly since: string;
  readonly dueAt: string;
  readonly expiresAt: string | null;
}

export interface BatchState {
  readonly tenant: string;
  readonly id: string;
  readonly state: 'intended' | 'sent' | 'pending';
  readonly platformBatchId: string | null;
  readonly run: string;
  readonly intendedAt: string;
  readonly sentAt: string | null;
}

/** A removal plan that awaits approval, and has the record. */
export interface AwaitedRemoval {
  readonly tenant: string;
  readonly plan: string;
}

/** What was sent of the record last got no response, and may be applied until then. */
export interface DoubtState {
  readonly tenant: string;
  readonly until: string;
}

/** The state of all records with one external id, in whichever tenant. */
export interface RecordState {
  readonly waiting: readonly WaitingState[];
  readonly batches: readonly BatchState[];
  /** At most one of each tenant. */
  readonly doubts: readonly DoubtState[];
  readonly removals: readonly AwaitedRemoval[];
}

export interface RecordStates {
  ofRecord(mappingId: number, externalId: string): Promise<RecordState>;
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function openRecordStates(knex: Knex): RecordStates {
  return {
    async ofRecord(mappingId, externalId) {
      type Waiting = Omit<WaitingState, 'missing' | 'since' | 'dueAt' | 'expiresAt'> & {
        missing: WaitingState['missing'] | null;
        since: Date;
        due_at: Date;
        expires_at: Date | null;
      };
      const waiting = await knex.raw<{ rows: Waiting[] }>(
        `SELECT t.platform_id AS tenant, w.reason, w.missing, w.rejection, w.tries, w.since, w.due_at, w.expires_at
         FROM waiting w JOIN tenants t ON t.id = w.tenant_id WHERE w.mapping_id = ? AND w.external_id = ?`,
        [mappingId, externalId],
      );
      type Batch = Omit<BatchState, 'intendedAt' | 'sentAt'> & { intended_at: Date; sent_at: Date | null };
      const batches = await knex.raw<{ rows: Batch[] }>(
        `SELECT t.platform_id AS tenant, b.id, b.state, b.platform_batch_id AS "platformBatchId", b.run_id AS run,
           b.intended_at, b.sent_at
         FROM batches b JOIN tenants t ON t.id = b.tenant_id
         WHERE b.mapping_id = ? AND b.state IN ('intended', 'sent', 'pending')
           AND to_jsonb(b.external_ids) @> to_jsonb(CAST(? AS text)) ORDER BY b.id`,
        [mappingId, externalId],
      );
      const doubts = await knex.raw<{ rows: { tenant: string; until: Date }[] }>(
        `SELECT t.platform_id AS tenant, max(d.until) AS until FROM doubts d JOIN tenants t ON t.id = d.tenant_id
         WHERE d.mapping_id = ? AND d.until > now() AND to_jsonb(d.external_ids) @> to_jsonb(CAST(? AS text)) GROUP BY 1`,
        [mappingId, externalId],
      );
      const removals = await knex.raw<{ rows: AwaitedRemoval[] }>(
        `SELECT t.platform_id AS tenant, p.id AS plan
         FROM removal_plans p JOIN removals r ON r.plan_id = p.id JOIN tenants t ON t.id = r.tenant_id
         WHERE p.mapping_id = ? AND p.state = 'awaiting_approval' AND r.external_id = ?`,
        [mappingId, externalId],
      );
      return {
        waiting: waiting.rows.map(({ due_at, expires_at, since, missing, ...rest }) => ({
          ...rest,
          missing: missing ?? [],
          since: since.toISOString(),
          dueAt: due_at.toISOString(),
          expiresAt: iso(expires_at),
        })),
        batches: batches.rows.map(({ intended_at, sent_at, ...rest }) => ({
          ...rest,
          intendedAt: intended_at.toISOString(),
          sentAt: iso(sent_at),
        })),
        doubts: doubts.rows.map(({ tenant, until }) => ({ tenant, until: until.toISOString() })),
        removals: removals.rows,
      };
    },
  };
}
