/** Read the records of a mapping one after the other, in the ledger's order. */
import type { Knex } from 'knex';
import { FIRST_PLACE, idHex, idOfHex, LOWEST, type RecordPlace } from '../record-key.js';
import type { RecordEntry } from './entry-columns.js';
import { StoredBlock } from './stored-block.js';

export interface IndexedRecord extends RecordEntry {
  readonly tenantId: number;
}

export interface ScannedRecords {
  readonly records: readonly IndexedRecord[];
  /** The place after these records, where the next scan begins. */
  readonly next: RecordPlace;
  /** Whether there were no records after them. */
  readonly isLast: boolean;
}

/**
 * Reads a page of records, of `blocks` blocks with up to about a hundred records each; null if no block is left.
 * Nothing is locked.
 *
 * @param from where the page begins: {@link FIRST_PLACE}, a `next` or one of {@link startsOfParts}
 * @param until the place before which the scan ends, one of the same; null: the end of the index
 */
export async function scanRecords(
  knex: Knex,
  mappingId: number,
  from: RecordPlace,
  until: RecordPlace | null,
  blocks: number,
): Promise<ScannedRecords | null> {
  const found = await blocksFrom(knex, mappingId, from, until, blocks);
  const last = found.at(-1);
  if (last === undefined) return null;
  return {
    records: found.flatMap(({ tenantId, entries }) => entries.map((entry) => ({ ...entry, tenantId }))),
    next: placeAfter(last),
    isLast: found.length < blocks,
  };
}

/**
 * Calls `see` with each record that has one of the external ids, in whichever tenant. Reads the whole index of the mapping, which
 * is ordered by tenants first.
 */
export async function scanForIds(
  knex: Knex,
  mappingId: number,
  ids: ReadonlySet<string>,
  see: (record: IndexedRecord) => void,
): Promise<void> {
  let from = FIRST_PLACE;
  while (true) {
    const found = await blocksFrom(knex, mappingId, from, null, BLOCKS_AT_ONCE);
    for (const block of found)
      block.ids.forEach((id, i) => {
        if (ids.has(id)) see({ ...block.entryAt(i), tenantId: block.tenantId });
      });
    if (found.length < BLOCKS_AT_ONCE) return;
    from = placeAfter(found.at(-1)!);
  }
}

/** Some megabytes. */
const BLOCKS_AT_ONCE = 1000;

/** Whether the index of the mapping has no more than so many blocks. */
export async function hasAtMostBlocks(knex: Knex, mappingId: number, most: number): Promise<boolean> {
  const { rows } = await knex.raw<{ rows: { blocks: number }[] }>(
    'SELECT count(*)::int AS blocks FROM (SELECT FROM record_blocks WHERE mapping_id = ? LIMIT ?) b',
    [mappingId, most + 1],
  );
  return rows[0]!.blocks <= most;
}

async function blocksFrom(
  knex: Knex,
  mappingId: number,
  from: RecordPlace,
  until: RecordPlace | null,
  limit: number,
): Promise<readonly StoredBlock[]> {
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
      limit,
    },
  );
  return rows.map((row) => new StoredBlock(row.tenant_id, row.records));
}

/** Where the records after those of a block begin. */
const placeAfter = ({ tenantId, until }: StoredBlock): RecordPlace =>
  until === null ? { tenantId: tenantId + 1, externalId: LOWEST } : { tenantId, externalId: until };

/** Divides the mapping's records into at most `most` parts of about equal size; returns where they start, in order. */
export async function startsOfParts(knex: Knex, mappingId: number, most: number): Promise<readonly RecordPlace[]> {
  const { rows } = await knex.raw<{ rows: { tenant_id: number; low: string }[] }>(
    `SELECT tenant_id, encode(low, 'hex') AS low
     FROM (SELECT tenant_id, low, row_number() OVER (ORDER BY tenant_id, low) - 1 AS no, count(*) OVER () AS blocks
           FROM record_blocks WHERE mapping_id = :mapping) b
     WHERE no % greatest(1, ceil(blocks::float8 / :most)::bigint) = 0 ORDER BY tenant_id, b.low`,
    { mapping: mappingId, most },
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, externalId: idOfHex(row.low) }));
}
