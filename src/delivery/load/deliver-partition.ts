/** Reads a partition from its resume point on, delivers its chunks and writes their checkpoints. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { CheckpointInput } from '../../ledger/checkpoint/checkpoint-input.js';
import { lookUpOf, type LookUp } from '../../mapping/compile/external-id-look-up.js';
import { rowsIn, type Chunk } from '../../reading/chunk.js';
import { readKeys } from '../../reading/read-keys.js';
import { chunksInOrder } from './chunks-in-order.js';
import { deliverScan } from '../chunk/deliver-rows.js';
import type { OpenMapping } from '../dependencies.js';
import { chunksOf, type PartitionContext } from '../partition-context.js';
import { deliverFirstPass } from '../chunk/first-pass.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';

/**
 * Delivers chunks while `goesOn` returns true, which is asked between two chunks.
 *
 * @param rowsDone called with the rows of each chunk that is in the ledger
 * @returns whether the partition is read to its end; the ledger knows it by then
 * @throws PartnerSyncError `input_invalid` if a backfill names external ids and the source cannot be searched by them
 */
export async function deliverPartition(
  context: PartitionContext,
  goesOn: () => boolean,
  rowsDone: (rows: number) => void = () => undefined,
): Promise<boolean> {
  const { deps, sync, mapping, partition, signal } = context;
  const { externalIds } = partition;
  const deliver = partition.firstPass ? deliverFirstPass : deliverScan;
  const withGuard: PartitionContext = {
    ...context,
    guard: partition.firstPass ? undefined : (sync.spec.guard ?? undefined),
  };
  const done = await chunksInOrder(
    externalIds === null ? chunksOf(context) : readIds(context, externalIds),
    mapping.turns,
    () => goesOn() && !signal.aborted,
    {
      async deliver(chunk) {
        const rows = rowsIn(chunk);
        const checkpoint = await mapping.meter.delivering<CheckpointInput>(rows, () => deliver(withGuard, chunk));
        return { rows, checkpoint };
      },
      async finish(_chunk, { rows, checkpoint }) {
        await deps.ledger.checkpoint(partition, checkpoint);
        rowsDone(rows);
      },
    },
  );
  signal.throwIfAborted();
  if (done) await deps.ledger.partitions.finish(partition);
  return done;
}

/** Reads the rows of a backfill's external ids. The resume point of such a partition is the number of ids that are done. */
async function* readIds(context: PartitionContext, externalIds: readonly string[]): AsyncGenerator<Chunk> {
  const { deps, sync, mapping, partition } = context;
  const { columns, values } = idLookUp(mapping);
  for (let done = Number(partition.bounds.after?.key[0] ?? 0); done < externalIds.length; done += LOOK_UP_ROWS) {
    const ids = [...new Set(externalIds.slice(done, done + LOOK_UP_ROWS))].flatMap(values);
    const chunk = await readKeys(deps.ledger, sync, mapping, columns, ids);
    yield { ...chunk, position: { cursor: null, key: [String(done + LOOK_UP_ROWS)] } };
  }
}

/** How rows are found by external ids, which must be the plain values of one column. */
function idLookUp({ spec }: OpenMapping): LookUp {
  const how = spec.fields.get(spec.schema.externalIdField)?.kind === 'column' ? lookUpOf(spec) : null;
  if (how?.certain === true) return how;
  throw new PartnerSyncError(
    'input_invalid',
    `mapping ${spec.name} builds its external id from a template or transforms, so rows cannot be found by it; use "from" and "to"`,
  );
}
