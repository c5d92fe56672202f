/** Closes dead letters that no later run would come across: those of rows that are gone, and of removals that are not due. */
import type { RemainingSweep } from '../../domain/run/run.js';
import type { SourceKey } from '../../domain/source/source.js';
import type { SweepInput } from '../../domain/run/work.js';
import type { DeadLetterKey } from '../../ledger/dead-letters.js';
import { LOOK_UP_ROWS, readRowsByValues } from '../../reading/read-rows-by-values.js';
import { idsNotFound } from '../chunk/read-dead-letters.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';
import { timeSlice } from '../time-slice.js';
import { goneRecords } from '../gone-records.js';
import { removalWithKey, type RecordName } from '../removal-record.js';

/**
 * Looks up the rows of open dead letters, mapping by mapping, for one time slice. Called only after a run has read every row;
 * rows that exist keep their dead letters, and so do removals whose rows are still gone.
 *
 * @returns what remains; the workflow starts the activity again with it until nothing does
 */
export async function sweepDeadLetters(
  deps: Dependencies,
  { mappings, after, ...run }: SweepInput,
  signal: AbortSignal,
): Promise<RemainingSweep> {
  const shouldContinue = timeSlice(signal);
  const sync = await deps.openSync(run.sync, run.runId);
  for (const [i, name] of mappings.entries()) {
    const from = i === 0 ? after : '0';
    const last = await sweepMapping(deps, sync, await sync.mapping(name), from, shouldContinue);
    if (last !== null) return { mappings: mappings.slice(i), after: last };
  }
  return { mappings: [], after: '0' };
}

/**
 * Goes on after the dead letter with the id `from`, at least by one page, so that each time slice comes further. Returns the
 * id of the last one that was looked at; null if there are no more.
 */
async function sweepMapping(
  deps: Pick<Dependencies, 'ledger'>,
  sync: OpenSync,
  mapping: OpenMapping,
  from: string,
  shouldContinue: () => boolean,
): Promise<string | null> {
  const { ledger } = deps;
  const through = await ledger.deadLetters.newest(mapping.mappingId);
  let after = from;
  do {
    const bounds = { after, through, limit: LOOK_UP_ROWS };
    const deadLetters = await ledger.deadLetters.keys(mapping.mappingId, {}, bounds);
    const last = deadLetters.at(-1);
    if (last === undefined) return null;
    const readSeqStart = await ledger.nextReadSeq();
    const ofRows = deadLetters.filter(({ sourceKey }) => removalWithKey(mapping, sourceKey) === null);
    const ofRemovals = deadLetters.flatMap(({ id, sourceKey }) => {
      const record = removalWithKey(mapping, sourceKey);
      return record === null ? [] : [{ id, ...record }];
    });
    const ids = [...(await withoutRows(sync, mapping, ofRows)), ...(await withRows(deps, sync, mapping, ofRemovals))];
    await ledger.deadLetters.close(mapping.mappingId, ids, readSeqStart);
    after = last.id;
  } while (shouldContinue());
  return after;
}

/** Ids of the dead letters whose rows are gone. Only the keys of the rows are read. */
async function withoutRows(
  { source }: OpenSync,
  { plan }: OpenMapping,
  deadLetters: readonly DeadLetterKey[],
): Promise<string[]> {
  const keys = deadLetters.map(({ sourceKey }) => sourceKey);
  const page = await readRowsByValues(source, { ...plan, columns: plan.key }, plan.key, keys);
  return idsNotFound(deadLetters, page.rows as readonly SourceKey[]);
}

/** Ids of the removals whose rows are there again, or read by another mapping. */
async function withRows(
  deps: Pick<Dependencies, 'ledger'>,
  sync: OpenSync,
  mapping: OpenMapping,
  removals: readonly (RecordName & { readonly id: string })[],
): Promise<string[]> {
  const { vanished, uncertain } = await goneRecords(deps, sync, mapping, removals);
  const open = new Set([...vanished, ...uncertain].map(({ id }) => id));
  return removals.filter(({ id }) => !open.has(id)).map(({ id }) => id);
}
