/**
 * Predicts what a run would do with a mapping's rows: new, changed, unchanged, or failing. Sends and writes nothing.
 */
import { createHash } from 'node:crypto';
import { PartnerSyncError } from '../domain/errors.js';
import { isUpToDate, type MappedRecord, type FailedRow } from '../domain/records/record.js';
import { aloneOf } from '../records/record-list.js';
import type { RunMode } from '../domain/sync/sync.js';
import type { SourceColumn, SourceRow } from '../domain/source/source.js';
import type { LedgerView } from '../ledger/ledger-view.js';
import type { NewPartition } from '../ledger/runs/partitions.js';
import type { OpenMapping, OpenSync, Views } from '../delivery/dependencies.js';
import { keyRangeBounds } from '../reading/read-bounds.js';
import { inKeyOrder } from '../reading/reading-order.js';
import { readMappedPages, type MappedRow, type MappingWithSource } from '../reading/read-mapped-pages.js';
import { openFailureCauses } from './failure-causes.js';
import { WaitingChildren, type MissingParents, type WaitingRows } from './waiting-children.js';
import { compareStored, type StoredRecord } from './stored-record.js';
import { partitionsOf } from '../delivery/run/partitions-of.js';
import { acceptedHashesOf } from '../delivery/accepted-hashes-of.js';

/** What a run would do with a row: send a new record, send a changed one, send nothing, or write a dead letter. */
export const PREDICTIONS = ['new', 'changed', 'unchanged', 'fails'] as const;
export type Prediction = (typeof PREDICTIONS)[number];

/** A row with its prediction. It contains values: for the person who asked for them, never for a log. */
export interface PreviewedRow {
  readonly prediction: Prediction;
  readonly columns: readonly SourceColumn[];
  readonly row: SourceRow;
  readonly result: MappedRecord | FailedRow;
  /** The platform's record and the fields that differ from it; null if it was not read or does not exist. */
  readonly stored: StoredRecord | null;
  /** Of the rows that were read: those that would wait for this one, which fails. */
  readonly waiting: readonly WaitingRows[];
}

/** What a run would do with one mapping: counts, reasons and a few examples. */
export interface Preview {
  readonly mapping: string;
  /** Rows read = new + changed + unchanged + fails. */
  readonly rows: number;
  /** Whether these are all rows that a run would read. */
  readonly all: boolean;
  readonly counts: Readonly<Record<Prediction, number>>;
  readonly failures: readonly (Pick<FailedRow, 'code' | 'pointer' | 'rule' | 'reason'> & { rows: number })[];
  /** Of the rows that were read: those that would wait for the rows of this mapping that fail. */
  readonly waiting: readonly WaitingRows[];
  readonly missingParents: readonly MissingParents[];
  /** The first few rows of each prediction but `unchanged`. */
  readonly examples: readonly PreviewedRow[];
  /** Over everything that would be sent, whatever its order: equal digests mean equal records. */
  readonly digest: string;
}

export interface PreviewOptions {
  readonly mode: RunMode;
  /** Rows to read at most. */
  readonly rows: number;
  /** Rows of each prediction to show. */
  readonly examples: number;
  /** null if there is no ledger yet; every record is new then. */
  readonly ledger: LedgerView | null;
  /** null if the platform is not queried. */
  readonly platform: Views['platform'] | null;
}

/**
 * Reads what a `sync` run in this mode would read, up to `options.rows`, and compares it with the ledger's accepted
 * hashes. Records that are in flight or wait are predicted as if they were not, so a run may send less.
 *
 * @throws PartnerSyncError whatever planning and reading throw; failures of the platform are ignored
 */
