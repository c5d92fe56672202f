/** Runs and ranges in a ledger, as a workflow would begin them. */
import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../src/state/ledger.js';
import type { TakenRange } from '../../src/state/ranges.js';

async function newRun(ledger: Ledger): Promise<string> {
  const { id } = await ledger.runs.begin({
    sync: 'shop',
    kind: 'backfill',
    mode: 'backfill',
    input: { sync: 'shop' },
    mappingVersion: 'v1',
    workflowId: 'w',
    firstExecutionRunId: randomUUID(),
  });
  return id;
}

/** A range of a run of its own, as the first attempt holds it. */
export async function newRangeOf(
  ledger: Ledger,
  mappingId: number,
  movesPosition = true,
  run?: string,
): Promise<TakenRange> {
  const runId = run ?? (await newRun(ledger));
  const bounds = { cursorFrom: null, cursorBefore: null, afterKey: null, throughKey: null, externalIds: null };
  await ledger.ranges.plan(runId, mappingId, [{ ...bounds, byCursor: true, movesPosition }]);
  const [planned] = await ledger.ranges.planned(runId, mappingId);
  return ledger.ranges.take(planned!.id);
}
