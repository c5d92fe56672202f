/** Reads the rows of dead letters again, for a replay and for children whose parents have come. */
import type { SourceKey } from '../../domain/source/source.js';
import type { DeadLetterKey } from '../../ledger/dead-letters.js';
import { resultsOf, type Chunk } from '../../reading/chunk.js';
import { readChunkByValues } from '../../reading/read-chunk-by-values.js';
import type { PartitionContext } from '../partition-context.js';
import { isRowKey } from '../removal-record.js';

/**
 * Reads the rows of the dead letters as one chunk, and closes the dead letters whose rows are gone. Those of removals have no
 * rows to read, and stay.
 */
export async function readDeadLetters(
  { deps: { ledger }, sync, mapping, partition }: PartitionContext,
  deadLetters: readonly DeadLetterKey[],
): Promise<Chunk> {
  const keys = deadLetters.map((deadLetter) => deadLetter.sourceKey);
  const chunk = await readChunkByValues(ledger, sync, mapping, mapping.plan.key, keys);
  const found = resultsOf(chunk).map((result) => result.sourceKey);
  const ofRows = deadLetters.filter(({ sourceKey }) => isRowKey(mapping, sourceKey));
  await ledger.deadLetters.close(mapping.mappingId, idsNotFound(ofRows, found), chunk.readSeqStart, partition.id);
  return chunk;
}

/** Ids of the dead letters whose keys were not found. */
export function idsNotFound(deadLetters: readonly DeadLetterKey[], found: readonly SourceKey[]): string[] {
  const keys = new Set(found.map((key) => JSON.stringify(key)));
  return deadLetters.filter(({ sourceKey }) => !keys.has(JSON.stringify(sourceKey))).map(({ id }) => id);
}
