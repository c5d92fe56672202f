/** Takes a chunk of mapped rows to their outcomes: claim, upload, settle. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import type { ChunkResult, ScanCheckpoint } from '../../ledger/checkpoint/checkpoint-input.js';
import { countRows } from '../../ledger/outcomes/row-outcomes.js';
import type { ResumePoint } from '../../ledger/runs/resume-point.js';
import { rowsIn, type Chunk } from '../../reading/chunk.js';
import type { RecordList } from '../../records/record-list.js';
import { ChunkResultBuilder, type DeliveryRules } from './chunk-result.js';
import { guardedClaim, type FailedRows } from './guarded-claim.js';
import { cutBatches } from '../upload/cut-batches.js';
import { allEnded } from '../all-ended.js';
import type { PartitionContext } from '../partition-context.js';
import { duplicatesAmong, knownDuplicates, noteDuplicates } from './duplicate-ids.js';
import { notTaken } from '../upload/outcome.js';
import { undeliveredParents } from '../parents/parents.js';
import { unsendableChildren } from './unsendable-children.js';
import { settleBatch } from '../upload/settle-batch.js';
import { splitDuplicates } from './split-duplicates.js';
import { uploadBatch, type RejectedRecord } from '../upload/upload-batch.js';

/**
 * Delivers rows that are read for the first time in their run, and returns their checkpoint, which counts them. Throws
 * `unexpected` rather than let the resume point pass a row without an outcome.
 */
export async function deliverScan(
  context: PartitionContext,
  chunk: Chunk,
  resumePoint: ResumePoint | null,
): Promise<ScanCheckpoint> {
  const rows = rowsIn(chunk);
  const result = await deliverChunk(context, chunk, null);
  const missing = rows - countRows(result) - result.secondReadings;
  if (missing !== 0)
    throw new PartnerSyncError('unexpected', `${rows} rows of a chunk have ${rows - missing} outcomes`);
  return { kind: 'scan', readSeqs: chunk, result, resumePoint };
}

/**
 * Returns what the chunk's checkpoint is to write. Only what must be known earlier is written here: the intents of its
 * batches before each POST, and the platform's batch ids after it.
 *
 * @param triesOf how often a record was sent in vain before; null if the rows are read for the first time in their run
 * @throws PartnerSyncError `platform_refused` if the platform refuses many records one by one, for another reason than
 *   their parents, and takes no batch of the chunk
 */
export async function deliverChunk(
  context: PartitionContext,
  chunk: Chunk,
  triesOf: DeliveryRules['triesOf'],
): Promise<ChunkResult> {
  const { records, failedRows, secondReadings } = splitDuplicates(chunk);
  if (failedRows !== chunk.failedRows) noteDuplicates(context, failedRows);
  const duplicates = await knownDuplicates(context, records);
  const unique = without(records, duplicates);
  const unsendable = await unsendableChildren(context, unique, failedRows);
  const tenants = new Set([...chunk.records.tenants, ...chunk.failedRows.tenants]);
  const tenantIds = await context.deps.ledger.ids.tenantIds([...tenants]);
  const outcomes = new ChunkResultBuilder({
    tenantIdOf: (tenant) => (tenant === null ? 0 : tenantIds.get(tenant)!),
    dependencyWait: context.mapping.spec.options.dependencyWaitTimeout,
    triesOf,
  });
  outcomes.addSecondReadings(secondReadings);
  for (const row of unsendable.values()) outcomes.addDeadLetter(row);
  outcomes.addDuplicates(duplicates);
  const failed: FailedRows = {
    count: failedRows.length + unsendable.size + duplicates.size,
    *[Symbol.iterator]() {
      yield* failedRows;
      yield* unsendable.values();
      for (const [own] of duplicates.values()) yield own!;
    },
  };
  const batches = await claim(context, chunk, { records: without(unique, unsendable), failed }, tenantIds, outcomes);
  await sendBatches(context, chunk, batches, outcomes);
  outcomes.addUnmapped(failedRows);
  return outcomes.result;
}

