/**
 * Schema drift: what has changed in a mapping's columns since it last ran, and which mappings the run skips because of it
 * (ADR 0019).
 */
import { compareColumns } from '../../domain/source/column-changes.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappingNote, SkippedMapping } from '../../domain/run/run.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import type { DetectSchemaDriftInput, SchemaDrift } from '../../domain/run/work.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { SeenColumnsOfMapping } from '../../ledger/mappings/seen-columns.js';
import { mappingNode } from '../../mapping/order/stages.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';

/**
 * The mappings to leave out, each with its reason, and notes about changes that do no harm. A mapping whose parent is
 * skipped is skipped as well, since its records would wait in vain. With `accept`, changed types are taken as the new
 * normal.
 *
 * Throws what may pass, such as `source_unreachable`, and `config_invalid` if no mapping can be read for such a reason.
 */
export async function detectSchemaDrift(deps: Dependencies, input: DetectSchemaDriftInput): Promise<SchemaDrift> {
  const sync = await deps.openSync(input.sync, input.runId);
  const skipped = new Map<string, SkippedMapping>();
  const notes: MappingNote[] = [];
  const failed: PartnerSyncError[] = [];
  const accepted: SeenColumnsOfMapping[] = [];
  const skip = (mapping: string, message: string) => skipped.set(mapping, { mapping, code: 'source_changed', message });
  for (const name of input.mappings) {
    const mapping = await sync.mapping(name);
    try {
      const drift = await driftOf(deps.ledger, sync.source, mapping, input.accept);
      if (drift.stops !== null) skip(name, drift.stops);
      if (drift.accepted !== null) accepted.push(drift.accepted);
      notes.push(...drift.notes.map((message) => ({ mapping: name, message })));
    } catch (error) {
      // A failure that may pass is tried again; for a table that can no longer be read, only its mapping is skipped.
      if (!(error instanceof PartnerSyncError) || error.retryable) throw error;
      failed.push(error);
      skip(name, error.message);
    }
  }
  // If all have failed, as with a wrong password, that is not a change of columns.
  if (failed.length === input.mappings.length && failed.every((e) => e.code === 'config_invalid')) throw failed[0]!;
  // Only now: if a later mapping's source cannot be reached, another attempt has to find the same changes.
  if (accepted.length > 0) await deps.ledger.seenColumns.remember(accepted);
  for (const [name, parent] of dependantsOf(sync.spec, new Set(skipped.keys())))
    skip(name, `it refers to ${parent}, which was skipped`);
  return { skipped: [...skipped.values()], notes };
}

/** The same, for the run that is to leave these mappings out: the ledger has them while it works. */
export async function recordSchemaDrift(deps: Dependencies, input: DetectSchemaDriftInput): Promise<SchemaDrift> {
  const drift = await detectSchemaDrift(deps, input);
  await deps.ledger.runs.noteSkipped(input.runId, drift.skipped);
  return drift;
}

interface DriftOfMapping {
  /** Why the mapping must not run, in one sentence; null if it may. */
  readonly stops: string | null;
  /** Other changes, a sentence each. */
  readonly notes: readonly string[];
  /** The columns that it may run with, if they are to be remembered; else null. */
  readonly accepted: SeenColumnsOfMapping | null;
}

/**
 * Compares the columns of the mapping's table or query with those that it last ran with.
 *
 * @param accept whether changed types are accepted; with a missing column, the mapping is skipped even then
 */
async function driftOf(
  { seenColumns }: Pick<Ledger, 'seenColumns'>,
  source: OpenSync['source'],
  { mappingId, plan }: OpenMapping,
  accept: boolean,
): Promise<DriftOfMapping> {
  const { relation } = plan;
  const sentenceOf = (changes: readonly string[]): string =>
    `${'table' in relation ? relation.table : 'the query'}: ${changes.join('; ')}`;
  const before = await seenColumns.of(mappingId, relation);
  const columns = await source.describe(relation);
  const { stops, notes } = compareColumns(before, columns, plan.columns);
  const isMissing = plan.columns.some((name) => !columns.some((column) => column.name === name));
  // New columns are mentioned too: one of them may be the missing column under a new name.
  if (stops.length > 0 && (isMissing || !accept))
    return { stops: sentenceOf([...stops, ...notes]), notes: [], accepted: null };
  const changes = [...stops, ...notes];
  const isNew = before === null || changes.length > 0;
  return {
    stops: null,
    notes: changes.map((change) => sentenceOf([change])),
    accepted: isNew ? { mappingId, relation, columns } : null,
  };
}

/** Mappings that refer to a skipped one, directly or through others, each with the mapping that it refers to. */
function dependantsOf({ mappings }: SyncSpec, skipped: ReadonlySet<string>): ReadonlyMap<string, string> {
  const dependants = new Map<string, string>();
  const nodes = mappings.map(mappingNode);
  let size: number;
  do {
    size = dependants.size;
    for (const { name, refs } of nodes) {
      if (skipped.has(name) || dependants.has(name)) continue;
      const parent = refs.find((ref) => ref !== name && (skipped.has(ref) || dependants.has(ref)));
      if (parent !== undefined) dependants.set(name, parent);
    }
  } while (dependants.size > size);
  return dependants;
}
