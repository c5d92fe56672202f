/**
 * Proves that the platform has what the source says. Every row is read and mapped once, every receipt read once, and
 * both are summed up by spans of the ledger's order. Only where the sums differ are rows and receipts read again, and
 * held against each other one by one (drill-down.ts).
 */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { MappedRecord } from '../src/domain/record.js';
import type { SourceKey } from '../src/domain/source.js';
import { FIRST_PLACE, type RecordPlace } from '../src/state/receipts.js';
import type { OpenMapping, OpenSync, Views } from './dependencies.js';
import type { Difference, DifferenceKind, Differences } from './differences.js';
import { openSample } from './drawn-sample.js';
import { drillDown } from './drill-down.js';
import { EVERYTHING, mappedPages } from './mapped-pages.js';
import { readBack, type ReadBackVerdict } from './read-back.js';
import { startReconciling, type Reconciling } from './reconciling.js';

export interface ReconcileOptions {
  /** Read every record back from the platform, a sample of so many, or none (the ledger's receipts alone). */
  readonly readBack: 'all' | number | 'none';
  /** Decides which records a sample draws. */
  readonly seed: string;
  readonly progress?: (mapping: string, rows: number) => void;
  /** Is told every difference, one by one. */
  readonly tell?: (difference: Difference) => Promise<void> | void;
}

/** What one mapping's source and platform have in common. `rows` = equal + stale + missing + duplicate + unmappable. */
export interface Reconciliation
  extends Readonly<Record<DifferenceKind, number>>, Pick<ReturnType<Differences['report']>, 'examples' | 'ranges'> {
  readonly mapping: string;
  readonly rows: number;
  readonly equal: number;
  /** How many of the rows were compared with the platform itself. */
  readonly readBack: number;
}

/** Large beside a page, small beside a table. */
const ROWS_OF_A_RANGE = 4_000;

export async function reconcileMapping(
  deps: Views,
  sync: OpenSync,
  mapping: OpenMapping,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  if (mapping.spec.options.ledger === 'off' && options.readBack !== 'all')
    throw new PartnerSyncError(
      'input_invalid',
      `mapping ${mapping.spec.name} keeps no records in the ledger (options.ledger: off): only --read-back all can prove what is on the platform`,
    );
  const work = await startReconciling(deps, sync, mapping, options.tell);
  const sample = openSample(typeof options.readBack === 'number' ? options.readBack : 0, options.seed);
  const rows = await sumUpRows(work, options, async (records, keyRange) => {
    if (options.readBack === 'all') await compare(work, records, () => keyRange);
    else if (options.readBack !== 'none') for (const record of records) sample.offer(record, keyRange);
  });
  await sumUpReceipts(work);
  const drawn = new Map(sample.drawn().map(({ record, keyRange }) => [nameOf(record), { record, keyRange }]));
  await compare(
    work,
    [...drawn.values()].map((d) => d.record),
    (record) => drawn.get(nameOf(record))!.keyRange,
  );
  // What the platform itself was asked for needs no receipt to prove it.
  await drillDown(work, (record) => options.readBack === 'all' || drawn.has(nameOf(record)));
  const { counts, ...report } = work.differences.report();
  const equal = rows - counts.stale - counts.missing - counts.duplicate - counts.unmappable;
  const asked = options.readBack === 'all' ? rows - counts.unmappable : drawn.size;
  return { mapping: mapping.spec.name, rows, equal, ...counts, readBack: asked, ...report };
}

const nameOf = ({ tenant, externalId }: MappedRecord): string => `${tenant}/${externalId}`;

/** Reads and maps every row; answers how many there are. */
async function sumUpRows(
  { reading, sums, differences, mapping, tenantIds }: Reconciling,
  { progress }: ReconcileOptions,
  look: (records: readonly MappedRecord[], keyRange: number) => Promise<void>,
): Promise<number> {
  let [rows, keyRange] = [0, -1];
  let through: SourceKey | null = null;
  for await (const page of mappedPages(reading, EVERYTHING, Infinity)) {
    if (keyRange === -1 || differences.ranges[keyRange]!.rows >= ROWS_OF_A_RANGE)
      keyRange = differences.beginRange(through);
    const results = page.rows.map((row) => row.result);
    differences.extendRange(keyRange, (through = results.at(-1)!.sourceKey), results.length);
    const records = results.filter((result) => result.kind === 'record');
    const ids = await tenantIds(records);
    for (const { tenant, externalId, contentHash } of records) {
      const tenantId = ids.get(tenant) ?? 0;
      sums.addRow(sums.spanOf({ tenantId, externalId }), tenantId, contentHash, keyRange);
    }
    for (const result of results)
      if (result.kind === 'unmappable') {
        const { kind, tenant, externalId, sourceKey: key, pointer, reason } = result;
        await differences.found({ kind, tenant, externalId, key, what: `${pointer} ${reason}`.trim() }, keyRange);
      }
    await look(records, keyRange);
    rows += results.length;
    progress?.(mapping.spec.name, rows);
  }
  return rows;
}

async function sumUpReceipts({ deps: { ledger }, mapping, sums }: Reconciling): Promise<void> {
  for (let from: RecordPlace | null = FIRST_PLACE; from !== null;) {
    const page = await ledger.receipts.page(mapping.mappingId, from, null);
    for (const receipt of page.receipts) sums.addReceipt(sums.spanOf(receipt), receipt.tenantId, receipt.contentHash);
    from = page.next;
  }
}

async function compare(
  { deps, mapping, differences }: Reconciling,
  records: readonly MappedRecord[],
  keyRangeOf: (record: MappedRecord) => number,
): Promise<void> {
  const verdicts: readonly ReadBackVerdict[] = await readBack(deps, mapping, records);
  for (const [i, record] of records.entries()) {
    const { tenant, externalId, sourceKey: key } = record;
    const verdict = verdicts[i]!;
    if (verdict !== null) await differences.found({ ...verdict, tenant, externalId, key }, keyRangeOf(record));
  }
}
