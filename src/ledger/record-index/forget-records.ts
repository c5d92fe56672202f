/**
 * What only src/ledger/forget needs of the index: counting the records of a tenant, and removing records so that nothing
 * of them is left, neither an entry nor a block that begins with their id. The claims of the mapping must be locked.
 */
import type { Knex } from 'knex';
import { compareIds, idHex, LOWEST, type RecordKeys } from '../record-key.js';
import { blocksOf } from './covering-blocks.js';
import { storeBlocks } from './change-records.js';
import { concatenated, entriesBetween } from './entry-columns.js';
import { inOrder } from './keys-in-blocks.js';
import { readRecords } from './read-records.js';
import { StoredBlock } from './stored-block.js';

/** How many records a block has, in SQL: the lengths of its ids are counted. */
const RECORDS = `(SELECT coalesce(sum((l->>0)::int), 0) FROM json_array_elements(b.records::json->'lengths') AS l)`;

/** All records, those of a tenant, or the one with an id of a tenant or of whichever tenant. `tenant` or `id` is null if not meant. */
export interface RecordsOf {
  readonly tenant: number | null;
  readonly id: string | null;
}

/** How many of the records the index has. */
export async function countRecords(knex: Knex, mappingId: number, { tenant, id }: RecordsOf): Promise<number> {
  if (id === null) {
    const { rows } = await knex.raw<{ rows: [{ n: number }] }>(
      `SELECT coalesce(sum(${RECORDS}), 0)::float8 AS n FROM record_blocks b
       WHERE b.mapping_id = :mappingId AND (CAST(:tenant AS int) IS NULL OR b.tenant_id = :tenant)`,
      { mappingId, tenant },
    );
    return rows[0].n;
  }
  let records = 0;
  await readRecords(knex, mappingId, await keysOf(knex, mappingId, id, tenant), () => records++);
  return records;
}

/** Removes the records. */
export async function forgetRecords(trx: Knex, mappingId: number, { tenant, id }: RecordsOf): Promise<void> {
  if (id === null) {
    await trx('record_blocks')
      .where({ mapping_id: mappingId, ...(tenant !== null && { tenant_id: tenant }) })
      .delete();
    return;
  }
  const keys = await keysOf(trx, mappingId, id, tenant);
  for (const block of await blocksOf(trx, mappingId, keys, inOrder(keys), 'change'))
    await forgetIn(trx, mappingId, block, id);
}

/** The keys that the record may have: one for each tenant, or only for the given one, of which the index has records. */
async function keysOf(knex: Knex, mappingId: number, id: string, tenant: number | null): Promise<RecordKeys> {
  const { rows } = await knex.raw<{ rows: { tenant_id: number }[] }>(
    'SELECT DISTINCT tenant_id FROM record_blocks WHERE mapping_id = ?',
    [mappingId],
  );
  const tenantIds = rows.map((row) => row.tenant_id).filter((known) => tenant === null || known === tenant);
  return { tenantIds, externalIds: tenantIds.map(() => id) };
}

async function forgetIn(trx: Knex, mappingId: number, block: StoredBlock, externalId: string): Promise<void> {
  const at = block.ids.indexOf(externalId);
  if (at < 0) return;
  const { tenantId, low, until } = block;
  const columns = concatenated(entriesBetween(block, 0, at), entriesBetween(block, at + 1, block.length));
  if (low !== externalId) {
    await storeBlocks(trx, mappingId, [{ tenantId, low, until, columns }]);
    return;
  }
  // The block begins with this id: from now on with its next one, and the block before it reaches up to there.
  const boundary = columns.ids[0] ?? until;
  const before = await blockBefore(trx, mappingId, block);
  await trx.raw(`DELETE FROM record_blocks WHERE mapping_id = ? AND tenant_id = ? AND low = decode(?, 'hex')`, [
    mappingId,
    tenantId,
    idHex(low),
  ]);
  await storeBlocks(trx, mappingId, [
    { tenantId, low: before.low, until: boundary, columns: before },
    ...(columns.ids.length > 0 ? [{ tenantId, low: boundary!, until, columns }] : []),
  ]);
}

/** The block before this one, locked. The first block of a tenant begins before every id, so there is one. */
async function blockBefore(trx: Knex, mappingId: number, { tenantId, low }: StoredBlock): Promise<StoredBlock> {
  while (true) {
    const { rows } = await trx.raw<{ rows: [{ records: string }] }>(
      `SELECT records FROM record_blocks WHERE mapping_id = ? AND tenant_id = ? AND low < decode(?, 'hex')
       ORDER BY low DESC LIMIT 1 FOR UPDATE`,
      [mappingId, tenantId, idHex(low)],
    );
    const found = new StoredBlock(tenantId, rows[0].records);
    // While the lock was waited for, the block may have been cut, and then another one is the nearest.
    if (compareIds(found.until ?? LOWEST, low) === 0) return found;
  }
}
