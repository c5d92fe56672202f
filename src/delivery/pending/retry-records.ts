/** Reads the rows of queued records that are due and delivers them; those that cannot succeed become dead letters. */
import { groupBy } from '../../domain/values/group-by.js';
import type { MapResult } from '../../domain/records/record.js';
import type { SourceKey } from '../../domain/source/source.js';
import { rowOutcomesOf, type RowOutcome } from '../../ledger/outcomes/row-outcomes.js';
import { isRowKnown, postponed, type QueuedRecord, type QueuedRow } from '../../ledger/waiting/index.js';
import { recordKey } from '../../ledger/record-key.js';
import { isSurelyFound } from '../../mapping/compile/external-id-look-up.js';
import { resultsOf, withResults, type Chunk } from '../../reading/chunk.js';
import { findRowsIfPossible, idLookUpOf } from '../../reading/find-rows.js';
import { readChunkByValues } from '../../reading/read-chunk-by-values.js';
import { childGivenUp } from '../chunk/new-dead-letters.js';
import { deliverChunk } from '../chunk/deliver-chunk.js';
import { retryDelay } from '../parents/retry-delay.js';
import type { PartitionContext } from '../partition-context.js';
import { deliverFirstPassOfRows } from '../chunk/deliver-rows.js';
import { namesOf, parentKey, parentsOf } from '../parents/parents.js';
import { isRowKey, removalOf, removalWithKey } from '../removal-record.js';
import { withoutRow } from '../without-row.js';
import { resolveParents } from './resolve-parents.js';
import { decideRetry } from '../parents/decide-retry.js';
import { writeCheckpoint } from '../write-checkpoint.js';

/** The due records by the keys of their rows. */
type DueRows = ReadonlyMap<string, QueuedRow>;

const sourceKeyText = ({ sourceKey }: { readonly sourceKey: SourceKey }): string => JSON.stringify(sourceKey);

/**
 * The due record that this row is of; undefined if the row maps to another record now, to which the tries and the
 * parents of the due one do not apply. Two rows may have swapped their external ids.
 */
const dueOf = (rows: DueRows, row: Pick<MapResult, 'sourceKey' | 'externalId'>): QueuedRow | undefined => {
  const due = rows.get(sourceKeyText(row));
  return due?.externalId === row.externalId ? due : undefined;
};

/** Delivers the records and writes their checkpoints. Afterwards each has an outcome or is due later than now. */
export async function retryRecords(context: PartitionContext, due: readonly QueuedRow[]): Promise<void> {
  const unknownTries = (row: QueuedRow): number => (row.reason === 'unknown' ? row.tries : 0);
  // Keys of removals have more values than those of rows, and a chunk has keys of one length.
  const isOfRemoval = ({ sourceKey }: QueuedRow): boolean => removalWithKey(context.mapping, sourceKey) !== null;
  for (const same of groupBy(due, isOfRemoval).values())
    for (const [tries, rows] of groupBy(same, unknownTries))
      await retryTogether(inSmallerBatches(context, tries), rows, isOfRemoval(rows[0]!) ? removalsAnew : rowsAnew);
}

/**
 * The same context with batches of a quarter of the size for each time that the records' outcomes stayed unknown: then
 * the platform's counters are about fewer and fewer records, and in the end about a single one.
 */
function inSmallerBatches(context: PartitionContext, tries: number): PartitionContext {
  if (tries === 0) return context;
  const { mapping } = context;
  const now = () => {
    const limits = mapping.batchLimits.now();
    return { ...limits, batchSize: Math.max(1, Math.floor(limits.batchSize / 4 ** tries)) };
  };
  return { ...context, mapping: { ...mapping, batchLimits: { ...mapping.batchLimits, now } } };
}

async function retryTogether(
  context: PartitionContext,
  due: readonly QueuedRow[],
  read: typeof rowsAnew,
): Promise<void> {
  const rows: DueRows = new Map(due.map((row) => [sourceKeyText(row), row]));
  const { chunk: found, unsearched } = await read(context, due);
  const decided = await decideRetries(context, found, rows);
  const { chunk } = decided;
  const waiting = [...decided.waiting, ...unsearched.map((row) => postponed(row, retryDelay(row.waits + 1)))];
  await deliverFirstPassOfRows(context, chunk);
  const delivery = await deliverChunk(context, chunk, {
    triesOf: (record) => dueOf(rows, record)?.tries ?? 0,
    hasFailed: (record) => {
      const row = dueOf(rows, record);
      return row?.reason === 'unknown' && row.rejection !== null;
    },
    hasParents: (record) => decided.complete.has(sourceKeyText(record)),
  });
  const stillWaiting = waiting.map(({ tenantId, externalId, sourceKey }): RowOutcome => ({
    tenantId,
    externalId,
    sourceKey,
    outcome: 'waiting',
  }));
  const rest = outcomesOfRest(due, [...rowOutcomesOf(delivery), ...stillWaiting]);
  await writeCheckpoint(context, {
    kind: 'retry',
    readSeqs: chunk,
    result: {
      ...delivery,
      // The later entry of a record wins: that it was just sent outweighs that a row no longer maps to it.
      waiting: [...waiting, ...delivery.waiting],
      rowOutcomes: [...delivery.rowOutcomes, ...stillWaiting, ...rest],
    },
  });
}

