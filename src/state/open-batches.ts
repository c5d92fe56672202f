/** Batches on their way: sent, left behind by a dead attempt, or held by the platform for dependencies. */
import type { Knex } from 'knex';
import type { MappedRecord } from '../domain/record.js';
import { holdRange, type TakenRange } from './ranges.js';

export interface IntendedBatch {
  readonly id: string;
  readonly tenant: string;
  readonly tenantId: number;
  readonly records: readonly MappedRecord[];
  /** Milliseconds of this process's clock, taken before the intent was written. */
  readonly intendedAt: number;
}

export interface OpenBatch {
  readonly id: string;
  readonly runId: string;
  readonly tenant: string;
  readonly tenantId: number;
  readonly claim: string;
  readonly state: 'intended' | 'sent' | 'waiting';
  readonly platformBatchId: string | null;
  /** How many records it was sent with. */
  readonly records: number;
  /** The records that are open still. */
  readonly externalIds: readonly string[];
  /** Milliseconds since the intent was written, by the state database's clock. */
  readonly age: number;
}

export interface OpenBatches {
  /** Notes the id that the platform gave a batch. */
  sent(batchId: string, platformBatchId: string): Promise<void>;
  /** The intent, written anew for a POST that had to wait; throws `fenced_off` when another attempt took over. */
  renew(range: TakenRange, batch: IntendedBatch): Promise<IntendedBatch>;
  /** Replaces an intent by intents of its parts. */
  split(
    range: TakenRange,
    batch: IntendedBatch,
    parts: readonly (readonly MappedRecord[])[],
  ): Promise<readonly IntendedBatch[]>;
  /**
   * Batches whose settling is not finished, and that nobody works on: those of the range itself, and those that
   * runs of its mapping left behind which are over. Attempts that outlived such a run are fenced off first.
   */
  leftBehind(range: TakenRange): Promise<readonly OpenBatch[]>;
  /** The batch as it is now; a predecessor's last word may have come in meanwhile. */
  again(batch: OpenBatch): Promise<OpenBatch | undefined>;
  /** Batches of a mapping that the platform holds for dependencies, of any run. */
  waitingOf(mappingId: number): Promise<readonly OpenBatch[]>;
  /** Frees the records of a batch that an earlier attempt left behind; `held` ids go on waiting for dependencies. */
  recover(
    range: TakenRange,
    batch: OpenBatch,
    outcomes: readonly RecordOutcome[],
    held: readonly string[],
  ): Promise<void>;
}

interface Row {
  id: string;
  run_id: string;
  tenant: string;
  tenant_id: number;
  claim: string;
  state: OpenBatch['state'];
  platform_batch_id: string | null;
  records: number;
  external_ids: string[];
  age: number;
}

/** Of a run that ended without settling it: failed, cancelled or terminated. */
const ABANDONED = `state IN ('intended', 'sent') AND b.mapping_id = ?
  AND EXISTS (SELECT FROM runs WHERE runs.id = b.run_id AND runs.ended_at IS NOT NULL)`;

export function openBatches(knex: Knex): OpenBatches {
  const find = async (condition: string, ...values: (string | number)[]): Promise<OpenBatch[]> => {
    const { rows } = await knex.raw<{ rows: Row[] }>(
      `SELECT b.*, t.platform_id AS tenant, (1000 * extract(epoch FROM clock_timestamp() - intended_at))::float8 AS age
       FROM batches b JOIN tenants t ON t.id = b.tenant_id WHERE ${condition} ORDER BY b.id`,
      values,
    );
    return rows.map((row) => ({
      id: row.id,
      runId: row.run_id,
      tenant: row.tenant,
      tenantId: row.tenant_id,
      claim: row.claim,
      state: row.state,
      platformBatchId: row.platform_batch_id,
      records: row.records,
      externalIds: row.external_ids,
      age: row.age,
    }));
  };
  return {
    async sent(batchId, platformBatchId) {
      await knex('batches')
        .where({ id: batchId, state: 'intended' })
        .update({ state: 'sent', platform_batch_id: platformBatchId, sent_at: knex.fn.now() });
    },
    async renew(range, batch) {
      const intendedAt = Date.now();
      await knex.transaction(async (trx) => {
        await holdRange(trx, range);
        await trx('batches').where({ id: batch.id }).update({ intended_at: trx.fn.now() });
      });
      return { ...batch, intendedAt };
    },
    async split(range, batch, parts) {
      const intendedAt = Date.now();
      return knex.transaction(async (trx) => {
        await holdRange(trx, range);
        const [whole] = await trx('batches')
          .where({ id: batch.id })
          .update({ state: 'released', external_ids: null, settled_at: trx.fn.now() })
          .returning<{ claim: string }[]>('claim');
        return insertIntents(trx, range, whole!.claim, parts, () => batch.tenantId, intendedAt);
      });
    },
    async leftBehind(range) {
      await knex.raw(
        `UPDATE ranges SET epoch = epoch + 1 WHERE id IN (SELECT range_id FROM batches b WHERE ${ABANDONED})`,
        [range.mappingId],
      );
      return find(`state IN ('intended', 'sent') AND (range_id = ? OR ${ABANDONED})`, range.id, range.mappingId);
    },
    again: async (batch) => (await find('b.id = ?', batch.id))[0],
    waitingOf: (mappingId) => find(`mapping_id = ? AND state = 'waiting'`, mappingId),
    async recover(range, batch, outcomes, held) {
      await knex.transaction(async (trx) => {
        await holdRange(trx, range);
        const recovered = await trx('batches')
          .where({ id: batch.id })
          .whereIn('state', ['intended', 'sent'])
          .update({
            state: held.length > 0 ? 'waiting' : outcomes.some((o) => o.outcome === 'unclear') ? 'released' : 'settled',
            external_ids: held.length > 0 ? [...held] : null,
            settled_at: held.length > 0 ? null : trx.fn.now(),
          });
        // What a run left behind is found by several of its successor's ranges: one of them recovers it.
        if (recovered === 0) return;
        await freeRecords(trx, range, batch.claim, outcomes);
        if (held.length === 0) return;
        // Their rows lie behind the position: they count in the books when they are read again.
        await trx.raw(
          `INSERT INTO waiting (mapping_id, tenant_id, external_id, source_key, reason, batch_id, range_id, read_stamp, booked)
           SELECT ?, ?, unnest(?::text[]), '{}', 'dependency', ?, ?, 0, false ON CONFLICT DO NOTHING`,
          [range.mappingId, batch.tenantId, [...held], batch.id, range.id],
        );
      });
    },
  };
}

