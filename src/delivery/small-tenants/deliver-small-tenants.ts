/**
 * Delivers the new rows of small tenants ahead of their turn, while a run is busy with those of large ones (ADR 0033).
 *
 * No row depends on it. It moves neither a position nor a resume point and counts nothing: the rows are read once more
 * in order, by this run or the next, and are found delivered then.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { ReadBounds } from '../../domain/source/source.js';
import type {
  MappingRef,
  PartitionRef,
  RecoverSmallTenantsInput,
  SmallTenantsInput,
  SmallTenantsResult,
} from '../../domain/run/work.js';
import type { EarlyCheckpoint } from '../../ledger/checkpoint/checkpoint-input.js';
import { GuardExceeded } from '../../ledger/runs/guards.js';
import type { SmallTenantsPartition } from '../../ledger/runs/partitions.js';
import type { RequestLimit } from '../../platform/request-limit.js';
import type { Chunk } from '../../reading/chunk.js';
import { EVERYTHING } from '../../reading/read-bounds.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';
import { deliverChunk } from '../chunk/deliver-chunk.js';
import { deliverFirstPassOfRows } from '../chunk/deliver-rows.js';
import { sentRecordsOf } from '../chunk/sent-records-of.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';
import { acquirePartition, type PartitionContext } from '../partition-context.js';
import { cursorPosition } from '../cursor-position.js';
import { tenantMoves } from '../tenant-moves.js';
import { timeSlice } from '../time-slice.js';
import { recoverPartition } from '../upload/recover-partition.js';
import { smallTenants } from './small-tenants.js';
import { writeCheckpoint } from '../write-checkpoint.js';

/**
 * One round: goes through the steps in the order given, for one time slice. A mapping that fails keeps no other one
 * waiting; its failure is thrown at the end if it may pass, and left to the reading in order if not.
 */
export async function deliverSmallTenants(
  deps: Dependencies,
  { steps, ...run }: SmallTenantsInput,
  signal: AbortSignal,
): Promise<SmallTenantsResult> {
  const round: Round = { shouldContinue: timeSlice(signal), sent: 0, countingMs: 0 };
  const sync = await deps.openSync(run.sync, run.runId);
  const failures: unknown[] = [];
  for (const [index, step] of tenantColumn(sync) === null ? [] : steps.entries()) {
    if (!round.shouldContinue()) return resultOf(round, index);
    try {
      const mapping = await sync.mapping(step.mapping);
      const refs = { deps, sync, mapping, signal, ref: { ...run, mapping: step.mapping } };
      // Without accepted hashes, all of it would be sent once more in order.
      if (mapping.spec.options.ledger === 'full') await deliverStep(refs, step.firstPass, round);
    } catch (error) {
      signal.throwIfAborted();
      if (isTransient(error)) failures.push(error);
    }
  }
  signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  return resultOf(round, 0);
}

