/** Plans the partitions of a mapping that a run reads, and writes them to the ledger once. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { Hold } from '../../domain/sync/guard.js';
import { partitionLabel } from '../../domain/run/partition-label.js';
import type { RunInput } from '../../domain/run/run.js';
import type { MappingRef, PlannedPartitions } from '../../domain/run/work.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';
import { idRuleOf, isRunMode } from '../../domain/sync/sync.js';
import { isEmpty } from '../../reading/is-empty.js';
import type { FedMapping } from '../../ledger/changes/feeds.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { NewPartition, PlannedPartition } from '../../ledger/runs/partitions.js';
import type { PartitionKind } from '../../ledger/runs/resume-point.js';
import { momentOf } from '../../source/cursor-time.js';
import { tenantMoves } from '../tenant-moves.js';
import { isReadInOrder, partitionsOf } from './partitions-of.js';

/** Key partitions of a mapping that are loaded side by side, by up to as many workers; each takes two at once. */
const CONCURRENCY = 4;

/** What a partition reads that is no range of rows. */
const LABELS: Readonly<Partial<Record<PartitionKind, string>>> = {
  dead_letters: 'dead letters',
  changed_rows: 'changed rows',
};

export interface PlanInput extends MappingRef {
  readonly mode: string;
  readonly input: RunInput;
  /** Whether this is the first of two passes over the mapping; both read up to the same high watermark. */
  readonly firstPass?: boolean;
}

/**
 * The partitions that are not done, in which order, and how many of them to load at once. While the run is on hold, nothing is planned: the
 * source is looked at once more when somebody has approved.
 */
export async function planMapping(deps: Dependencies, plan: PlanInput): Promise<PlannedPartitions> {
  const sync = await deps.openSync(plan.sync, plan.runId);
  const mapping = await sync.mapping(plan.mapping);
  const hold = await holdIfEmpty(deps, sync, mapping, plan);
  if (hold !== null) return { hold, partitions: [], concurrency: 0 };
  const { partitions } = deps.ledger;
  const planned = () => partitions.planned(plan.runId, mapping.mappingId, plan.firstPass);
  if ((await planned()).length === 0) {
    await deps.ledger.ids.keepRecords(mapping.mappingId, mapping.spec.options.ledger === 'full');
    await deps.ledger.ids.noteIdRule(mapping.mappingId, idRuleOf(mapping.spec));
    // The high watermark is taken once per run: another attempt, or the other pass, finds what was planned first.
    if ((await partitions.planned(plan.runId, mapping.mappingId)).length === 0)
      await planRead(deps, sync, mapping, plan);
    if (plan.firstPass) await partitions.planFirstPass(plan.runId, mapping.mappingId);
  }
  const left = (await planned()).filter(({ done }) => !done);
  // A row that got back what it had would be settled as unchanged beside a chunk that still sends what it had in between.
  const last = left.filter(({ kind }) => kind === 'changed_rows' && left.length > 1);
  const toLoad = (partitions: readonly PlannedPartition[]): PlannedPartitions['partitions'] =>
    partitions.map((partition) => ({ id: partition.id, label: LABELS[partition.kind] ?? partitionLabel(partition) }));
  return {
    hold: null,
    partitions: toLoad(left.filter((partition) => !last.includes(partition))),
    concurrency: isReadInOrder(mapping.spec, plan.mode) ? 1 : CONCURRENCY,
    ...(last.length > 0 && { next: toLoad(last) }),
  };
}

/** A guarded run is put on hold if the source has no row of a mapping whose records the platform has. */
async function holdIfEmpty(
  { ledger: { guards } }: Dependencies,
  sync: OpenSync,
  mapping: OpenMapping,
  { runId, mode }: PlanInput,
): Promise<Hold | null> {
  if (sync.spec.guard === null || !isRunMode(mode)) return null;
  const { accepted, approved } = await guards.begin(runId, mapping.mappingId);
  if (approved.includes('empty') || accepted === 0 || !(await isEmpty(sync.source, mapping.plan))) return null;
  const hold: Hold = { mapping: mapping.spec.name, cause: 'empty', records: 0, of: accepted, limit: null };
  await guards.putOnHold(runId, mapping.mappingId, hold, []);
  return hold;
}

