/**
 * The ledger's records, kept in blocks of neighbours (record-key.ts): a tree's leaves, one row each.
 *
 * A row for each record would cost more than the way to the platform (ADR 0014). A block covers the keys from `low`
 * up to `until`, which is the next one's `low`; a full one is cut, and none is ever joined or deleted. Whoever holds the lock
 * of the block that covers a key is the only one to read and write the record, also where there is none yet.
 */
import type { Knex } from 'knex';
import {
  decodeBlock,
  encodeBlock,
  entriesOf,
  mergeEntries,
  SEPARATOR,
  type RecordBlock,
  type RecordEntry,
  type StoredBlock,
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

interface Block extends StoredBlock {
  readonly tenantId: number;
}

interface WrittenBlock extends RecordBlock {
  readonly tenantId: number;
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
): Promise<void> {
  const order = inOrder(keys);
  const blocks = await blocksOf(trx, mappingId, keys, order, true);
  const written: WrittenBlock[] = [];
  walk(keys, order, blocks, (block, indexes) => {
    const changed = decideBlock(block, keys, indexes, decide);
    if (changed.length > 0) written.push(...cut(block, changed));
  });
  await store(trx, mappingId, written);
}

/** Looks records up; nothing is locked. `see` is called for each that the ledger knows. */
export async function readRecords(
  knex: Knex,
  mappingId: number,
  keys: RecordKeys,
  see: (index: number, entry: RecordEntry) => void,
): Promise<void> {
  const order = inOrder(keys);
  const blocks = await blocksOf(knex, mappingId, keys, order, false);
  walk(keys, order, blocks, (block, indexes) => {
    decideBlock(block, keys, indexes, (index, entry) => {
      if (entry !== undefined) see(index, entry);
      return undefined;
    });
  });
}

/** Indexes of the keys in the ledger's order; those of a source that is read by key mostly are. */
function inOrder(keys: RecordKeys): number[] {
  const order = Array.from(keys.externalIds.keys());
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
): Promise<Block[]> {
  let blocks: Block[] = [];
  let open: readonly number[] = order;
  for (let round = 0; open.length > 0; round++) {
    const spans = round === 0 ? spansOf(keys, order) : open.map((i): KeySpan => ({ first: i, last: i, most: 1 }));
    blocks = distinct([...blocks, ...(await find(knex, mappingId, keys, spans, lock))]);
    // Keys far apart are left, and those of a block that was cut while we waited for its lock: each is looked up.
    open = uncovered(keys, order, blocks);
    if (round === 0) continue;
    const tenants = new Set(open.map((i) => keys.tenantIds[i]!));
    for (const block of blocks) tenants.delete(block.tenantId);
    if (lock && tenants.size > 0) await plant(knex, mappingId, [...tenants]);
    if (!lock) break;
  }
  return blocks;
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
function distinct(blocks: readonly Block[]): Block[] {
  const sorted = [...blocks].sort((a, b) => a.tenantId - b.tenantId || compareIds(a.low, b.low));
  return sorted.filter((b, i) => i === 0 || b.tenantId !== sorted[i - 1]!.tenantId || b.low !== sorted[i - 1]!.low);
}

/** Those of the keys, in order, that no block covers. */
function uncovered(keys: RecordKeys, order: readonly number[], blocks: readonly Block[]): number[] {
  let at = 0;
  return order.filter((index) => {
    while (at < blocks.length && isBehind(blocks[at]!, keys, index)) at++;
    return at === blocks.length || !isFrom(blocks[at]!, keys, index);
  });
}

/** All of the block's keys are less than this one. */
const isBehind = (block: Block, { tenantIds, externalIds }: RecordKeys, index: number): boolean =>
  block.tenantId < tenantIds[index]! ||
  (block.tenantId === tenantIds[index] && block.until !== null && compareIds(block.until, externalIds[index]!) <= 0);

const isFrom = (block: Block, { tenantIds, externalIds }: RecordKeys, index: number): boolean =>
  block.tenantId === tenantIds[index] && compareIds(block.low, externalIds[index]!) <= 0;

/** Hands each block the indexes of its keys. */
function walk(
  keys: RecordKeys,
  order: readonly number[],
  blocks: readonly Block[],
  visit: (block: Block, indexes: readonly number[]) => void,
): void {
  let at = 0;
  for (const block of blocks) {
    // No block covers these: of their tenant nothing was ever accepted.
    while (at < order.length && !isFrom(block, keys, order[at]!)) at++;
    const from = at;
    while (at < order.length && isFrom(block, keys, order[at]!) && !isBehind(block, keys, order[at]!)) at++;
    if (at > from) visit(block, order.slice(from, at));
  }
}

function decideBlock(
  { ids, entryAt }: Block,
  keys: RecordKeys,
  indexes: readonly number[],
  decide: (index: number, entry: RecordEntry | undefined) => RecordEntry | undefined,
): RecordEntry[] {
  const changed: RecordEntry[] = [];
  let at = 0;
  for (const index of indexes) {
    const externalId = keys.externalIds[index]!;
    while (at < ids.length && compareIds(ids[at]!, externalId) < 0) at++;
    const stored = ids[at] === externalId ? entryAt(at) : undefined;
    const again = changed.at(-1)?.externalId === externalId;
    const entry = decide(index, again ? changed.at(-1) : stored);
    if (entry === undefined) continue;
    if (again) changed.pop();
    changed.push(entry);
  }
  return changed;
}

/**
 * A block that has grown too large, in parts of about one size. What arrives in its middle singly arrives so
 * again: then parts are small, since each later record costs reading and writing its whole block.
 */
function cut({ tenantId, low, until, ...block }: Block, changed: readonly RecordEntry[]): WrittenBlock[] {
  const grown = mergeEntries(entriesOf({ low, until, ...block }), changed);
  const added = grown.length - block.ids.length;
  const appended = compareIds(changed.at(-1)!.externalId, block.ids.at(-1) ?? LOWEST) > 0;
  const fill = added < FEW && !appended ? SMALL_BLOCK : BLOCK_ENTRIES;
  const characters = grown.reduce((sum, e) => sum + e.externalId.length, 0);
  const fits = grown.length <= 1.5 * fill && characters <= BLOCK_CHARACTERS;
  if (added === 0 || fits) return [{ tenantId, low, until, entries: grown }];
  const count = Math.max(Math.ceil(grown.length / fill), Math.ceil(characters / BLOCK_CHARACTERS));
  const size = Math.ceil(grown.length / count);
  const parts: RecordEntry[][] = [];
  for (let i = 0; i < grown.length; i += size) parts.push(grown.slice(i, i + size));
  const lows = parts.map((part, i) => (i === 0 ? low : part[0]!.externalId));
  return parts.map((entries, i) => ({
    tenantId,
    low: lows[i]!,
    until: lows[i + 1] ?? until,
    entries,
  }));
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
): Promise<Block[]> {
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
  return rows.map((row) => ({ tenantId: row.tenant_id, ...decodeBlock(row.records) }));
}

/** A first, empty block for tenants that have none. */
async function plant(knex: Knex, mappingId: number, tenantIds: readonly number[]): Promise<void> {
  await knex.raw(
    `INSERT INTO record_blocks (mapping_id, tenant_id, low, accepted, records)
     SELECT ?, tenant, decode(?, 'hex'), 0, ? FROM unnest(CAST(? AS int[])) AS tenant ORDER BY tenant ON CONFLICT DO NOTHING`,
    [mappingId, idHex(LOWEST), encodeBlock({ low: LOWEST, until: null, entries: [] }), [...tenantIds]],
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
      accepted: blocks.map(({ entries }) => entries.filter((e) => e.contentHash !== null).length),
      // One text for all: quoting each as an array's element costs more than everything else here.
      records: blocks.map(encodeBlock).join(SEPARATOR),
      separator: SEPARATOR,
    },
  );
}
