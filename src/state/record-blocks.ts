/**
 * The ledger's records, kept in blocks of neighbours (record-key.ts): a tree's leaves, one row each.
 *
 * A row for each record would cost more than the way to the platform (ADR 0014). A block covers the keys from `low`
 * up to `until`, which is the next one's `low`; a full one is cut, and none is ever joined or deleted. Whoever holds the lock
 * of the block that covers a key is the only one to read and write the record, also where there is none yet.
 */
import type { Knex } from 'knex';
import { HASH_BYTES } from '../domain/record-list.js';
import {
  acceptedOf,
  columnsOf,
  concatenated,
  encodeBlock,
  mergeEntries,
  NO_COLUMNS,
  SEPARATOR,
  sliceOf,
  StoredBlock,
  type RecordBlock,
  type EntryColumns,
  type RecordEntry,
} from './record-block.js';
import { prepared } from './prepared.js';
import { compareIds, compareKeys, idHex, type RecordKeys } from './record-key.js';

/** Entries of a block after cutting: more make a look-up of one record dear, fewer make many rows. */
const BLOCK_ENTRIES = 64;
/** The same where records arrive singly, in no order: each reads and writes a whole block. */
const SMALL_BLOCK = 8;
/** Fewer new records than this in a block, in its middle, are such. */
const FEW = 8;
/** Characters of external ids in a block, at most: a row should fit into a page of the database. */
const BLOCK_CHARACTERS = 2_500;
/** Neighbouring keys nearly always lie in blocks of about so many, or of fewer where ids are long: all are asked for at once. */
const DENSE = 48;
/** Less than any external id. */
export const LOWEST = '';

interface WrittenBlock extends RecordBlock {
  readonly tenantId: number;
}

/** The keys from index `from` on: all were accepted with these hashes, whatever was known of them. */
export interface AcceptedKeys {
  readonly from: number;
  /** {@link HASH_BYTES} a key. */
  readonly hashes: Buffer;
  readonly readStamp: number;
  readonly runId: number;
}

/**
 * Decides about records one by one: `decide` gets the index of a key and its entry, and answers what the entry is to
 * be from now on, or undefined to leave it as it is. All blocks concerned stay locked until the transaction ends.
 */
export async function changeRecords(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  decide: (index: number, entry: RecordEntry | undefined) => RecordEntry | undefined,
  accepted?: AcceptedKeys,
): Promise<void> {
  const order = inOrder(keys);
  const blocks = await blocksOf(trx, mappingId, keys, order, true);
  const written: WrittenBlock[] = [];
  walk(keys, order, blocks, (block, indexes) => {
    const filled = accepted && withGapFilled(block, keys, indexes, accepted);
    if (filled !== undefined) {
      written.push(...cut(block, filled));
      return;
    }
    const changed = decideBlock(block, keys, indexes, decide);
    if (changed.length > 0) written.push(...cut(block, columnsOf(mergeEntries(block.entries, changed))));
  });
  await store(trx, mappingId, written);
}

/** What the ledger is asked about many records at once, where whole blocks can answer. */
export interface SameRecords {
  /** Content hashes of the keys, asked for when there is something to compare. */
  readonly hashes: () => Buffer;
  /** So many keys from this index on have the content that the platform accepted last, in this run. */
  readonly see: (first: number, count: number, runId: number) => void;
}

/** Looks records up; nothing is locked. `see` is called for each that the ledger knows, but those told to `same`. */
export async function readRecords(
  knex: Knex,
  mappingId: number,
  keys: RecordKeys,
  see: (index: number, entry: RecordEntry) => void,
  same?: SameRecords,
): Promise<void> {
  const order = inOrder(keys);
  const blocks = await blocksOf(knex, mappingId, keys, order, false);
  walk(keys, order, blocks, (block, indexes) => {
    if (same !== undefined && isSameAs(block, keys, indexes, same)) {
      let first = indexes[0]!;
      for (const [count, , runId] of block.sendings) {
        same.see(first, count, runId);
        first += count;
      }
      return;
    }
    seeBlock(block, keys, indexes, see);
  });
}

/** Of the keys, those that the block has. */
function seeBlock(
  block: StoredBlock,
  { externalIds }: RecordKeys,
  indexes: readonly number[],
  see: (index: number, entry: RecordEntry) => void,
): void {
  const { ids } = block;
  let at = 0;
  for (const index of indexes) {
    const externalId = externalIds[index]!;
    while (at < ids.length && compareIds(ids[at]!, externalId) < 0) at++;
    if (at === ids.length) return;
    if (ids[at] === externalId) see(index, block.entryAt(at));
  }
}

/** Whether the block holds just these records, and each with the same content. */
function isSameAs(block: StoredBlock, keys: RecordKeys, indexes: readonly number[], { hashes }: SameRecords): boolean {
  if (indexes.length !== block.length || !areNeighbours(indexes)) return false;
  const first = indexes[0]!;
  const end = first + indexes.length;
  return (
    block.holds(keys.externalIds.slice(first, end)) &&
    block.hashes.equals(hashes().subarray(first * HASH_BYTES, end * HASH_BYTES))
  );
}

