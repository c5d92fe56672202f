/** Which blocks cover some keys (record-blocks.ts): finding them, locked if they are to be changed, and each one's keys. */
import type { Knex } from 'knex';
import { prepared } from './prepared.js';
import { encodeBlock, NO_COLUMNS, StoredBlock } from './record-block.js';
import { compareIds, compareKeys, idHex, LOWEST, type RecordKeys } from './record-key.js';

/** Characters of external ids in a block, at most: a row should fit into a page of the database. */
export const BLOCK_CHARACTERS = 2_500;
/** Neighbouring keys nearly always lie in blocks of about so many, or of fewer where ids are long: all are asked for at once. */
const DENSE = 48;

/** Indexes of the keys in the ledger's order; those of a source that is read by key mostly are. */
export function inOrder(keys: RecordKeys): number[] {
  const order = new Array<number>(keys.externalIds.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  for (let i = 1; i < order.length; i++)
    if (compareKeys(keys, i - 1, i) > 0) return order.sort((a, b) => compareKeys(keys, a, b));
  return order;
}

/** The blocks that cover the keys, in order. With `lock`, blocks are made where a tenant has none. */
export async function blocksOf(
  knex: Knex,
  mappingId: number,
  keys: RecordKeys,
  order: readonly number[],
  lock: boolean,
): Promise<StoredBlock[]> {
  let blocks: StoredBlock[] = [];
  const look = async (spans: readonly KeySpan[]): Promise<void> => {
    if (spans.length > 0) blocks = distinct([...blocks, ...(await find(knex, mappingId, keys, spans, lock))]);
  };
  const tenantOf = ({ first }: KeySpan): number => keys.tenantIds[first]!;
  const spans = spansOf(keys, order);
  await look(spans);
  const known = new Set(blocks.map((block) => block.tenantId));
  const unknown = spans.filter((span) => !known.has(tenantOf(span)));
  if (lock && unknown.length > 0) {
    await plant(knex, mappingId, unknown.map(tenantOf));
    await look(unknown);
  }
  // Keys far apart are left, and those of a block that was cut while we waited for its lock: each is looked up.
  for (;;) {
    // Without a lock, nothing is known of those whose tenant has no block at all.
    const open = uncovered(keys, order, blocks).filter((i) => lock || known.has(keys.tenantIds[i]!));
    await look(open.map((i): KeySpan => ({ first: i, last: i, most: 1 })));
    if (open.length === 0 || !lock) return blocks;
  }
}

/** Keys from one to another, by their indexes, and how many of the blocks between them are wanted, from the first on. */
interface KeySpan {
  readonly first: number;
  readonly last: number;
  readonly most: number;
}

/** The keys of each tenant as one span. */
function spansOf({ tenantIds, externalIds }: RecordKeys, order: readonly number[]): KeySpan[] {
  const spans: KeySpan[] = [];
  for (let from = 0, at = 1; at <= order.length; at++) {
    if (at < order.length && tenantIds[order[at]!] === tenantIds[order[from]!]) continue;
    const [first, last] = [order[from]!, order[at - 1]!];
    // The last id is the longest.
    const inBlock = Math.min(DENSE, Math.ceil((0.75 * BLOCK_CHARACTERS) / externalIds[last]!.length));
    spans.push({ first, last, most: 1 + Math.ceil((at - from) / inBlock) });
    from = at;
  }
  return spans;
}

/** In order, each once. */
function distinct(blocks: readonly StoredBlock[]): StoredBlock[] {
  const sorted = [...blocks].sort((a, b) => a.tenantId - b.tenantId || compareIds(a.low, b.low));
  return sorted.filter((b, i) => i === 0 || b.tenantId !== sorted[i - 1]!.tenantId || b.low !== sorted[i - 1]!.low);
}

/** Those of the keys, in order, that no block covers. */
function uncovered(keys: RecordKeys, order: readonly number[], blocks: readonly StoredBlock[]): number[] {
  const gaps: number[][] = [];
  let at = 0;
  for (const [, from, to] of placed(keys, order, blocks)) {
    if (from > at) gaps.push(order.slice(at, from));
    at = to;
  }
  return [...gaps, order.slice(at)].flat();
}

/** Hands each block the indexes of its keys. */
export function walk(
  keys: RecordKeys,
  order: readonly number[],
  blocks: readonly StoredBlock[],
  visit: (block: StoredBlock, indexes: readonly number[]) => void,
): void {
  for (const [block, from, to] of placed(keys, order, blocks)) if (to > from) visit(block, order.slice(from, to));
}

/** Each block with the places of its keys in the order, from the first up to the second number. */
function* placed(
  keys: RecordKeys,
  order: readonly number[],
  blocks: readonly StoredBlock[],
): Generator<readonly [block: StoredBlock, from: number, to: number]> {
  let at = 0;
  for (const block of blocks) {
    const { tenantId, low, until } = block;
    const from = placeOf(keys, order, at, tenantId, low);
    at =
      until === null ? placeOf(keys, order, from, tenantId + 1, LOWEST) : placeOf(keys, order, from, tenantId, until);
    yield [block, from, at];
  }
}

/** The first place in the order, from one on, whose key is this one or a greater one. */
function placeOf(
  { tenantIds, externalIds }: RecordKeys,
  order: readonly number[],
  from: number,
  tenantId: number,
  externalId: string,
): number {
  let [low, high] = [from, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const index = order[middle]!;
    if ((tenantIds[index]! - tenantId || compareIds(externalIds[index]!, externalId)) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Row {
  tenant_id: number;
  records: string;
}

/**
 * The blocks that cover the spans' keys, locked in one order for all. Where keys are looked up in a second round, two
 * transactions may still wait for each other: the database gives one up, which is tried again.
 */
async function find(
  knex: Knex,
  mappingId: number,
  keys: RecordKeys,
  spans: readonly KeySpan[],
  lock: boolean,
): Promise<StoredBlock[]> {
  const { rows } = await prepared<Row>(
    knex,
    lock ? 'lock_blocks' : 'find_blocks',
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
       ORDER BY b.low LIMIT w.most ${lock ? 'FOR UPDATE' : ''}
     ) b`,
    {
      mapping: mappingId,
      tenants: spans.map((s) => keys.tenantIds[s.first]!),
      firsts: spans.map((s) => idHex(keys.externalIds[s.first]!)),
      lasts: spans.map((s) => idHex(keys.externalIds[s.last]!)),
      most: spans.map((s) => s.most),
    },
  );
  return rows.map((row) => new StoredBlock(row.tenant_id, row.records));
}

/** A first, empty block for tenants that have none. */
async function plant(knex: Knex, mappingId: number, tenantIds: readonly number[]): Promise<void> {
  await knex.raw(
    `INSERT INTO record_blocks (mapping_id, tenant_id, low, accepted, records)
     SELECT ?, tenant, decode(?, 'hex'), 0, ? FROM unnest(CAST(? AS int[])) AS tenant ORDER BY tenant ON CONFLICT DO NOTHING`,
    [mappingId, idHex(LOWEST), encodeBlock({ low: LOWEST, until: null, columns: NO_COLUMNS }), [...tenantIds]],
  );
}