export async function previewMapping(
  sync: OpenSync,
  mapping: OpenMapping,
  options: PreviewOptions,
  children = new WaitingChildren(sync, options.ledger),
): Promise<Preview> {
  const { ledger } = options;
  const position = {
    stored: (await ledger?.partitions.position(mapping.mappingId)) ?? null,
    tenantMoves: (await ledger?.tenantLists.moves(sync.spec.name, await sync.tenantRule())) ?? 0,
  };
  const partitions = await partitionsOf(
    sync,
    mapping,
    { mode: options.mode, input: { sync: sync.spec.name } },
    position,
  );
  const tally = newTally(options.examples);
  for (const partition of partitions) {
    const plan = partition.byCursor ? mapping.plan : inKeyOrder(mapping.plan);
    const mappedSource: MappingWithSource = { source: sync.source, plan, mapper: (columns) => mapping.mapper(columns) };
    for await (const { columns, rows } of readMappedPages(
      mappedSource,
      boundsOf(partition),
      options.rows - tally.rows,
    )) {
      const predictions = await predict(ledger, mapping, rows);
      rows.forEach((row, i) => tally.add(columns, row, predictions[i]!));
      // What is unchanged is on the platform: it waits for nothing, and nothing waits for it.
      const sent = rows.filter((_, i) => predictions[i] !== 'unchanged');
      await children.add(
        mapping,
        sent.map(({ result }) => result),
      );
    }
    if (tally.rows >= options.rows) break;
  }
  if (tally.rows < options.rows) children.complete(mapping);
  const examples = await Promise.all(tally.examples.map((row) => withStored(row, mapping, options.platform)));
  return {
    mapping: mapping.spec.name,
    ...tally.totals(),
    all: tally.rows < options.rows,
    waiting: [],
    missingParents: [],
    examples,
  };
}

const boundsOf = ({ afterKey, cursorFrom, cursorBefore, throughKey }: NewPartition) => ({
  ...keyRangeBounds({ after: afterKey, through: throughKey }),
  cursorFrom,
  cursorBefore,
});

async function predict(
  ledger: LedgerView | null,
  mapping: OpenMapping,
  rows: readonly MappedRow[],
): Promise<Prediction[]> {
  const records = rows.flatMap(({ result }) => (result.kind === 'record' ? [result] : []));
  const acceptedHashes =
    ledger === null ? new Map<MappedRecord, string>() : await acceptedHashesOf({ ledger }, mapping, records);
  return rows.map(({ result }) => {
    if (result.kind !== 'record') return 'fails';
    const acceptedHash = acceptedHashes.get(result);
    return isUpToDate(result, acceptedHash) ? 'unchanged' : acceptedHash === undefined ? 'new' : 'changed';
  });
}

/** A changed row with the platform's record beside it, if that can be read. */
async function withStored(row: PreviewedRow, mapping: OpenMapping, platform: Views['platform'] | null) {
  if (row.prediction !== 'changed' || row.result.kind !== 'record' || platform === null) return row;
  const stored = await compareStored(platform, mapping, row.result).catch(unlessItCannotTell);
  return { ...row, stored };
}

/** A preview is complete without a platform that cannot be reached. */
function unlessItCannotTell(error: unknown): null {
  if (error instanceof PartnerSyncError) return null;
  throw error;
}

function newTally(examplesKept: number) {
  let rows = 0;
  let digest = 0n;
  const counts: Record<Prediction, number> = { new: 0, changed: 0, unchanged: 0, fails: 0 };
  const failures = openFailureCauses();
  const examples: PreviewedRow[] = [];
  return {
    examples,
    get rows() {
      return rows;
    },
    add(columns: readonly SourceColumn[], { row, result }: MappedRow, prediction: Prediction): void {
      rows++;
      counts[prediction]++;
      if (result.kind === 'failed') failures.add(result);
      else if (prediction !== 'unchanged') digest = BigInt.asUintN(128, digest + digestOf(result));
      if (prediction !== 'unchanged' && counts[prediction] <= examplesKept)
        examples.push({
          prediction,
          columns,
          row,
          result: result.kind === 'record' ? aloneOf(result) : result,
          stored: null,
          waiting: [],
        });
    },
    totals: () => ({
      rows,
      counts,
      failures: failures.mostFrequentFirst().map(({ shape: _shape, ...failure }) => failure),
      digest: digest.toString(16).padStart(32, '0'),
    }),
  };
}

/** Digests are added up, so that the order of rows does not matter and memory does not grow. */
function digestOf({ tenant, externalId, contentHash }: MappedRecord): bigint {
  const named = JSON.stringify([tenant, externalId, contentHash]);
  return BigInt(`0x${createHash('sha256').update(named).digest('hex').slice(0, 32)}`);
}
