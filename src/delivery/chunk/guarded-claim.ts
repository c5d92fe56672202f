/** The claim of a guarded chunk: one that would exceed a limit of the guard holds the run, and nothing is sent. */
import type { FailedRow } from '../../domain/record.js';
import type { SourceKey } from '../../domain/source.js';
import type { Claimed, ClaimRequest } from '../../ledger/batches/claims.js';
import { GuardExceeded } from '../../ledger/runs/guards.js';
import { rowsIn, type Chunk } from '../../reading/chunk.js';
import type { PartitionContext } from '../partition-context.js';

/** How many rows a hold names. */
const EXAMPLES = 10;

/** The rows of a chunk that are dead letters before anything is sent. They are stored in columns, so iterate only if needed. */
export interface FailedRows extends Iterable<FailedRow> {
  readonly count: number;
}

/**
 * Claims the records of a chunk.
 *
 * @throws GuardExceeded once the hold is in the ledger
 */
export async function guardedClaim(
  { deps: { ledger }, mapping, partition, guard: limits }: PartitionContext,
  chunk: Chunk,
  failed: FailedRows,
  request: ClaimRequest,
): Promise<Claimed> {
  if (limits === undefined) return ledger.claim(partition, request);
  const guard = { mapping: mapping.spec.name, limits, rows: rowsIn(chunk), deadLettered: failed.count };
  try {
    return await ledger.claim(partition, { ...request, guard });
  } catch (error) {
    if (!(error instanceof GuardExceeded)) throw error;
    const { hold, changed } = error;
    const examples = hold.cause === 'changed' ? changedRows(request, changed) : firstOf(failed);
    const keys = examples.map(({ sourceKey }) => sourceKey.join(', '));
    await ledger.guards.putOnHold(partition.runId, mapping.mappingId, hold, keys);
    throw error;
  }
}

interface Example {
  readonly sourceKey: SourceKey;
}

const changedRows = ({ records }: ClaimRequest, changed: readonly number[]): Example[] =>
  changed.slice(0, EXAMPLES).map((index) => records.at(index));

function firstOf(rows: Iterable<FailedRow>): Example[] {
  const first: Example[] = [];
  for (const row of rows) {
    if (first.length === EXAMPLES) break;
    first.push(row);
  }
  return first;
}
