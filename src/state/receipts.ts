/** Receipts: the content hash of what the platform accepted last, record by record, for reconciling. */
import type { Knex } from 'knex';
import { readRecords } from './record-blocks.js';
import type { RecordKeys } from './record-key.js';

export interface Receipts {
  /** Content hashes (32 hex digits) of accepted records, by their index in `keys`; absent where none is known. */
  hashes(mappingId: number, keys: RecordKeys): Promise<ReadonlyMap<number, string>>;
  /** How many records of the mapping are accepted. */
  count(mappingId: number): Promise<number>;
}

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
  };
}
