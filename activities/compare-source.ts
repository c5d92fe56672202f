/** Holds the source against what it was when the mappings last ran: what changed stops a mapping, not the run. */
import { columnDrift } from '../src/domain/drift.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import type { StoppedMapping } from '../src/domain/run.js';
import type { CompareInput, SourceDrift } from '../src/domain/work.js';
import { mappingNode } from '../src/mapping/stages.js';
import type { Dependencies, OpenMapping, OpenSync } from './dependencies.js';

export async function compareSource(deps: Dependencies, input: CompareInput): Promise<SourceDrift> {
  const sync = await deps.openSync(input.sync);
  const stopped = new Map<string, StoppedMapping>();
  const notes: { mapping: string; message: string }[] = [];
  const refused: PartnerSyncError[] = [];
  for (const name of input.mappings) {
    const mapping = await sync.mapping(name);
    try {
      const { stops, notes: seen } = await compare(deps, sync, mapping, input.accept);
      if (stops.length > 0) stopped.set(name, stop(name, placed(mapping, stops)));
      notes.push(...seen.map((message) => ({ mapping: name, message: placed(mapping, [message]) })));
    } catch (error) {
      // What may pass is tried again; a table that cannot be read any more concerns its mapping alone.
      if (!(error instanceof PartnerSyncError) || error.retryable) throw error;
      refused.push(error);
      stopped.set(name, stop(name, error.message));
    }
  }
  // A wrong password concerns them all, and is no change of columns.
  if (refused.length === input.mappings.length && refused.every((e) => e.code === 'config_invalid')) throw refused[0]!;
  for (const [name, parent] of dependants(sync, stopped))
    stopped.set(name, stop(name, `it refers to ${parent}, which was stopped`));
  return { stopped: [...stopped.values()], notes };
}

async function compare(
  { ledger }: Dependencies,
  { source }: OpenSync,
  { mappingId, plan }: OpenMapping,
  accept: boolean,
): Promise<{ stops: readonly string[]; notes: readonly string[] }> {
  const { relation } = plan;
  const before = await ledger.seenColumns.of(mappingId, relation);
  const now = await source.describe(relation);
  const { stops, notes } = columnDrift(before, now, plan.columns);
  const missing = plan.columns.some((name) => !now.some((column) => column.name === name));
  // What is new beside it may be what a column is called now.
  if (stops.length > 0 && (missing || !accept)) return { stops: [...stops, ...notes], notes: [] };
  if (before === null || notes.length + stops.length > 0) await ledger.seenColumns.remember(mappingId, relation, now);
  return { stops: [], notes: [...stops, ...notes] };
}

const placed = ({ plan: { relation } }: OpenMapping, changes: readonly string[]): string =>
  `${'table' in relation ? relation.table : 'the query'}: ${changes.join('; ')}`;

const stop = (mapping: string, message: string): StoppedMapping => ({ mapping, code: 'source_changed', message });

/** Mappings that refer to a stopped one, however far, each with the one that it refers to. */
function dependants({ spec }: OpenSync, stopped: ReadonlyMap<string, unknown>): Map<string, string> {
  const found = new Map<string, string>();
  const nodes = spec.mappings.map(mappingNode);
  for (let size = -1; size < found.size;) {
    size = found.size;
    for (const { name, refs } of nodes) {
      const parent = refs.find((ref) => ref !== name && (stopped.has(ref) || found.has(ref)));
      if (parent !== undefined && !stopped.has(name) && !found.has(name)) found.set(name, parent);
    }
  }
  return found;
}
