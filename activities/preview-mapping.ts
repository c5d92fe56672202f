/** What a run would make of a mapping's rows: new, changed, unchanged, would fail. Sends and writes nothing. */
import { createHash } from 'node:crypto';
import { differingFields } from '../src/domain/compare.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import type { JsonObject } from '../src/domain/json.js';
import { isInStep, type MappedRecord, type UnmappableRow } from '../src/domain/record.js';
import { aloneOf } from '../src/domain/record-list.js';
import type { RunMode } from '../src/domain/sync.js';
import type { SourceColumn, SourceRow } from '../src/domain/source.js';
import type { LedgerView } from '../src/state/ledger-view.js';
import type { NewRange } from '../src/state/ranges.js';
import type { OpenMapping, OpenSync, Views } from './dependencies.js';
import { mappedPages, type MappedRow, type Reading } from './mapped-pages.js';
import { rangesOf } from './plan-mapping.js';
import { receiptsOf } from './receipts-of.js';

export const VERDICTS = ['new', 'changed', 'unchanged', 'fails'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One row with what would become of it. Holds values: for the eyes of whoever asked, never for a log. */
export interface PreviewedRow {
  readonly verdict: Verdict;
  readonly columns: readonly SourceColumn[];
  readonly row: SourceRow;
  readonly result: MappedRecord | UnmappableRow;
  /** The platform's record and the fields that differ from it; null where it was not read or is not there. */
  readonly stored: { readonly data: JsonObject; readonly differs: readonly string[] } | null;
}

export interface Preview {
  readonly mapping: string;
  /** Rows looked at = new + changed + unchanged + fails. */
  readonly rows: number;
  /** Whether these are all rows that a run would read. */
  readonly all: boolean;
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly failures: readonly (Pick<UnmappableRow, 'code' | 'pointer' | 'rule' | 'reason'> & { rows: number })[];
  /** The first few rows of each verdict but `unchanged`. */
  readonly examples: readonly PreviewedRow[];
  /** Over everything that would be sent, whatever its order: equal digest, equal records. */
  readonly digest: string;
}

export interface PreviewOptions {
  readonly mode: RunMode;
  /** Rows to look at, at most. */
  readonly rows: number;
  /** Rows of each verdict to show. */
  readonly examples: number;
  /** null where there is no ledger yet: then every record is new. */
  readonly ledger: LedgerView | null;
  /** null where the platform is not asked. */
  readonly platform: Views['platform'] | null;
}

export async function previewMapping(sync: OpenSync, mapping: OpenMapping, options: PreviewOptions): Promise<Preview> {
  const { ledger } = options;
  const position = (await ledger?.ranges.position(mapping.mappingId)) ?? null;
  const ranges = await rangesOf(sync, mapping, { mode: options.mode, input: { sync: sync.spec.name } }, position);
  const tally = newTally(options.examples);
  for (const range of ranges) {
    const plan = range.byCursor ? mapping.plan : { ...mapping.plan, cursor: null };
    const reading: Reading = { source: sync.source, plan, mapper: (columns) => mapping.mapper(columns) };
    for await (const { columns, rows } of mappedPages(reading, boundsOf(range), options.rows - tally.rows)) {
      const verdicts = await verdictsOf(ledger, mapping, rows);
      rows.forEach((row, i) => tally.add(columns, row, verdicts[i]!));
    }
    if (tally.rows >= options.rows) break;
  }
  const examples = await Promise.all(tally.examples.map((row) => withStored(row, mapping, options.platform)));
  return { mapping: mapping.spec.name, ...tally.totals(), all: tally.rows < options.rows, examples };
}

const boundsOf = ({ afterKey, cursorFrom, cursorBefore, throughKey }: NewRange) => ({
  after: afterKey === null ? null : { cursor: null, key: afterKey },
  cursorFrom,
  cursorBefore,
  throughKey,
});

async function verdictsOf(
  ledger: LedgerView | null,
  mapping: OpenMapping,
  rows: readonly MappedRow[],
): Promise<Verdict[]> {
  const records = rows.flatMap(({ result }) => (result.kind === 'record' ? [result] : []));
  const receipts = ledger === null ? new Map<MappedRecord, string>() : await receiptsOf({ ledger }, mapping, records);
  return rows.map(({ result }) => {
    if (result.kind !== 'record') return 'fails';
    const receipt = receipts.get(result);
    return isInStep(result, receipt) ? 'unchanged' : receipt === undefined ? 'new' : 'changed';
  });
}

/** With the platform's record beside a changed one, where it can be read. */
async function withStored(row: PreviewedRow, mapping: OpenMapping, platform: Views['platform'] | null) {
  if (row.verdict !== 'changed' || row.result.kind !== 'record' || platform === null) return row;
  const { externalId, tenant, data } = row.result;
  const found = await platform.findResource(mapping.spec.schema.name, externalId, { tenant }).catch(unlessItCannotTell);
  if (found === null) return row;
  const stored = found.result.data as JsonObject;
  return { ...row, stored: { data: stored, differs: differingFields(data, stored, mapping.referenceFields) } };
}

/** A platform that does not answer leaves a preview poorer, not wrong. */
function unlessItCannotTell(error: unknown): null {
  if (error instanceof PartnerSyncError) return null;
  throw error;
}

function newTally(examplesKept: number) {
  let rows = 0;
  let digest = 0n;
  const counts: Record<Verdict, number> = { new: 0, changed: 0, unchanged: 0, fails: 0 };
  const failures = new Map<string, Preview['failures'][number]>();
  const examples: PreviewedRow[] = [];
  return {
    examples,
    get rows() {
      return rows;
    },
    add(columns: readonly SourceColumn[], { row, result }: MappedRow, verdict: Verdict): void {
      rows++;
      counts[verdict]++;
      if (result.kind === 'unmappable') {
        const { code, pointer, rule, reason } = result;
        const cause = JSON.stringify([code, pointer, rule]);
        failures.set(cause, { code, pointer, rule, reason, rows: (failures.get(cause)?.rows ?? 0) + 1 });
      } else if (verdict !== 'unchanged') digest = BigInt.asUintN(128, digest + digestOf(result));
      if (verdict !== 'unchanged' && counts[verdict] <= examplesKept)
        examples.push({
          verdict,
          columns,
          row,
          result: result.kind === 'record' ? aloneOf(result) : result,
          stored: null,
        });
    },
    totals: () => ({
      rows,
      counts,
      failures: [...failures.values()].sort((a, b) => b.rows - a.rows),
      digest: digest.toString(16).padStart(32, '0'),
    }),
  };
}

/** Added up, so that the order of reading does not matter and memory does not grow. */
function digestOf({ tenant, externalId, contentHash }: MappedRecord): bigint {
  const named = JSON.stringify([tenant, externalId, contentHash]);
  return BigInt(`0x${createHash('sha256').update(named).digest('hex').slice(0, 32)}`);
}