const without = (records: RecordList, left: ReadonlyMap<number, unknown>): RecordList =>
  left.size === 0 ? records : records.pick((index) => !left.has(index));

/** Returns the batches that are to be sent, and adds the outcomes of the records that are not. */
async function claim(
  context: PartitionContext,
  chunk: Chunk,
  { records, failed }: { readonly records: RecordList; readonly failed: FailedRows },
  tenantIds: ReadonlyMap<string, number>,
  outcomes: ChunkResultBuilder,
): Promise<IntendedBatch[]> {
  const { deps, mapping, partition } = context;
  const { readSeqStart, readSeqEnd } = chunk;
  const cut = (claimed: RecordList) => cutBatches(claimed, mapping.batchLimits.now());
  // The second of two passes sends again what the first has sent without some fields.
  const eachOnce = mapping.deferred.size === 0;
  const request = { readSeqStart, readSeqEnd, records, eachOnce, tenantIds, cut };
  const claimed = await guardedClaim(context, chunk, failed, request);
  outcomes.addClaimed(records, claimed.skipReasons);
  const sentInThisRun = records.pick((index) => claimed.skipReasons[index] === 'sent_in_this_run');
  if (sentInThisRun.length === 0) return [...claimed.batches];
  const duplicates = await duplicatesAmong(context, sentInThisRun);
  outcomes.addDuplicates(duplicates);
  // The rows of the others have changed since they were sent.
  const changed = sentInThisRun.pick((index) => !duplicates.has(index));
  const again = await deps.ledger.claim(partition, {
    readSeqStart,
    readSeqEnd,
    records: changed,
    eachOnce: false,
    tenantIds,
    cut,
  });
  outcomes.addClaimed(changed, again.skipReasons);
  return [...claimed.batches, ...again.batches];
}

async function sendBatches(
  context: PartitionContext,
  { readSeqEnd }: Chunk,
  batches: readonly IntendedBatch[],
  outcomes: ChunkResultBuilder,
): Promise<void> {
  const done = await allEnded(
    batches.map((batch) =>
      context.mapping.meter.sending(batch.records.length, async () => {
        const { sent, rejected } = await uploadBatch(context, batch);
        return { settled: await allEnded(sent.map((part) => settleBatch(context, part, readSeqEnd))), rejected };
      }),
    ),
  );
  const rejectedRecords = done.flatMap(({ rejected }) => rejected.map(({ record }) => record));
  const undelivered = await undeliveredParents(context, rejectedRecords);
  if (done.every(({ settled }) => settled.length === 0))
    stopIfMany(done.flatMap(({ rejected }) => rejected.filter(({ record }) => !undelivered.has(record))));
  for (const { settled, rejected } of done) {
    for (const { batch, outcomes: ofBatch } of settled) outcomes.addBatch(batch, ofBatch);
    for (const { batch, record, error } of rejected) {
      const message = messageOf(error);
      const outcome = notTaken('rejected', { raw: message, masked: message }, undelivered.get(record) ?? []);
      outcomes.addBatch(batch, new Map([[record.externalId, outcome]]));
    }
  }
}

/**
 * So many records of a chunk rejected one by one, and not one batch of it taken, are not dead letters but a mistake that
 * concerns them all. If the platform takes those of another tenant, the run goes on for that tenant.
 */
const ALL_REJECTED = 20;

function stopIfMany(rejected: readonly RejectedRecord[]): void {
  if (rejected.length < ALL_REJECTED) return;
  throw new PartnerSyncError(
    'platform_refused',
    `the platform refused every one of ${rejected.length} records: ${rejected[0]!.error.message}`,
  );
}

/** What the platform said about a record that it rejected by itself; upload-batch.ts has masked it. */
const messageOf = ({ message, details }: PartnerSyncError): string =>
  [message, details['words'], ...((details['errors'] as readonly string[] | undefined) ?? [])]
    .filter(Boolean)
    .join('; ');
