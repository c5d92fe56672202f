/** Reads the rows of dead letters again, to deliver them or to find out which are gone. */
import type { DeadLetterFilter } from '../../domain/dead-letter.js';
import type { SourceKey } from '../../domain/source.js';
import type { DeadLetterKey } from '../../ledger/undelivered/dead-letters.js';
import { resultsOf, type Chunk } from '../../reading/chunk.js';
import { LOOK_UP_ROWS, readRowsByValues as readWhatFits } from '../../reading/read-rows-by-values.js';
import { readKeys } from '../../reading/read-keys.js';
import { deliverAndCheckpoint } from '../chunk/deliver-rows.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';
import type { PartitionContext } from '../partition-context.js';

/**
 * Delivers the rows of a mapping's dead letters, oldest first, while `goesOn` returns true. The resume point of such a
 * partition is the id of the last dead letter that is done, and its end the newest one when the run began.
 *
 * @param filter which of the dead letters are delivered
 * @returns whether the partition is at its end; the ledger knows it by then
 */
export async function deliverDeadLetters(
  context: PartitionContext,
  filter: DeadLetterFilter,
  goesOn: () => boolean,
): Promise<boolean> {
  const { deps, mapping, partition, signal } = context;
  const through = partition.bounds.throughKey![0]!;
  let after = partition.bounds.after?.key[0] ?? '0';
  while (goesOn()) {
    signal.throwIfAborted();
    const bounds = { after, through, limit: LOOK_UP_ROWS };
    const deadLetters = await deps.ledger.deadLetters.keys(mapping.mappingId, filter, bounds);
    const last = deadLetters.at(-1);
    if (last === undefined) {
      await deps.ledger.partitions.finish(partition);
      return true;
    }
    const chunk = await readDeadLetters(context, deadLetters);
    await deliverAndCheckpoint(context, { ...chunk, position: { cursor: null, key: [last.id] } });
    after = last.id;
  }
  return false;
}

/** Reads the rows of the dead letters as one chunk, and closes the dead letters whose rows are gone. */
export async function readDeadLetters(
  { deps: { ledger }, sync, mapping, partition }: PartitionContext,
  deadLetters: readonly DeadLetterKey[],
): Promise<Chunk> {
  const keys = deadLetters.map((deadLetter) => deadLetter.sourceKey);
  const chunk = await readKeys(ledger, sync, mapping, mapping.plan.key, keys);
  const found = resultsOf(chunk).map((result) => result.sourceKey);
  await ledger.deadLetters.close(mapping.mappingId, idsNotFound(deadLetters, found), chunk.readSeqStart, partition.id);
  return chunk;
}

/** Closes the dead letters of a mapping whose rows are gone; only their keys are read. */
export async function closeDeadLettersWithoutRows(
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
    const page = await readWhatFits(sync.source, { ...mapping.plan, columns: key }, key, keys);
    const found = page.rows as readonly SourceKey[];
    await ledger.deadLetters.close(mapping.mappingId, idsNotFound(deadLetters, found), readSeqStart);
    after = last.id;
  }
}

/** Ids of the dead letters whose keys were not found. */
function idsNotFound(deadLetters: readonly DeadLetterKey[], found: readonly SourceKey[]): string[] {
  const keys = new Set(found.map((key) => JSON.stringify(key)));
  return deadLetters.filter(({ sourceKey }) => !keys.has(JSON.stringify(sourceKey))).map(({ id }) => id);
}
