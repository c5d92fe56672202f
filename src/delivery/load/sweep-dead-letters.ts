/** Closes dead letters whose rows are gone: no later run would come across their rows. */
import type { SourceKey } from '../../domain/source.js';
import type { SweepInput } from '../../domain/work.js';
import { LOOK_UP_ROWS, readRowsByValues } from '../../reading/read-rows-by-values.js';
import { idsNotFound } from '../chunk/read-dead-letters.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';

/**
 * Looks up the rows of open dead letters by key, mapping by mapping, and closes those without one. Called only after a
 * run has read every row; rows that exist keep their dead letters.
 */
export async function sweepDeadLetters(deps: Dependencies, input: SweepInput, signal: AbortSignal): Promise<void> {
  const sync = await deps.openSync(input.sync, input.runId);
  for (const name of input.mappings) await sweepMapping(deps, sync, await sync.mapping(name), signal);
}

/** Reads only the keys of the rows. */
async function sweepMapping(
  { ledger }: Pick<Dependencies, 'ledger'>,
  sync: OpenSync,
  mapping: OpenMapping,
  signal: AbortSignal,
): Promise<void> {
  const { key } = mapping.plan;
  const through = await ledger.deadLetters.newest(mapping.mappingId);
  let after = '0';
  for (;;) {
    signal.throwIfAborted();
    const bounds = { after, through, limit: LOOK_UP_ROWS };
    const deadLetters = await ledger.deadLetters.keys(mapping.mappingId, {}, bounds);
    const last = deadLetters.at(-1);
    if (last === undefined) return;
    const readSeqStart = await ledger.nextReadSeq();
    const keys = deadLetters.map((deadLetter) => deadLetter.sourceKey);
    const page = await readRowsByValues(sync.source, { ...mapping.plan, columns: key }, key, keys);
    const found = page.rows as readonly SourceKey[];
    await ledger.deadLetters.close(mapping.mappingId, idsNotFound(deadLetters, found), readSeqStart);
    after = last.id;
  }
}
