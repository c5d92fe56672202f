/** Receipts: the content hash of what the platform accepted last, record by record, for reconciling. */
import type { Knex } from 'knex';

export interface Receipts {
  /** Content hashes (32 hex digits) of accepted records by `tenant id/external id`; absent where none is known. */
  hashes(
    mappingId: number,
    tenantIds: readonly number[],
    externalIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
  /** How many records of the mapping are accepted. */
  count(mappingId: number): Promise<number>;
}

export const receiptKey = (tenantId: number, externalId: string): string => `${tenantId}/${externalId}`;

export function openReceipts(knex: Knex): Receipts {
  return {
    async hashes(mappingId, tenantIds, externalIds) {
      const { rows } = await knex.raw<{ rows: { tenant_id: number; external_id: string; hash: string }[] }>(
        `SELECT r.tenant_id, r.external_id, replace(r.content_hash::text, '-', '') AS hash
         FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         CROSS JOIN LATERAL (SELECT * FROM records r WHERE r.mapping_id = ? AND r.tenant_id = i.tenant_id
           AND r.external_id = i.external_id LIMIT 1) r
         WHERE r.content_hash IS NOT NULL`,
        [[...tenantIds], [...externalIds], mappingId],
      );
      return new Map(rows.map((row) => [receiptKey(row.tenant_id, row.external_id), row.hash]));
    },
    async count(mappingId) {
      const { rows } = await knex.raw<{ rows: { n: number }[] }>(
        'SELECT count(*)::float8 AS n FROM records WHERE mapping_id = ? AND content_hash IS NOT NULL',
        [mappingId],
      );
      return rows[0]!.n;
    },
  };
}
