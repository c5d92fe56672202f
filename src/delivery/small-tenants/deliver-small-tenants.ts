/**
 * Delivers the new rows of small tenants ahead of their turn, while a run is busy with those of large ones (ADR 0033).
 *
 * No row depends on it. It moves neither a position nor a resume point and counts nothing: the rows are read once more
 * in order, by this run or the next, and are found delivered then.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappingRef, PartitionRef, SmallTenantsInput, SmallTenantsResult } from '../../domain/work.js';
import type { EarlyCheckpoint } from '../../ledger/checkpoint/checkpoint-input.js';
import { GuardExceeded } from '../../ledger/runs/guards.js';
import type { Chunk } from '../../reading/chunk.js';
import { EVERYTHING } from '../../reading/read-bounds.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';
import { deliverChunk } from '../chunk/deliver-chunk.js';
import { sentRecordsOf } from '../chunk/sent-records-of.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';
import { acquirePartition, type PartitionContext } from '../partition-context.js';
import { timeSlice } from '../time-slice.js';
import { recoverPartition } from '../upload/recover-partition.js';
import { smallTenants } from './small-tenants.js';

/**
 * One round: goes through the mappings in the order given, for one time slice. A mapping that fails keeps no other one
 * waiting; its failure is thrown at the end if it may pass, and left to the reading in order if not.
 */
export async function deliverSmallTenants(
  deps: Dependencies,
  { mappings, ...run }: SmallTenantsInput,
  signal: AbortSignal,
): Promise<SmallTenantsResult> {
  const shouldContinue = timeSlice(signal);
  const sync = await deps.openSync(run.sync, run.runId);
  const tally = { sent: 0, countingMs: 0 };
  const failures: unknown[] = [];
  for (const name of tenantColumn(sync) === null ? [] : mappings) {
    if (!shouldContinue()) return { ...tally, next: name };
    try {
      const mapping = await sync.mapping(name);
      const refs = { deps, sync, mapping, signal, ref: { ...run, mapping: name } };
      if (mayBeEarly(mapping)) await deliverMapping(refs, shouldContinue, tally);
    } catch (error) {
      signal.throwIfAborted();
      if (isTransient(error)) failures.push(error);
    }
  }
  signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  return { ...tally, next: null };
}

/** Settles the batches that a round has left open, so that the run can end. */
export async function recoverSmallTenants(
  deps: Dependencies,
  { mappings, ...run }: SmallTenantsInput,
  signal: AbortSignal,
): Promise<void> {
  const sync = await deps.openSync(run.sync, run.runId);
  for (const name of mappings) {
    const { mappingId } = await sync.mapping(name);
    const { id, done } = await deps.ledger.partitions.forSmallTenants(run.runId, mappingId);
    if (done) continue;
    const context = await acquirePartition(deps, { ...run, mapping: name, partitionId: id }, signal);
    await recoverPartition(context);
    await deps.ledger.partitions.finish(context.partition);
  }
}

type MappingRefs = Pick<PartitionContext, 'deps' | 'sync' | 'mapping' | 'signal'> & { readonly ref: MappingRef };

/** Delivers what is new of the mapping's small tenants. `tally` gets what was done, also if it fails. */
async function deliverMapping(
  { deps, sync, mapping, signal, ref }: MappingRefs,
  shouldContinue: () => boolean,
  tally: { sent: number; countingMs: number },
): Promise<void> {
  const { partitions } = deps.ledger;
  const position = await partitions.position(mapping.mappingId);
  // Without a position its first row is still to be read.
  if (position === null) return;
  const { id, done, from } = await partitions.forSmallTenants(ref.runId, mapping.mappingId);
  const begin = () => beginRound(deps, sync, { ...ref, partitionId: id }, signal);
  let context = done ? null : await begin();
  const until = await sync.source.highWatermark(mapping.plan);
  const bounds = { ...EVERYTHING, cursorFrom: from ?? position.cursor, cursorBefore: until };
  const column = tenantColumn(sync)!;
  const began = performance.now();
  const values = smallTenants(await sync.source.countByValue(mapping.plan, column, bounds));
  tally.countingMs += performance.now() - began;
  // Whatever was not accepted is left to the reading in order: otherwise each round would send it again.
  const pass = () => partitions.passSmallTenants(id, until);
  try {
    for (let i = 0; i < values.length; i += LOOK_UP_ROWS) {
      context ??= await begin();
      const whereIn = { column, values: values.slice(i, i + LOOK_UP_ROWS) };
      const read = { byCursor: true, bounds: { ...bounds, whereIn } };
      for await (const chunk of sync.chunks(mapping, read, () => deps.ledger.nextReadSeq())) {
        tally.sent += await deliverEarly(context, chunk);
        if (!shouldContinue()) return await partitions.finish(context.partition);
      }
    }
  } catch (error) {
    if (!isTransient(error)) await pass();
    throw error;
  }
  await pass();
  if (context !== null) await partitions.finish(context.partition);
}

/** Whether the next round may succeed where this one has failed. */
const isTransient = (error: unknown): boolean => !(error instanceof PartnerSyncError) || error.retryable;

/** The source's column of tenants; null if all rows are of one tenant. */
const tenantColumn = ({ spec: { tenant } }: OpenSync): string | null =>
  tenant.kind === 'constant' ? null : tenant.column;

/**
 * Whether rows of the mapping may be delivered early. If references form a circle, what is new takes two passes; without
 * accepted hashes, everything would be sent in each round.
 */
const mayBeEarly = ({ spec, deferred }: OpenMapping): boolean =>
  spec.cursor !== null && deferred.size === 0 && spec.options.ledger === 'full';

/** Begins a round in the partition; settles what an earlier one has left open. */
async function beginRound(
  deps: Dependencies,
  sync: OpenSync,
  ref: PartitionRef,
  signal: AbortSignal,
): Promise<PartitionContext> {
  const context = await acquirePartition(deps, ref, signal);
  await recoverPartition(context);
  if (sync.spec.guard === null) return context;
  // The mapping may not be planned yet.
  await deps.ledger.guards.begin(ref.runId, context.mapping.mappingId);
  return { ...context, guard: sync.spec.guard };
}

/** Returns how many records were sent: none of a chunk that would exceed a limit of the guard. */
async function deliverEarly(context: PartitionContext, chunk: Chunk): Promise<number> {
  // The mapping keeps its records from the next plan on.
  if (!context.partition.keepsRecords) return 0;
  try {
    const { batches, waiting, ...delivery } = await deliverChunk(context, chunk);
    const sent = sentRecordsOf(delivery);
    // What is queued is left to the reading in order.
    const pending = waiting.filter((record) => record.kind === 'pending');
    const result: EarlyCheckpoint['result'] = { sent, batches, waiting: pending };
    const { ledger } = context.deps;
    await ledger.checkpoint(context.partition, { kind: 'early', readSeqs: chunk, result, resumePoint: null });
    return sent.length + pending.length;
  } catch (error) {
    if (error instanceof GuardExceeded) return 0;
    throw error;
  }
}
