/** What only Temporal knows of runs: those that failed or hang before the ledger recorded them, and those that were terminated. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { PartnerSyncError } from '../../domain/errors.js';
import type { RunFailure } from '../../domain/run/work.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import type { ViewParts } from '../../composition/parts.js';
import { isRunning } from '../../observability/is-running.js';
import { fromWorkflow, retriedFailureOf } from '../../runs/workflow-failure.js';
import { milliseconds } from '../../domain/timeouts.js';

/** A run that is not in the ledger. */
export interface UnrecordedRun {
  readonly workflowId: string;
  /** null if the input names no sync. */
  readonly sync: string | null;
  readonly kind: string;
  readonly state: 'running' | 'failed';
  readonly startedAt: string;
  /** Of a running one, the failure that is being retried; null if there is none. */
  readonly failure: RunFailure | null;
}

/** The runs, the latest first, or why Temporal could not be queried. */
export type Unrecorded =
  | {
      readonly runs: readonly UnrecordedRun[];
      /** Ids of runs that have not ended in the ledger, and whose workflow has. */
      readonly abandoned: readonly string[];
    }
  | { readonly unknown: string };

/**
 * Executions that Temporal is asked for, and of them the runs that are shown. Each that the ledger does not have costs
 * a request for its history.
 */
const LISTED = 200;
const SHOWN = 10;

/**
 * Unrecorded runs of one sync, or of all. Temporal may be down: that is part of the result, since the ledger still
 * tells about most runs. Throws `state_unreachable` only.
 */
export async function unrecordedRuns(parts: ViewParts, sync: string | undefined): Promise<Unrecorded> {
  try {
    const temporal = await connectTemporal(parts.env, milliseconds('statusConnect'));
    const { client, taskQueue } = temporal;
    try {
      return await client.withDeadline(Date.now() + milliseconds('statusQuery'), async () => ({
        runs: await findUnrecorded(parts, client, taskQueue, sync),
        abandoned: await findAbandoned(parts, client, sync),
      }));
    } finally {
      await temporal.close();
    }
  } catch (error) {
    if (error instanceof PartnerSyncError && error.code === 'state_unreachable') throw error;
    return { unknown: error instanceof PartnerSyncError ? error.message : 'Temporal did not answer as expected' };
  }
}

async function findUnrecorded(
  parts: ViewParts,
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
  const inLedger = await runs.recorded(listed.map(({ runId }) => runId));
  const found: UnrecordedRun[] = [];
  for (const execution of listed.filter(({ runId }) => !inLedger.has(runId))) {
    const start = await startOf(client, execution);
    if (sync !== undefined && start.sync !== sync) continue;
    // The ledger has a continued run under the id of its first execution.
    if (start.first !== '' && (await runs.recorded([start.first])).size > 0) continue;
    found.push(await described(client, execution, start.sync));
    if (found.length === SHOWN) break;
  }
  return found;
}

async function findAbandoned(parts: ViewParts, client: Client, sync: string | undefined): Promise<string[]> {
  const { runs } = await parts.ledger();
  const found: string[] = [];
  for (const run of await runs.notEnded(sync)) if (!(await isRunning(client, run))) found.push(run.id);
  if (found.length === 0) return [];
  // A run may have ended, as it should, between the two looks.
  const notEnded = new Set((await runs.notEnded(sync)).map(({ id }) => id));
  return found.filter((id) => notEnded.has(id));
}

/** From the first event of an execution: the sync that its input names, and the first execution of its chain. */
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
  const { payloadCodecs } = client.options.loadedDataConverter;
  let input = started?.input?.payloads ?? [];
  for (const codec of payloadCodecs.toReversed()) input = await codec.decode(input);
  return { sync: syncIn(input[0]?.data), first: started?.firstExecutionRunId ?? '' };
}

/** The input may be anything that somebody typed into the Start Workflow form. */
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
    const retried = await retriedFailureOf(handle);
    return {
      ...about,
      state: 'running',
      failure: retried === null ? null : { code: 'retrying', message: retried },
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
