/** Finds the blocks that cover a list of keys, mostly with one query, which suits keys that lie close together. */
import type { Knex } from 'knex';
import { prepared } from '../database/statements.js';
import { compareIds, idHex, LOWEST, type RecordKeys } from '../record-key.js';
import { NO_COLUMNS } from './entry-columns.js';
import { uncovered } from './keys-in-blocks.js';
import { encodeBlock, StoredBlock } from './stored-block.js';

/** Characters of external ids in a block at most, so that its row fits into a page of the database. */
export const BLOCK_CHARACTERS = 2_500;
/**
 * Fewest records that a full block usually has, unless its ids are long: from this follows how many blocks to ask for.
 */
const DENSE = 48;

/** `change` locks the blocks until the transaction ends, and gives a tenant without any block a first one. */
export type Access = 'read' | 'change';

/**
 * The blocks that cover the keys, in the ledger's order. Every key is covered, except that `read` finds none for
 * tenants of which the mapping has no record.
 *
 * @param order indexes of the keys in the ledger's order
 */
export async function blocksOf(
  knex: Knex,
  mappingId: number,
  keys: RecordKeys,
  order: readonly number[],
  access: Access,
): Promise<StoredBlock[]> {
  let blocks: StoredBlock[] = [];
  const look = async (wanted: readonly TenantKeys[]): Promise<void> => {
    if (wanted.length > 0) blocks = distinct([...blocks, ...(await find(knex, mappingId, keys, wanted, access))]);
  };
  const tenantOf = ({ first }: TenantKeys): number => keys.tenantIds[first]!;

  const tenants = byTenant(keys, order);
  await look(tenants);
  const withBlocks = new Set(blocks.map((block) => block.tenantId));
  if (access === 'read') {
    const missed = uncovered(keys, order, blocks).filter((index) => withBlocks.has(keys.tenantIds[index]!));
    await look(missed.map(singleKey));
    return blocks;
  }
  const withoutBlocks = tenants.filter((wanted) => !withBlocks.has(tenantOf(wanted)));
  if (withoutBlocks.length > 0) {
    await insertFirstBlocks(knex, mappingId, withoutBlocks.map(tenantOf));
    await look(withoutBlocks);
  }
  // Missed are keys far behind the others, and keys of a block that was cut while this transaction waited for its lock.
  let missed = uncovered(keys, order, blocks);
  while (missed.length > 0) {
    await look(missed.map(singleKey));
    missed = uncovered(keys, order, blocks);
  }
  return blocks;
}

/** Keys of one tenant, from the first to the last index, and how many blocks from the first key's on are wanted. */
interface TenantKeys {
  readonly first: number;
  readonly last: number;
  readonly most: number;
}

const singleKey = (index: number): TenantKeys => ({ first: index, last: index, most: 1 });

/** The keys of each tenant. */
function byTenant({ tenantIds, externalIds }: RecordKeys, order: readonly number[]): TenantKeys[] {
  const tenants: TenantKeys[] = [];
  let from = 0;
  for (let to = 1; to <= order.length; to++) {
    if (to < order.length && tenantIds[order[to]!] === tenantIds[order[from]!]) continue;
    const [first, last] = [order[from]!, order[to - 1]!];
    // The last id of the order is the longest one.
    const inBlock = Math.min(DENSE, Math.ceil((0.75 * BLOCK_CHARACTERS) / externalIds[last]!.length));
    tenants.push({ first, last, most: 1 + Math.ceil((to - from) / inBlock) });
    from = to;
  }
  return tenants;
}

/** The blocks in order, each once. */
function distinct(blocks: readonly StoredBlock[]): StoredBlock[] {
  const sorted = [...blocks].sort((a, b) => a.tenantId - b.tenantId || compareIds(a.low, b.low));
  return sorted.filter((b, i) => i === 0 || b.tenantId !== sorted[i - 1]!.tenantId || b.low !== sorted[i - 1]!.low);
}

/**
 * Reads the blocks of the keys, locking them in one order for everybody. Transactions that look up missed keys may
 * still wait for each other: the database aborts one of them, which is then run again.
 */
async function find(
  knex: Knex,
  mappingId: number,
  keys: RecordKeys,
  wanted: readonly TenantKeys[],
  access: Access,
): Promise<StoredBlock[]> {
  const { rows } = await prepared<{ tenant_id: number; records: string }>(
    knex,
    access === 'change' ? 'lock_blocks' : 'find_blocks',
    `SELECT b.tenant_id, b.records
     FROM (
       SELECT DISTINCT s.tenant_id, (SELECT low FROM record_blocks b WHERE b.mapping_id = :mapping
         AND b.tenant_id = s.tenant_id AND b.low <= decode(s.first, 'hex') ORDER BY low DESC LIMIT 1) AS low,
         CASE WHEN s.most > 1 THEN decode(s.last, 'hex') END AS last, s.most
       FROM unnest(CAST(:tenants AS int[]), CAST(:firsts AS text[]), CAST(:lasts AS text[]), CAST(:most AS int[]))
         AS s(tenant_id, first, last, most) ORDER BY 1, 2
     ) w CROSS JOIN LATERAL (
       SELECT * FROM record_blocks b WHERE b.mapping_id = :mapping AND b.tenant_id = w.tenant_id
         AND b.low >= w.low AND b.low <= coalesce(w.last, w.low)
       ORDER BY b.low LIMIT w.most ${access === 'change' ? 'FOR UPDATE' : ''}
     ) b`,
    {
      mapping: mappingId,
      tenants: wanted.map((w) => keys.tenantIds[w.first]!),
      firsts: wanted.map((w) => idHex(keys.externalIds[w.first]!)),
      lasts: wanted.map((w) => idHex(keys.externalIds[w.last]!)),
      most: wanted.map((w) => w.most),
    },
  );
  return rows.map((row) => new StoredBlock(row.tenant_id, row.records));
}

/** A first, empty block for each of the tenants; another transaction may have inserted it meanwhile. */
async function insertFirstBlocks(knex: Knex, mappingId: number, tenantIds: readonly number[]): Promise<void> {
  await knex.raw(
    `INSERT INTO record_blocks (mapping_id, tenant_id, low, accepted, records)
     SELECT ?, tenant, decode(?, 'hex'), 0, ? FROM unnest(CAST(? AS int[])) AS tenant ORDER BY tenant ON CONFLICT DO NOTHING`,
    [mappingId, idHex(LOWEST), encodeBlock({ low: LOWEST, until: null, columns: NO_COLUMNS }), [...tenantIds]],
  );
}
