/**
 * Proves that the platform has what the source says (ADR 0015). Every row is read and mapped once, every accepted hash
 * is read once, and both are summed up by intervals of the ledger's order. Only if the sums of an interval differ, its rows and
 * accepted hashes are read again and compared one by one (drill-down.ts).
 */
import { PartnerSyncError } from '../domain/errors.js';
import { namesRecord, type MappedRecord } from '../domain/records/record.js';
import type { SourceKey } from '../domain/source/source.js';
import { FIRST_PLACE, type RecordPlace } from '../ledger/record-key.js';
import type { OpenMapping, OpenSync, Views } from '../delivery/dependencies.js';
import type { Difference, DifferenceKind, Differences } from './differences.js';
import { openSample } from './random-sample.js';
import { drillDown } from './drill-down.js';
import { EVERYTHING } from '../reading/read-bounds.js';
import { readMappedPages } from '../reading/read-mapped-pages.js';
import { readBack, type ReadBackDifference } from './read-back.js';
import { startReconciling, type Reconciling } from './reconciling.js';

/** How to compare, and whom to tell. */
export interface ReconcileOptions {
  /**
   * Read every record back from the platform, a sample of this size, or none (only the ledger's accepted hashes are
   * compared).
   */
  readonly readBack: 'all' | number | 'none';
  /** Decides which records a sample draws. */
  readonly seed: string;
  /** Called after each page with the number of rows read so far. */
  readonly progress?: (mapping: string, rows: number) => void;
  /** Called with every difference, one by one. */
  readonly tell?: (difference: Difference) => Promise<void> | void;
}

/** How far a mapping's source and platform agree. `rows` = equal + stale + missing + duplicate + unmappable. */
export interface Reconciliation
  extends Readonly<Record<DifferenceKind, number>>, Pick<ReturnType<Differences['report']>, 'examples' | 'ranges'> {
  readonly mapping: string;
  readonly rows: number;
  readonly equal: number;
  /** How many of the rows were compared with the platform itself. */
  readonly readBack: number;
  /** How many of the rows that differ have a dead letter in the ledger. */
  readonly deadLetters: number;
}

/** Rows of a key range, roughly: large compared with a page, small compared with a table. */
const ROWS_OF_A_KEY_RANGE = 4_000;

/**
 * Reads source, ledger and, if asked to, the platform; writes nothing. What changes while it reads may show as a
 * difference.
 *
 * @throws PartnerSyncError `input_invalid` if the ledger keeps no records of the mapping and not all are read back;
 *   otherwise whatever source, ledger and platform throw
 */
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
  await sumUpAcceptedHashes(work);
  const drawn = new Map(sample.records().map(({ record, keyRange }) => [nameOf(record), { record, keyRange }]));
  await compare(
    work,
    [...drawn.values()].map((d) => d.record),
    (record) => drawn.get(nameOf(record))!.keyRange,
  );
  // A record about which the platform itself was asked needs no accepted hash as a proof.
  await drillDown(work, (record) => options.readBack === 'all' || drawn.has(nameOf(record)));
  const { counts, ...report } = work.differences.report();
  const equal = rows - counts.stale - counts.missing - counts.duplicate - counts.unmappable;
  const asked = options.readBack === 'all' ? rows - counts.unmappable : drawn.size;
  const deadLetters = await work.deadLettered.count();
  return { mapping: mapping.spec.name, rows, equal, ...counts, readBack: asked, deadLetters, ...report };
}

/** Two rows may have the same external id. */
const nameOf = ({ sourceKey }: MappedRecord): string => JSON.stringify(sourceKey);

/**
 * Reads and maps every row, and passes the records on with the key range that they are in; returns the number of rows.
 */
async function sumUpRows(
  { mappedSource, sums, differences, mapping, tenantIds }: Reconciling,
  { progress }: ReconcileOptions,
  each: (records: readonly MappedRecord[], keyRange: number) => Promise<void>,
): Promise<number> {
  let rows = 0;
  let keyRange = -1;
  let through: SourceKey | null = null;
  for await (const page of readMappedPages(mappedSource, EVERYTHING, Infinity)) {
    if (keyRange === -1 || differences.ranges[keyRange]!.rows >= ROWS_OF_A_KEY_RANGE)
      keyRange = differences.beginKeyRange(through);
    const results = page.rows.map((row) => row.result);
    through = results.at(-1)!.sourceKey;
    differences.extendKeyRange(keyRange, through, results.length);
    const records = results.filter((result) => result.kind === 'record');
    const failed = results.filter(namesRecord);
    const ids = await tenantIds([...records, ...failed]);
    for (const { tenant, externalId, contentHash } of records) {
      const tenantId = ids.get(tenant) ?? 0;
      sums.addRow(sums.intervalOf({ tenantId, externalId }), tenantId, contentHash, keyRange);
    }
    for (const { tenant, externalId } of failed)
      sums.addFailedRow(sums.intervalOf({ tenantId: ids.get(tenant) ?? 0, externalId }), keyRange);
    for (const result of results)
      if (result.kind === 'failed') {
        const { tenant, externalId, sourceKey: key, pointer, reason } = result;
        await differences.found(
          { kind: 'unmappable', tenant, externalId, key, what: `${pointer} ${reason}`.trim() },
          keyRange,
        );
      }
    await each(records, keyRange);
    rows += results.length;
    progress?.(mapping.spec.name, rows);
  }
  return rows;
}

/** The other side of the sums: every accepted hash of the mapping, those of removed records included. */
async function sumUpAcceptedHashes({ deps: { ledger }, mapping, sums }: Reconciling): Promise<void> {
  let from: RecordPlace | null = FIRST_PLACE;
  while (from !== null) {
    const page = await ledger.acceptedHashes.page(mapping.mappingId, from, null);
    for (const acceptedHash of page.acceptedHashes)
      sums.addAcceptedHash(sums.intervalOf(acceptedHash), acceptedHash.tenantId, acceptedHash.contentHash);
    from = page.next;
  }
}

/** Reads records back from the platform and reports those that differ. */
async function compare(
  { deps, mapping, limit, differences, superseded }: Reconciling,
  records: readonly MappedRecord[],
  keyRangeOf: (record: MappedRecord) => number,
): Promise<void> {
  const found: readonly ReadBackDifference[] = await readBack(deps, mapping, limit, records);
  const withoutSay = await superseded(records.filter((_, i) => found[i] !== null));
  for (const [i, record] of records.entries()) {
    if (withoutSay.has(record)) continue;
    const { tenant, externalId, sourceKey: key } = record;
    const difference = found[i]!;
    if (difference !== null) await differences.found({ ...difference, tenant, externalId, key }, keyRangeOf(record));
  }
}
