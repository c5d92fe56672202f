/** Receipts: the content hash of what the platform accepted last, record by record, for reconciling. */
import type { Knex } from 'knex';
import { StoredBlock } from './record-block.js';
import { readRecords } from './record-blocks.js';
import { idHex, idOfHex, LOWEST, type RecordKeys } from './record-key.js';

/** A record, or a place between records, in the ledger's order (record-key.ts). */
export interface RecordPlace {
  readonly tenantId: number;
  readonly externalId: string;
}

export interface Receipt extends RecordPlace {
  /** 32 hex digits. */
  readonly contentHash: string;
}

export interface ReceiptPage {
  readonly receipts: readonly Receipt[];
  /** Where the next page begins; null behind the last one. */
  readonly next: RecordPlace | null;
}

export interface Receipts {
  /** Content hashes (32 hex digits) of accepted records, by their index in `keys`; absent where none is known. */
  hashes(mappingId: number, keys: RecordKeys): Promise<ReadonlyMap<number, string>>;
  /** How many records of the mapping are accepted. */
  count(mappingId: number): Promise<number>;
  /** Places, in order, that cut all receipts of the mapping into at most `most` parts of about one size. */
  cuts(mappingId: number, most: number): Promise<readonly RecordPlace[]>;
  /** Some thousands of receipts in the ledger's order. `from` (included) and `until` (not) are {@link cuts}. */
  page(mappingId: number, from: RecordPlace, until: RecordPlace | null): Promise<ReceiptPage>;
}

/** Less than any record. */
export const FIRST_PLACE: RecordPlace = { tenantId: 0, externalId: LOWEST };
const BLOCKS_OF_A_PAGE = 200;

export function openReceipts(knex: Knex): Receipts {
  return {
    async hashes(mappingId, keys) {
      const hashes = new Map<number, string>();
      await readRecords(knex, mappingId, keys, (index, { contentHash }) => {
        if (contentHash !== null) hashes.set(index, contentHash);
      });
      return hashes;
    },
    async count(mappingId) {
      const { rows } = await knex.raw<{ rows: { n: number }[] }>(
        'SELECT coalesce(sum(accepted), 0)::float8 AS n FROM record_blocks WHERE mapping_id = ?',
        [mappingId],
      );
      return rows[0]!.n;
    },
    async cuts(mappingId, most) {
      const { rows } = await knex.raw<{ rows: { tenant_id: number; low: string }[] }>(
        `SELECT tenant_id, encode(low, 'hex') AS low
         FROM (SELECT tenant_id, low, row_number() OVER (ORDER BY tenant_id, low) - 1 AS place, count(*) OVER () AS blocks
               FROM record_blocks WHERE mapping_id = :mapping) b
         WHERE place % greatest(1, ceil(blocks::float8 / :most)::bigint) = 0 ORDER BY tenant_id, b.low`,
        { mapping: mappingId, most },
      );
      return rows.map((row) => ({ tenantId: row.tenant_id, externalId: idOfHex(row.low) }));
    },
    async page(mappingId, from, until) {
      const { rows } = await knex.raw<{ rows: { tenant_id: number; records: string }[] }>(
        `SELECT tenant_id, records FROM record_blocks
         WHERE mapping_id = :mapping AND (tenant_id, low) >= (:tenant, decode(:low, 'hex'))
           AND (CAST(:endTenant AS int) IS NULL OR (tenant_id, low) < (CAST(:endTenant AS int), decode(:end, 'hex')))
         ORDER BY tenant_id, low LIMIT :limit`,
        {
          mapping: mappingId,
          tenant: from.tenantId,
          low: idHex(from.externalId),
          endTenant: until?.tenantId ?? null,
          end: idHex(until?.externalId ?? LOWEST),
          limit: BLOCKS_OF_A_PAGE,
        },
      );
      const blocks = rows.map((row) => new StoredBlock(row.tenant_id, row.records));
      const last = rows.length === BLOCKS_OF_A_PAGE ? blocks.at(-1)! : null;
      return {
        receipts: blocks.flatMap(({ tenantId, entries }) =>
          entries.flatMap(({ externalId, contentHash }) =>
            contentHash === null ? [] : [{ tenantId, externalId, contentHash }],
          ),
        ),
        next:
          last === null
            ? null
            : { tenantId: last.until === null ? last.tenantId + 1 : last.tenantId, externalId: last.until ?? LOWEST },
      };
    },
  };
}