/**
 * The block with the accepted records of the keys, where all of them lie between two neighbours of its own, or behind
 * all: then none of its entries has to be looked at.
 */
function withGapFilled(
  block: StoredBlock,
  { externalIds }: RecordKeys,
  indexes: readonly number[],
  { from, hashes, readStamp, runId }: AcceptedKeys,
): EntryColumns | undefined {
  const first = indexes[0]!;
  const end = first + indexes.length;
  if (first < from || !areNeighbours(indexes)) return undefined;
  for (let i = first + 1; i < end; i++) if (compareIds(externalIds[i - 1]!, externalIds[i]!) >= 0) return undefined;
  const { ids } = block;
  let gap = ids.length;
  while (gap > 0 && compareIds(ids[gap - 1]!, externalIds[first]!) >= 0) gap--;
  if (gap < ids.length && compareIds(externalIds[end - 1]!, ids[gap]!) >= 0) return undefined;
  return concatenated(
    sliceOf(block, 0, gap),
    {
      ids: externalIds.slice(first, end),
      hashes: hashes.subarray((first - from) * HASH_BYTES, (end - from) * HASH_BYTES),
      sendings: [[indexes.length, readStamp, runId]],
    },
    sliceOf(block, gap, ids.length),
  );
}

/** Whether each index is the next one. */
function areNeighbours(indexes: readonly number[]): boolean {
  for (let i = 1; i < indexes.length; i++) if (indexes[i] !== indexes[i - 1]! + 1) return false;
  return true;
}

/** Indexes of the keys in the ledger's order; those of a source that is read by key mostly are. */
function inOrder(keys: RecordKeys): number[] {
  const order = new Array<number>(keys.externalIds.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  for (let i = 1; i < order.length; i++)
    if (compareKeys(keys, i - 1, i) > 0) return order.sort((a, b) => compareKeys(keys, a, b));
  return order;
}

/** The blocks that cover the keys, in order. With `lock`, blocks are made where a tenant has none. */
async function blocksOf(
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
function walk(
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

function decideBlock(
  block: StoredBlock,
  keys: RecordKeys,
  indexes: readonly number[],
  decide: (index: number, entry: RecordEntry | undefined) => RecordEntry | undefined,
): RecordEntry[] {
  const { ids } = block;
  const changed: RecordEntry[] = [];
  let at = 0;
  for (const index of indexes) {
    const externalId = keys.externalIds[index]!;
    while (at < ids.length && compareIds(ids[at]!, externalId) < 0) at++;
    const stored = ids[at] === externalId ? block.entryAt(at) : undefined;
    const again = changed.at(-1)?.externalId === externalId;
    const entry = decide(index, again ? changed.at(-1) : stored);
    if (entry === undefined) continue;
    if (again) changed.pop();
    changed.push(entry);
  }
  return changed;
}

/**
 * A block that has grown too large, in parts of about one size. What arrives in its middle singly arrives so again: then
 * parts are small, since each later record costs reading and writing its whole block.
 */
function cut(block: StoredBlock, grown: EntryColumns): WrittenBlock[] {
  const { tenantId, low, until } = block;
  const { length } = grown.ids;
  const added = length - block.length;
  const isAppended = grown.ids.at(-1) !== block.ids.at(-1);
  const fill = added < FEW && !isAppended ? SMALL_BLOCK : BLOCK_ENTRIES;
  const characters = grown.ids.reduce((sum, id) => sum + id.length, 0);
  const fits = length <= 1.5 * fill && characters <= BLOCK_CHARACTERS;
  if (added === 0 || fits) return [{ tenantId, low, until, columns: grown }];
  const count = Math.max(Math.ceil(length / fill), Math.ceil(characters / BLOCK_CHARACTERS));
  const size = Math.ceil(length / count);
  const parts: WrittenBlock[] = [];
  for (let i = 0; i < length; i += size)
    parts.push({
      tenantId,
      low: i === 0 ? low : grown.ids[i]!,
      until: grown.ids[i + size] ?? until,
      columns: sliceOf(grown, i, i + size),
    });
  return parts;
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

async function store(trx: Knex, mappingId: number, blocks: readonly WrittenBlock[]): Promise<void> {
  if (blocks.length === 0) return;
  await prepared(
    trx,
    'store_blocks',
    `INSERT INTO record_blocks (mapping_id, tenant_id, low, accepted, records)
     SELECT :mapping, tenant_id, decode(low, 'hex'), accepted, records
     FROM unnest(CAST(:tenants AS int[]), CAST(:lows AS text[]), CAST(:accepted AS int[]),
       string_to_array(:records, :separator)) AS b(tenant_id, low, accepted, records)
     ON CONFLICT (mapping_id, tenant_id, low) DO UPDATE SET accepted = excluded.accepted, records = excluded.records`,
    {
      mapping: mappingId,
      tenants: blocks.map((b) => b.tenantId),
      lows: blocks.map((b) => idHex(b.low)),
      accepted: blocks.map(({ columns }) => acceptedOf(columns)),
      // One text for all: quoting each as an array's element costs more than everything else here.
      records: blocks.map(encodeBlock).join(SEPARATOR),
      separator: SEPARATOR,
    },
  );
}