/** What was found of due records. */
interface Reading {
  readonly chunk: Chunk;
  /** Records whose row may exist although it was not found: they stay queued. All others that are missing are gone. */
  readonly unsearched: readonly QueuedRow[];
}

/** Builds the removals again, which have no rows, except those whose rows have come back. */
async function removalsAnew({ deps, sync, mapping }: PartitionContext, due: readonly QueuedRow[]): Promise<Reading> {
  const removals = due.map((row) => ({ ...removalWithKey(mapping, row.sourceKey)!, row }));
  const readSeqStart = await deps.ledger.nextReadSeq();
  const { vanished, uncertain } = await withoutRow(sync, mapping, removals);
  const readSeqEnd = await deps.ledger.nextReadSeq();
  const results = vanished.map((name) => removalOf(mapping, name));
  return { chunk: withResults({ readSeqStart, readSeqEnd }, results), unsearched: uncertain.map(({ row }) => row) };
}

/**
 * Reads the rows of the records by their keys, and by their external ids if that finds no row of the record: the row
 * may have got another key since, or the mapping another key column. So are those of a row that is marked as deleted: another one may
 * give the record.
 */
async function rowsAnew({ deps, sync, mapping }: PartitionContext, due: readonly QueuedRow[]): Promise<Reading> {
  const ofRows = due.filter(isRowKnown);
  const keys = ofRows.map(({ sourceKey }) => sourceKey);
  const chunk = await readChunkByValues(deps.ledger, sync, mapping, mapping.plan.key, keys);
  const found = new Map(resultsOf(chunk).map((result) => [sourceKeyText(result), result]));
  const missed = ofRows.filter((row) => found.get(sourceKeyText(row))?.externalId !== row.externalId);
  const deleted = [...chunk.records].filter(({ deletion }) => deletion !== undefined);
  if (missed.length + deleted.length === 0) return { chunk, unsearched: [] };
  const ids = [...missed, ...deleted].map(({ externalId }) => externalId);
  const withIds = await findRowsIfPossible(sync, mapping, ids);
  const readSeqEnd = await deps.ledger.nextReadSeq();
  if (withIds === null) return { chunk, unsearched: missed };
  const elsewhere = withIds.filter((result) => !found.has(sourceKeyText(result)));
  const how = await idLookUpOf(sync, mapping);
  // A key of another version of the mapping finds no row, whether or not there is one.
  const isSearched = ({ sourceKey, externalId }: QueuedRow): boolean =>
    isRowKey(mapping, sourceKey) || (how !== null && isSurelyFound(how, externalId));
  const names = new Set(elsewhere.map(({ externalId }) => externalId));
  return {
    chunk: withResults({ ...chunk, readSeqEnd }, [...found.values(), ...elsewhere]),
    unsearched: missed.filter((row) => !isSearched(row) && !names.has(row.externalId)),
  };
}

interface Decisions {
  readonly chunk: Chunk;
  readonly waiting: readonly QueuedRecord[];
  /** The keys of the rows whose parents are all on the platform. */
  readonly complete: ReadonlySet<string>;
}

/**
 * Decides about the records that the platform dropped or rejected because they lacked a parent. Those that may succeed
 * stay in the chunk as they are, those that cannot become dead letters of it, and those whose parents are coming go on
 * waiting.
 */
async function decideRetries(context: PartitionContext, chunk: Chunk, rows: DueRows): Promise<Decisions> {
  const lacking = [...chunk.records].filter((record) => dueOf(rows, record)?.reason === 'lacks_parent');
  if (lacking.length === 0) return { chunk, waiting: [], complete: new Set() };
  const parentsOfKey = new Map(lacking.map((record) => [sourceKeyText(record), parentsOf(context.mapping, record)]));
  const statuses = await resolveParents(context, [...parentsOfKey.values()].flat());
  const waiting: QueuedRecord[] = [];
  const complete = new Set<string>();
  const results: MapResult[] = [];
  for (const result of resultsOf(chunk)) {
    const row = dueOf(rows, result);
    const parents = parentsOfKey.get(sourceKeyText(result));
    if (result.kind !== 'record' || row === undefined || parents === undefined) {
      results.push(result);
      continue;
    }
    const decision = decideRetry(row, parents, statuses, context.mapping.spec.options.dependencyWaitTimeout);
    const missing = parents.filter((parent) => statuses.get(parentKey(parent)) !== 'there');
    if (missing.length === 0) complete.add(sourceKeyText(result));
    if (decision.kind === 'send') results.push(result);
    else if (decision.kind === 'wait') waiting.push(postponed(row, decision.dueIn, namesOf(missing)));
    else results.push(childGivenUp(result, decision, missing, row.rejection));
  }
  return { chunk: withResults(chunk, results), waiting, complete };
}

/** The outcomes of other due records without a row: it is gone, maps to another record now, or cannot be mapped any more. */
function outcomesOfRest(due: readonly QueuedRow[], outcomes: readonly RowOutcome[]): RowOutcome[] {
  const done = new Set(outcomes.map(recordKey));
  const deadLettered = new Set(outcomes.filter(({ outcome }) => outcome === 'deadLettered').map(sourceKeyText));
  return due
    .filter((row) => !done.has(recordKey(row)))
    .map((row): RowOutcome => {
      const { tenantId, externalId, sourceKey } = row;
      return {
        tenantId,
        externalId,
        sourceKey,
        outcome: deadLettered.has(sourceKeyText(row)) ? 'deadLettered' : 'unchanged',
      };
    });
}