export interface RecordOutcome {
  readonly tenantId: number;
  readonly externalId: string;
  readonly outcome: 'accepted' | 'rejected' | 'unclear';
}

/** What an outcome does to a record, once it is free: the content hash is set by acceptance only. */
const EFFECTS: Record<RecordOutcome['outcome'], string> = {
  accepted: 'content_hash = r.claimed_hash, run_id = :run',
  rejected: 'claimed_hash = NULL',
  unclear: 'content_hash = NULL',
};

/** Finds records, each by its key (see claims.ts), and locks them in the order in which claims lock. */
const LOCKED = `
  SELECT k.ctid FROM (
    SELECT * FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[])) AS u(tenant_id, external_id)
    ORDER BY tenant_id, external_id COLLATE "C") i
  CROSS JOIN LATERAL (SELECT ctid FROM records k WHERE k.mapping_id = :mapping AND k.tenant_id = i.tenant_id
    AND k.external_id = i.external_id LIMIT 1 FOR UPDATE) k`;

/** Writes the outcomes of a claim's records and frees them for the next claim. */
export async function freeRecords(
  trx: Knex,
  range: Pick<TakenRange, 'mappingId' | 'runId'>,
  claim: string,
  records: readonly RecordOutcome[],
): Promise<void> {
  const bindings = (some: readonly RecordOutcome[]) => ({
    tenants: some.map((r) => r.tenantId),
    ids: some.map((r) => r.externalId),
    mapping: range.mappingId,
    run: range.runId,
    claim,
  });
  const kinds = Object.entries(EFFECTS)
    .map(([outcome, effect]) => ({ effect, concerned: records.filter((r) => r.outcome === outcome) }))
    .filter(({ concerned }) => concerned.length > 0);
  // Nearly always all are accepted; several statements would keep the order each for itself only.
  if (kinds.length > 1) await trx.raw(LOCKED, bindings(records));
  for (const { effect, concerned } of kinds)
    await trx.raw(
      `UPDATE records r SET claim = NULL, ${effect} WHERE r.claim = :claim AND r.ctid = ANY (ARRAY(${LOCKED}))`,
      bindings(concerned),
    );
}

/** Writes intents, one a batch; each batch holds records of one tenant. */
export async function insertIntents(
  trx: Knex,
  range: TakenRange,
  claim: string,
  batches: readonly (readonly MappedRecord[])[],
  tenantIdOf: (tenant: string) => number,
  intendedAt: number,
): Promise<IntendedBatch[]> {
  if (batches.length === 0) return [];
  const ids = await trx('batches')
    .insert(
      batches.map((records) => ({
        run_id: range.runId,
        range_id: range.id,
        mapping_id: range.mappingId,
        tenant_id: tenantIdOf(records[0]!.tenant),
        claim,
        state: 'intended',
        records: records.length,
        external_ids: records.map((r) => r.externalId),
      })),
    )
    .returning<{ id: string }[]>('id');
  return batches.map((records, i) => ({
    id: ids[i]!.id,
    tenant: records[0]!.tenant,
    tenantId: tenantIdOf(records[0]!.tenant),
    records,
    intendedAt,
  }));
}
