/** Closes dead letters that no later run would come across: those of rows that are gone, and of removals that are not due. */
import type { SourceKey } from '../../domain/source.js';
import type { SweepInput } from '../../domain/work.js';
import type { DeadLetterKey } from '../../ledger/undelivered/dead-letters.js';
import { LOOK_UP_ROWS, readRowsByValues } from '../../reading/read-rows-by-values.js';
import { idsNotFound } from '../chunk/read-dead-letters.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';
import { vanishedAmong } from './find-vanished.js';
import { removalWithKey, type Named } from './removal-record.js';

/**
 * Looks up the rows of open dead letters, mapping by mapping. Called only after a run has read every row; rows that exist
 * keep their dead letters, and so do removals whose rows are still gone.
 */
export async function sweepDeadLetters(deps: Dependencies, input: SweepInput, signal: AbortSignal): Promise<void> {
  const sync = await deps.openSync(input.sync, input.runId);
  for (const name of input.mappings) await sweepMapping(deps, sync, await sync.mapping(name), signal);
}

async function sweepMapping(
  { ledger }: Pick<Dependencies, 'ledger'>,
  sync: OpenSync,
  mapping: OpenMapping,
  signal: AbortSignal,
): Promise<void> {
  const through = await ledger.deadLetters.newest(mapping.mappingId);
  let after = '0';
  for (;;) {
    signal.throwIfAborted();
    const bounds = { after, through, limit: LOOK_UP_ROWS };
    const deadLetters = await ledger.deadLetters.keys(mapping.mappingId, {}, bounds);
    const last = deadLetters.at(-1);
    if (last === undefined) return;
    const readSeqStart = await ledger.nextReadSeq();
    const ofRows = deadLetters.filter(({ sourceKey }) => removalWithKey(mapping, sourceKey) === null);
    const ofRemovals = deadLetters.flatMap(({ id, sourceKey }) => {
      const record = removalWithKey(mapping, sourceKey);
      return record === null ? [] : [{ id, ...record }];
    });
    const ids = [...(await withoutRows(sync, mapping, ofRows)), ...(await withRows(sync, mapping, ofRemovals))];
    await ledger.deadLetters.close(mapping.mappingId, ids, readSeqStart);
    after = last.id;
  }
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

/** Ids of the removals whose rows are there again. */
async function withRows(
  sync: OpenSync,
  mapping: OpenMapping,
  removals: readonly (Named & { readonly id: string })[],
): Promise<string[]> {
  const gone = new Set((await vanishedAmong(sync, mapping, removals)).map(({ id }) => id));
  return removals.filter(({ id }) => !gone.has(id)).map(({ id }) => id);
}