/** Writes what the run reads of the mapping, as the source and the position are now. */
async function planRead(
  { ledger }: Dependencies,
  sync: OpenSync,
  mapping: OpenMapping,
  plan: PlanInput,
): Promise<void> {
  const { mappingId } = mapping;
  const { partitions, deadLetters, changedRows } = ledger;
  // A replay sends rows, too.
  const moves = await tenantMoves({ ledger }, sync, plan.runId);
  if (plan.input.replay !== undefined)
    return partitions.planDeadLetters(plan.runId, mappingId, await deadLetters.newest(mappingId));
  const fed = await fedMapping(ledger, mapping, plan);
  if (fed?.loaded === true && plan.mode === 'incremental') {
    const { seq, rows } = await changedRows.newest(mappingId);
    const read = { expectedRows: rows, isComplete: true, highWatermarkAt: fed.readAt };
    return partitions.planChangedRows(plan.runId, mappingId, seq, read);
  }
  // Only these runs read what has changed meanwhile in rows that are loaded.
  if (fed !== null && (plan.mode === 'live' || plan.mode === 'incremental')) {
    const changed = plan.mode === 'live' ? null : { ...(await changedRows.newest(mappingId)), readAt: fed.readAt };
    if (await partitions.planLeftToLoad(plan.runId, mappingId, changed)) return;
  }
  const stored = await partitions.position(mappingId);
  const found = await partitionsOf(sync, mapping, plan, { stored, tenantMoves: moves });
  const read = {
    expectedRows: await expectedRows(sync, mapping, plan, found),
    isComplete: isRunMode(plan.mode) && plan.input.limit === undefined,
    highWatermarkAt: highWatermarkAt(mapping, plan.mode, found),
    loads: fed !== null,
  };
  if (found.length > 0) await partitions.plan(plan.runId, mappingId, found, read);
  // A sample of an empty table must have a line in the report, too.
  else await partitions.forRowsByKey(plan.runId, mappingId);
}

/** The mapping as its change feed has it; null if the run does not go by a feed. */
async function fedMapping(
  { feeds }: Ledger,
  { spec, mappingId }: OpenMapping,
  { mode, input }: PlanInput,
): Promise<FedMapping | null> {
  if (spec.feed === null || !isRunMode(mode) || input.limit !== undefined) return null;
  const fed = await feeds.mapping(mappingId);
  if (fed !== null) return fed;
  throw new PartnerSyncError('unexpected', `the change feed of ${spec.name} was not read before the mapping`);
}

/** The moment up to which the partitions read; null if they have no high watermark. */
function highWatermarkAt({ spec }: OpenMapping, mode: string, partitions: readonly NewPartition[]): Date | null {
  const highWatermark = isReadInOrder(spec, mode) ? partitions.at(-1)?.cursorBefore : null;
  return highWatermark == null ? null : momentOf(highWatermark, spec.cursor!.zone);
}

/** How many rows the run reads: as many as ids were given, or about as many as the source says a whole table has. */
async function expectedRows(
  { source }: OpenSync,
  { spec }: OpenMapping,
  { mode, input }: PlanInput,
  partitions: readonly NewPartition[],
): Promise<number | null> {
  if (input.externalIds !== undefined) return input.externalIds.length;
  const isWhole = input.limit === undefined && isRunMode(mode) && partitions.at(-1)?.cursorFrom === null;
  if (!isWhole || !('table' in spec.relation)) return null;
  const [table] = await source.tables([spec.relation.table]);
  return table?.estimatedRows ?? null;
}
