/** Runs that only Temporal knows: those that failed, or wait, before they could be noted in the ledger. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { PartnerSyncError } from '../domain/errors.js';
import type { RunFailure } from '../domain/work.js';
import { connectTemporal } from '../worker/temporal-connection.js';
import type { LookingParts } from '../compose.js';
import { fromWorkflow, troubleOf } from './workflow-failure.js';

export interface UnrecordedRun {
  readonly workflowId: string;
  /** null where the input names none. */
  readonly sync: string | null;
  readonly kind: string;
  readonly state: 'running' | 'failed';
  readonly startedAt: string;
  /** Of a run that goes on: what it has met so far. */
  readonly failure: RunFailure | null;
}

export type Unrecorded = { readonly runs: readonly UnrecordedRun[] } | { readonly unknown: string };

/** Executions that are looked through, the latest first, and those of them that are looked at more closely. */
const LISTED = 200;
const SHOWN = 10;
/** Whoever asks for the status can see without Temporal what the ledger holds. */
const PATIENCE = 3_000;
const LOOK_LIMIT = 10_000;

/** Of one sync, or of all. Where Temporal cannot be asked, the reason. */
export async function unrecordedRuns(parts: LookingParts, sync: string | undefined): Promise<Unrecorded> {
  try {
    const temporal = await connectTemporal(parts.env, PATIENCE);
    const { client, taskQueue } = temporal;
    try {
      const runs = await client.withDeadline(Date.now() + LOOK_LIMIT, () => look(parts, client, taskQueue, sync));
      return { runs };
    } finally {
      await temporal.close();
    }
  } catch (error) {
    if (error instanceof PartnerSyncError && error.code === 'state_unreachable') throw error;
    return { unknown: error instanceof PartnerSyncError ? error.message : 'Temporal did not answer as expected' };
  }
}

async function look(
  parts: LookingParts,
  client: Client,
  taskQueue: string,
  sync: string | undefined,
): Promise<UnrecordedRun[]> {
  const query = `TaskQueue = '${taskQueue.replaceAll("'", "''")}' AND WorkflowType IN ('sync', 'backfill') AND ExecutionStatus IN ('Running', 'Failed', 'Canceled', 'Terminated', 'TimedOut')`;
  const listed: WorkflowExecutionInfo[] = [];
  for await (const execution of client.workflow.list({ query, pageSize: LISTED })) {
    listed.push(execution);
    if (listed.length === LISTED) break;
  }
  const { runs } = await parts.ledger();
  const inLedger = await runs.known(listed.map(({ runId }) => runId));
  const found: UnrecordedRun[] = [];
  for (const execution of listed.filter(({ runId }) => !inLedger.has(runId))) {
    const start = await startOf(client, execution);
    if (sync !== undefined && start.sync !== sync) continue;
    // A run that was continued is in the ledger under its first execution.
    if (start.first !== '' && (await runs.known([start.first])).size > 0) continue;
    found.push(await described(client, execution, start.sync));
    if (found.length === SHOWN) break;
  }
  return found;
}

/** The first event of an execution: its input, and the execution that it goes back to. */
async function startOf(
  client: Client,
  { workflowId, runId }: WorkflowExecutionInfo,
): Promise<{ sync: string | null; first: string }> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return { sync: syncIn(started?.input?.payloads?.[0]?.data), first: started?.firstExecutionRunId ?? '' };
}

function syncIn(input: Uint8Array | null | undefined): string | null {
  try {
    const { sync } = JSON.parse(Buffer.from(input ?? []).toString('utf8')) as { sync?: unknown };
    return typeof sync === 'string' ? sync : null;
  } catch {
    return null; // no input, or none that can be read
  }
}

async function described(
  client: Client,
  { workflowId, runId, type, status, startTime }: WorkflowExecutionInfo,
  sync: string | null,
): Promise<UnrecordedRun> {
  const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
  const about = { workflowId, sync, kind: type, startedAt: startTime.toISOString() };
  if (status.name === 'RUNNING') {
    const trouble = await troubleOf(handle);
    return {
      ...about,
      state: 'running',
      failure: trouble === null ? null : { code: 'trying_again', message: trouble },
    };
  }
  const failure = await handle.result().then(
    () => null,
    (error: unknown) => {
      const why = fromWorkflow(error);
      return why instanceof PartnerSyncError
        ? { code: why.code, message: why.message }
        : { code: 'unexpected', message: `the workflow ended as ${status.name.toLowerCase()}` };
    },
  );
  return { ...about, state: 'failed', failure };
}