/** Settles the batches that a round has left open, so that the run can end. */
export async function recoverSmallTenants(
  deps: Dependencies,
  { mappings, ...run }: RecoverSmallTenantsInput,
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

/** What is left of a round's time slice, and what it has done so far, also if it fails. */
interface Round {
  readonly shouldContinue: () => boolean;
  sent: number;
  countingMs: number;
}

const resultOf = ({ sent, countingMs }: Round, next: number): SmallTenantsResult => ({ sent, countingMs, next });

type MappingRefs = Pick<PartitionContext, 'deps' | 'sync' | 'mapping' | 'signal'> & { readonly ref: MappingRef };

/** Delivers what is new of the mapping's small tenants, or the first of its two passes. */
async function deliverStep(refs: MappingRefs, firstPass: boolean, round: Round): Promise<void> {
  const { deps, sync, mapping, signal, ref } = refs;
  const { partitions } = deps.ledger;
  const partition = await partitions.forSmallTenants(ref.runId, mapping.mappingId);
  const begin = () => beginStep(deps, sync, { ...ref, partitionId: partition.id }, signal);
  let context = partition.done ? null : await begin();
  const bounds = await newRows(deps, sync, mapping, ref.runId, partition);
  if (bounds !== null) {
    // Whatever was not accepted is left to the reading in order: otherwise each round would send it again. The second of
    // two passes reads what the first one has read.
    const pass = async () => {
      if (!firstPass) await partitions.passSmallTenants(partition.id, bounds.cursorBefore ?? WHOLE_TABLE);
    };
    try {
      const tenants = await countedTenants(refs, bounds, round);
      if (tenants.length > 0) context ??= await begin();
      const deliver = firstPass ? deliverFirstPassEarly : deliverEarly;
      if (context === null || (await deliverTenants(refs, context, bounds, tenants, deliver, round))) await pass();
    } catch (error) {
      if (!isTransient(error)) await pass();
      throw error;
    }
  }
  if (context !== null) await partitions.finish(context.partition);
}

/** The small tenants of the rows within the bounds, as the source names them. */
async function countedTenants({ sync, mapping }: MappingRefs, bounds: ReadBounds, round: Round): Promise<string[]> {
  const began = performance.now();
  const counts = await sync.source.countByValue(mapping.plan, tenantColumn(sync)!, bounds);
  round.countingMs += performance.now() - began;
  return smallTenants(counts);
}

/** Reads and delivers the tenants' rows; returns false if the time slice was over before. */
async function deliverTenants(
  { deps, sync, mapping }: MappingRefs,
  context: PartitionContext,
  bounds: ReadBounds,
  tenants: readonly string[],
  deliver: (context: PartitionContext, chunk: Chunk) => Promise<number>,
  round: Round,
): Promise<boolean> {
  const byCursor = mapping.spec.cursor !== null;
  for (let i = 0; i < tenants.length; i += LOOK_UP_ROWS) {
    const values = tenants.slice(i, i + LOOK_UP_ROWS).map((tenant) => [tenant] as const);
    const whereIn = { columns: [tenantColumn(sync)!], values };
    const read = { byCursor, bounds: { ...bounds, whereIn } };
    for await (const chunk of sync.chunks(mapping, read, () => deps.ledger.nextReadSeq())) {
      round.sent += await deliver(context, chunk);
      if (!round.shouldContinue()) return false;
    }
  }
  return true;
}

/** What a mapping without a cursor has passed: all rows that were there, since nothing tells which ones are new. */
const WHOLE_TABLE = '*';

/**
 * The rows from which the next round takes those of small tenants: what is behind the position, or all rows of a mapping
 * that no incremental run has read, or that has no cursor; then what has come since the round before. Null if none are left,
 * or a change feed names them.
 */
async function newRows(
  deps: Dependencies,
  sync: OpenSync,
  mapping: OpenMapping,
  runId: string,
  { from }: SmallTenantsPartition,
): Promise<ReadBounds | null> {
  const { mappingId, plan, spec } = mapping;
  // What is new is told by the feed, key by key.
  const fed = spec.feed === null ? null : await deps.ledger.feeds.mapping(mappingId);
  if (fed?.loaded === true && !fed.isLoading) return null;
  if (spec.cursor === null) return from === null ? EVERYTHING : null;
  const position = await cursorPosition(sync.source, mapping, {
    stored: await deps.ledger.partitions.position(mappingId),
    tenantMoves: await tenantMoves(deps, sync, runId),
  });
  const cursorBefore = await sync.source.highWatermark(plan);
  return { ...EVERYTHING, cursorFrom: from ?? position.cursor, cursorBefore };
}

/** Whether the next round may succeed where this one has failed. */
const isTransient = (error: unknown): boolean => !(error instanceof PartnerSyncError) || error.retryable;

/** The source's column of tenants; null if all rows are of one tenant. */
const tenantColumn = ({ spec: { tenant } }: OpenSync): string | null =>
  tenant.kind === 'constant' ? null : tenant.column;

/** Begins a step in its partition; settles what an earlier one has left open. */
async function beginStep(
  deps: Dependencies,
  sync: OpenSync,
  ref: PartitionRef,
  signal: AbortSignal,
): Promise<PartitionContext> {
  const acquired = await acquirePartition(deps, ref, signal);
  const context = { ...acquired, sync: { ...acquired.sync, requestLimit: limitOfRounds(acquired.sync.requestLimit) } };
  await recoverPartition(context);
  // The mapping may not be planned yet.
  if (sync.spec.guard !== null) await deps.ledger.guards.begin(ref.runId, context.mapping.mappingId);
  return context;
}

/**
 * The limit with queues of their own for the requests of rounds. A tenant with few rows in one mapping may have a million
 * in another: behind the requests for those, the round, and so all tenants in it, would wait for minutes.
 */
const limitOfRounds = (limit: RequestLimit): RequestLimit => ({
  get atOnce() {
    return limit.atOnce;
  },
  get underWay() {
    return limit.underWay;
  },
  run: (by, request) => limit.run({ ...by, queue: `${by.queue}, ahead of its turn` }, request),
});

/** Returns how many records were sent: none of a chunk that would exceed a limit of the guard. */
async function deliverEarly(context: PartitionContext, chunk: Chunk): Promise<number> {
  // The mapping keeps its records from the next plan on.
  if (!context.partition.keepsRecords) return 0;
  try {
    const guarded = { ...context, guard: context.sync.spec.guard ?? undefined };
    const { batches, waiting, ...delivery } = await deliverChunk(guarded, chunk);
    const sent = sentRecordsOf(delivery);
    // What is queued is left to the reading in order.
    const pending = waiting.filter((record) => record.kind === 'pending');
    const result: EarlyCheckpoint['result'] = { sent, batches, waiting: pending };
    await writeCheckpoint(context, { kind: 'early', readSeqs: chunk, result, resumePoint: null });
    return sent.length + pending.length;
  } catch (error) {
    if (error instanceof GuardExceeded) return 0;
    throw error;
  }
}

/** Returns 0: the second pass sends these records again. */
async function deliverFirstPassEarly(context: PartitionContext, chunk: Chunk): Promise<number> {
  if (context.partition.keepsRecords) await deliverFirstPassOfRows(context, chunk);
  return 0;
}
