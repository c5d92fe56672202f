/** Takes a chunk of mapped rows to their outcomes: classifies them, claims their records, sends and settles the batches. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { ChunkResult, CountedCheckpoint } from '../../ledger/checkpoint/checkpoint-input.js';
import { countRows } from '../../ledger/outcomes/row-outcomes.js';
import type { ResumePoint } from '../../ledger/runs/resume-point.js';
import { rowsIn, type Chunk } from '../../reading/chunk.js';
import type { PartitionContext } from '../partition-context.js';
import { ChunkResultBuilder, type Retry } from './chunk-result.js';
import { claimRecords } from './claim-records.js';
import { sendBatches } from './send-batches.js';
import { classifyRows } from './classify-rows.js';

/**
 * Delivers rows that are read for the first time in their run. Returns the checkpoint to write, which counts them. Throws
 * `unexpected` rather than let the resume point pass a row without an outcome.
 */
export async function countedCheckpointOf(
  context: PartitionContext,
  chunk: Chunk,
  resumePoint: ResumePoint | null,
): Promise<CountedCheckpoint> {
  const rows = rowsIn(chunk);
  const result = await deliverChunk(context, chunk);
  const missing = rows - countRows(result) - result.rowsReadTwice;
  if (missing !== 0)
    throw new PartnerSyncError('unexpected', `${rows} rows of a chunk have ${rows - missing} outcomes`);
  return { kind: 'counted', readSeqs: chunk, result, resumePoint };
}

/**
 * Returns what the chunk's checkpoint is to write. Only what must be known earlier is written here: the intents of its
 * batches before each POST, and the platform's batch ids after it.
 *
 * @param retry left out if the rows are read for the first time in their run
 * @throws GuardExceeded if the claim would exceed a limit of the guard
 * @throws PartnerSyncError `platform_refused` if the platform refuses every record (upload/stop-if-all-refused.ts)
 */
export async function deliverChunk(context: PartitionContext, chunk: Chunk, retry?: Retry): Promise<ChunkResult> {
  const rows = await classifyRows(context, chunk, retry !== undefined);
  const tenants = new Set([...chunk.records.tenants, ...chunk.failedRows.tenants]);
  const tenantIds = await context.deps.ledger.ids.tenantIds([...tenants]);
  const outcomes = new ChunkResultBuilder({
    tenantIdOf: (tenant) => (tenant === null ? 0 : tenantIds.get(tenant)!),
    dependencyWait: context.mapping.spec.options.dependencyWaitTimeout,
    retry,
  });
  const { effort } = context;
  const batches = await effort.measure('ledgerMs', () => claimRecords(context, chunk, rows, tenantIds, outcomes));
  await effort.measure('sendingMs', () => sendBatches(context, chunk.readSeqEnd, batches, outcomes));
  outcomes.addUnsent(rows);
  return outcomes.result;
}
