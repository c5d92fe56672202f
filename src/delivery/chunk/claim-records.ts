/**
 * Claims the records of a chunk: the ledger says which of them are sent. A record that the run has already sent with other
 * content is looked up in the source: if its row has changed since, it is claimed once more; if another row has the same
 * external id, neither is sent (ADR 0022). A record whose row is marked as deleted is looked up as well: another row may give it. A claim that would exceed a limit of the guard holds the run, and nothing is
 * sent (ADR 0031).
 */
import type { SourceKey } from '../../domain/source/source.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import type { Claimed, ClaimRequest, SkipReason } from '../../ledger/batches/claims.js';
import { GuardExceeded } from '../../ledger/runs/guards.js';
import type { Chunk } from '../../reading/chunk.js';
import { RecordList } from '../../records/record-list.js';
import type { PartitionContext } from '../partition-context.js';
import { cutBatches } from '../upload/cut-batches.js';
import type { ChunkResultBuilder } from './chunk-result.js';
import { removalWithKey } from '../removal-record.js';
import { duplicatesAmong, supersededAmong } from './duplicate-ids.js';
import type { ClassifiedRows } from './classify-rows.js';
import { withoutFields } from './without-fields.js';

/**
 * Returns the batches that are to be sent, and adds the outcomes of the records that are not.
 *
 * @param tenantIds the ledger's numbers of all tenants of the records
 * @throws GuardExceeded once the hold is in the ledger, if the rows are read in order
 */
export async function claimRecords(
  context: PartitionContext,
  chunk: Chunk,
  rows: ClassifiedRows,
  tenantIds: ReadonlyMap<string, number>,
  outcomes: ChunkResultBuilder,
): Promise<IntendedBatch[]> {
  const { deps, mapping, partition, signal } = context;
  // After it, nobody would send what is claimed, and the next attempt would have to wait for the intents.
  signal.throwIfAborted();
  const { readSeqStart, readSeqEnd } = chunk;
  const { sendable } = rows;
  const cut = (claimed: RecordList) => cutBatches(claimed, mapping.batchLimits.now());
  const reading = { readSeqStart, readSeqEnd, tenantIds, cut };
  // The second of two passes sends again what the first has sent without some fields.
  const skipSentInRun = mapping.deferred.size === 0;
  // The rows of removals have just been looked for.
  const skipDeletions = sendable.length > 0 && removalWithKey(mapping, sendable.at(0).sourceKey) === null;
  const first = await guardedClaim(context, rows, { ...reading, records: sendable, skipSentInRun, skipDeletions });
  outcomes.addSkipped(sendable, first.skipReasons);
  const skippedAs = (reason: SkipReason): RecordList => sendable.pick((index) => first.skipReasons[index] === reason);
  const [sentBefore, deletions] = [skippedAs('sent_in_this_run'), skippedAs('deletion')];
  if (sentBefore.length + deletions.length === 0) return [...first.batches];

  const duplicates = await duplicatesAmong(context, sentBefore);
  outcomes.addDuplicates(duplicates);
  const superseded = await supersededAmong(context, deletions);
  outcomes.addSuperseded(deletions.only([...superseded]));
  const left = RecordList.of([
    ...sentBefore.pick((index) => !duplicates.has(index)),
    ...deletions.pick((index) => !superseded.has(index)),
  ]);
  const second = await deps.ledger.claim(partition, { ...reading, records: left, skipSentInRun: false });
  outcomes.addSkipped(left, second.skipReasons);
  return [...first.batches, ...second.batches];
}

/** @throws GuardExceeded once the hold is in the ledger, if the rows are read in order */
async function guardedClaim(
  { deps: { ledger }, mapping, partition, guard: limits }: PartitionContext,
  rows: ClassifiedRows,
  request: ClaimRequest,
): Promise<Claimed> {
  if (limits === undefined) return ledger.claim(partition, request);
  const deadLettered = rows.failedRows.length + rows.unsendable.length + rows.duplicates.size;
  const read = rows.sendable.length + deadLettered + rows.superseded.length + rows.rowsReadTwice;
  const { deferred } = mapping;
  const isIncomplete = (index: number, hash: string): boolean =>
    deferred.size > 0 && withoutFields(request.records.at(index), deferred).contentHash === hash;
  const guard = { mapping: mapping.spec.name, limits, rows: read, deadLettered, isIncomplete };
  try {
    return await ledger.claim(partition, { ...request, guard });
  } catch (error) {
    // What is ahead of its turn is left to the reading in order: that knows how many rows there are in all.
    if (!(error instanceof GuardExceeded) || partition.work.kind === 'small_tenants') throw error;
    const { hold, changed } = error;
    const examples = hold.cause === 'changed' ? changedRows(request, changed) : deadRows(rows);
    const keys = examples.map(({ sourceKey }) => sourceKey.join(', '));
    await ledger.guards.putOnHold(partition.runId, mapping.mappingId, hold, keys);
    throw error;
  }
}

/** How many rows a hold names. */
const EXAMPLES = 10;

interface Example {
  readonly sourceKey: SourceKey;
}

const changedRows = ({ records }: ClaimRequest, changed: readonly number[]): Example[] =>
  changed.slice(0, EXAMPLES).map((index) => records.at(index));

/** Rows that are dead letters before anything is sent. */
const deadRows = ({ failedRows, unsendable, duplicates }: ClassifiedRows): Example[] =>
  [...failedRows, ...unsendable, ...[...duplicates.values()].map(([own]) => own!)].slice(0, EXAMPLES);
