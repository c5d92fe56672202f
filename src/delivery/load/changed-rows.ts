/** Reads the rows that a change feed has named: those that are there are delivered, and the records of the others removed. */
import type { ChangedRowBounds } from '../../ledger/changes/changed-rows.js';
import { resultsOf } from '../../reading/chunk.js';
import { readChunkByValues } from '../../reading/read-chunk-by-values.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';
import type { PartitionContext } from '../partition-context.js';
import type { NextChunk } from './next-chunk.js';
import { rowsToRemove } from './rows-to-remove.js';

/** The rows that are left within the bounds, in the order in which they were named last. */
export async function* chunksOfChangedRows(
  context: PartitionContext,
  within: Omit<ChangedRowBounds, 'limit'>,
): AsyncGenerator<NextChunk> {
  const { deps, sync, mapping, partition } = context;
  let { after } = within;
  while (true) {
    const bounds = { ...within, after, limit: LOOK_UP_ROWS };
    const changed = await deps.ledger.changedRows.page(mapping.mappingId, partition.runId, bounds);
    const last = changed.at(-1);
    if (last === undefined) return;
    const keys = changed.map(({ key }) => key);
    const chunk = await readChunkByValues(deps.ledger, sync, mapping, mapping.plan.key, keys);
    const results = new Map(resultsOf(chunk).map((result) => [JSON.stringify(result.sourceKey), result]));
    const looked = changed.map((row) => ({ ...row, result: results.get(JSON.stringify(row.key)) ?? null }));
    const { left, ...kept } = await rowsToRemove(context, looked);
    const settled = looked.filter(({ seq }) => !left.has(seq));
    // Whatever is still to be done about the record, the row has no dead letter any more.
    const gone = looked.filter(({ result }) => result === null);
    after = last.seq;
    const resumePoint = { kind: 'changed_rows', after, seqs: seqsOf(settled), gone: seqsOf(gone), ...kept } as const;
    yield { chunk, resumePoint };
  }
}

const seqsOf = (rows: readonly { readonly seq: string }[]): string[] => rows.map(({ seq }) => seq);
