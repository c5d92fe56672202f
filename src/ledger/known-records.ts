/** What the ledger knows of records by their external ids: what was accepted, and what is not decided yet. */
import type { Knex } from 'knex';
import { keysInFlight } from './batches/in-flight-records.js';
import { readRecords } from './record-index/index.js';
import type { RecordKeys } from './record-key.js';

/** What is known of some records, by the index of their key. */
export interface KnownRecordsAmong {
  /** The accepted hash of each record that was ever sent; null if nothing was accepted. */
  readonly sent: ReadonlyMap<number, string | null>;
  /** Those that are waiting, or in a batch that is not settled. */
  readonly undecided: ReadonlySet<number>;
}

export interface KnownRecords {
  among(mappingId: number, keys: RecordKeys): Promise<KnownRecordsAmong>;
}

export const openKnownRecords = (knex: Knex): KnownRecords => ({
  async among(mappingId, { tenantIds, externalIds }) {
    // In this order: a record that is decided in between is found by a later one.
    const inFlight = await keysInFlight(knex, mappingId, { tenantIds, externalIds });
    const { rows } = await knex.raw<{ rows: { index: number }[] }>(
      `SELECT k.index::int - 1 AS index FROM unnest(CAST(:tenantIds AS int[]), CAST(:externalIds AS text[]))
         WITH ORDINALITY AS k(tenant_id, external_id, index)
       JOIN waiting w ON w.mapping_id = :mappingId AND w.tenant_id = k.tenant_id AND w.external_id = k.external_id`,
      { mappingId, tenantIds: [...tenantIds], externalIds: [...externalIds] },
    );
    const sent = new Map<number, string | null>();
    await readRecords(knex, mappingId, { tenantIds, externalIds }, (index, { contentHash }) =>
      sent.set(index, contentHash),
    );
    return { sent, undecided: new Set([...inFlight, ...rows.map(({ index }) => index)]) };
  },
});
