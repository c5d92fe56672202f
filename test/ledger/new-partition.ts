/** Runs and partitions in a ledger, as a workflow would begin them. */
import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { NewRun } from '../../src/ledger/runs/runs.js';

/** A run, by default a backfill of the sync `shop`; its id. */
export async function newRun(ledger: Ledger, { sync = 'shop', ...more }: Partial<NewRun> = {}): Promise<string> {
  const { id } = await ledger.runs.begin({
    sync,
    kind: 'backfill',
    mode: 'backfill',
    input: { sync },
    mappingVersion: 'v1',
    files: null,
    workflowId: 'w',
    firstExecutionRunId: randomUUID(),
    start: { trigger: 'other', by: null },
    ...more,
  });
  return id;
}

/** A partition of a run of its own, as the first attempt holds it. */
export async function newPartitionOf(
  ledger: Ledger,
  mappingId: number,
  movesPosition = true,
  run?: string,
): Promise<AcquiredPartition> {
  const runId = run ?? (await newRun(ledger));
  const bounds = { cursorFrom: null, cursorBefore: null, afterKey: null, throughKey: null, externalIds: null };
  await ledger.partitions.plan(runId, mappingId, [{ ...bounds, byCursor: true, movesPosition, reads: 'at' }]);
  const [planned] = await ledger.partitions.planned(runId, mappingId);
  return ledger.partitions.acquire(planned!.id);
}
