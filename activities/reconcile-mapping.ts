/** Proves that the platform has what the source says: every row mapped anew and held against record or receipt. */
import pLimit from 'p-limit';
import { differingField } from '../src/domain/compare.js';
import type { JsonObject } from '../src/domain/json.js';
import { isInStep, type MappedRecord } from '../src/domain/record.js';
import type { Position, ReadPlan } from '../src/domain/source.js';
import type { OpenMapping, OpenSync, Views } from './dependencies.js';

export interface ReconcileOptions {
  /** Read every record back from the platform, so many of them, or none (the ledger's receipts alone). */
  readonly readBack: 'all' | number | 'none';
  readonly progress?: (mapping: string, rows: number) => void;
}

/** What one mapping's source and platform have in common. `rows` = equal + different + missing + unmappable. */
export interface Reconciliation {
  readonly mapping: string;
  readonly rows: number;
  readonly equal: number;
  /** Rows whose record on the platform has other content, or whose receipt is of other content. */
  readonly different: number;
  readonly missing: number;
  /** Rows that cannot be mapped; they are dead letters. */
  readonly unmappable: number;
  /** Accepted records whose row is no longer in the source. */
  readonly extra: number;
  /** How many of the rows were compared with the platform itself. */
  readonly readBack: number;
  /** A few of the differences: external id and what differs. */
  readonly examples: readonly { readonly externalId: string; readonly what: string }[];
}

const PAGE_ROWS = 1000;
const READS_AT_ONCE = 16;
const EXAMPLES = 10;

export async function reconcileMapping(
  deps: Views,
  sync: OpenSync,
  mapping: OpenMapping,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const plan: ReadPlan = { ...mapping.plan, cursor: null };
  const keys = plan.key.map((column) => plan.columns.indexOf(column));
  const accepted = await deps.ledger.receipts.count(mapping.mappingId);
  // A sample is spread over the table by content hash; the same rows are drawn as long as nothing changes.
  const share =
    options.readBack === 'all'
      ? 1
      : options.readBack === 'none'
        ? 0
        : Math.min(1, options.readBack / Math.max(1, accepted));
  const isDrawn = (record: MappedRecord): boolean => parseInt(record.contentHash.slice(0, 8), 16) < share * 2 ** 32;
  const totals = { rows: 0, equal: 0, different: 0, missing: 0, unmappable: 0, readBack: 0, withReceipt: 0 };
  const examples: { externalId: string; what: string }[] = [];
  const limit = pLimit(READS_AT_ONCE);
  let after: Position | null = null;
  for (;;) {
    const page = await sync.source.readPage(
      plan,
      { after, cursorFrom: null, cursorBefore: null, throughKey: null },
      PAGE_ROWS,
    );
    if (page.rows.length === 0) break;
    const map = mapping.mapper(page.columns);
    const results = page.rows.map((row) =>
      map(
        row,
        keys.map((i) => row[i]!),
      ),
    );
    const records = results.filter((r) => r.kind === 'record');
    const receipts = await receiptsOf(deps, mapping, records);
    const verdicts = await Promise.all(
      records.map((record) =>
        isDrawn(record)
          ? limit(() => comparedWithPlatform(deps, mapping, record))
          : Promise.resolve(comparedWithReceipt(record, receipts.get(record))),
      ),
    );
    records.forEach((record, i) => {
      const verdict = verdicts[i]!;
      totals[verdict.kind]++;
      if (receipts.get(record) !== undefined) totals.withReceipt++;
      if (isDrawn(record)) totals.readBack++;
      if (verdict.kind !== 'equal' && examples.length < EXAMPLES)
        examples.push({ externalId: record.externalId, what: verdict.what });
    });
    totals.rows += results.length;
    totals.unmappable += results.length - records.length;
    after = { cursor: null, key: keys.map((i) => page.rows.at(-1)![i]!) };
    options.progress?.(mapping.spec.name, totals.rows);
  }
  const { withReceipt, ...counts } = totals;
  return { mapping: mapping.spec.name, ...counts, extra: Math.max(0, accepted - withReceipt), examples };
}

type Verdict = { readonly kind: 'equal' } | { readonly kind: 'different' | 'missing'; readonly what: string };

async function comparedWithPlatform(deps: Views, mapping: OpenMapping, record: MappedRecord): Promise<Verdict> {
  const stored = await deps.platform.findResource(mapping.spec.schema.name, record.externalId, {
    tenant: record.tenant,
  });
  if (record.deletion === 'ignore') return { kind: 'equal' };
  if (stored === null)
    return record.deletion === 'apply' ? { kind: 'equal' } : { kind: 'missing', what: 'not on the platform' };
  const field = differingField(record.data, stored.result.data as JsonObject, mapping.referenceFields);
  return field === null ? { kind: 'equal' } : { kind: 'different', what: `field ${field} differs` };
}

function comparedWithReceipt(record: MappedRecord, hash: string | undefined): Verdict {
  if (isInStep(record, hash)) return { kind: 'equal' };
  if (hash === undefined) return { kind: 'missing', what: 'never accepted' };
  return { kind: 'different', what: 'accepted with other content' };
}

/** The content hashes that the platform accepted last, of those records of which it accepted any. */
export async function receiptsOf<R extends Pick<MappedRecord, 'tenant' | 'externalId'>>(
  deps: Pick<Views, 'ledger'>,
  mapping: OpenMapping,
  records: readonly R[],
): Promise<ReadonlyMap<R, string>> {
  const tenants = await deps.ledger.catalog.tenantIds([...new Set(records.map((r) => r.tenant))]);
  // 0: a tenant to which nothing was ever sent.
  const keys = {
    tenantIds: records.map((r) => tenants.get(r.tenant) ?? 0),
    externalIds: records.map((r) => r.externalId),
  };
  const hashes = await deps.ledger.receipts.hashes(mapping.mappingId, keys);
  return new Map([...hashes].map(([index, hash]) => [records[index]!, hash]));
}
