/** Starts a run as a workflow and shows its progress until it ends. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Parts } from '../../composition/parts.js';
import type { RunInput, RunKind, RunReport } from '../../domain/run/run.js';
import type { Output } from '../output/output.js';
import { usableAttributes } from '../../observability/search-attributes.js';
import { describedStart } from './described-start.js';
import { reportOf } from '../../runs/workflow-failure.js';
import { newWorkflowId } from '../../runs/workflow-id.js';
import { milliseconds } from '../../domain/timeouts.js';
import { countsView } from './counts-view.js';
import { liveView } from './live-view.js';
import { bounded, pause, queried, type RunView, type Watching } from './run-view.js';

/** A run that has ended. */
export interface WatchedRun {
  readonly workflowId: string;
  readonly report: RunReport;
}

/** Starts the workflow, and does not wait for it. */
export async function startRun(
  { client, taskQueue }: { readonly client: Client; readonly taskQueue: string },
  kind: RunKind,
  input: RunInput,
): Promise<WorkflowHandle> {
  const workflowId = newWorkflowId(kind, input.sync);
  return client.workflow.start(kind, {
    taskQueue,
    workflowId,
    args: [input],
    ...describedStart(kind, input, await usableAttributes(client)),
  });
}

/**
 * Starts the workflow, and resolves with the report once it ends. Throws the run's failure with its code. Everything
 * but the start and the result is best effort: a ledger or a query that fails only makes the progress less complete.
 */
export async function watchRun(
  parts: Parts,
  temporal: { readonly client: Client; readonly taskQueue: string },
  kind: RunKind,
  input: RunInput,
  output: Output,
): Promise<WatchedRun> {
  const { client, taskQueue } = temporal;
  const live = await isLive(parts, kind, input);
  const handle = await startRun(temporal, kind, input);
  const { workflowId } = handle;
  const end = live ? `, and partner-sync stop ${input.sync} ends it` : '';
  output.note(`started workflow ${workflowId}; Ctrl-C leaves it running${end}`);
  const ended = new AbortController();
  const result = reportOf(handle);
  // It may reject while a query is awaited; it is awaited below.
  result.catch(() => undefined);
  const watching = { parts, client, taskQueue, handle, ended: ended.signal };
  const view = live ? liveView(watching, input.sync) : countsView(watching, kind);
  await Promise.race([result.catch(() => undefined), showProgress(watching, view)]);
  // A query that is still under way would keep the process alive.
  ended.abort();
  const report = await result;
  view.end(report.mappings.map((m) => ({ ...m, inFlight: 0, done: true, expected: null })));
  return { workflowId, report };
}

/** Whether the run follows change feeds, because of its input or of sync.yaml; a worker says what is wrong with the latter. */
const isLive = async (parts: Parts, kind: RunKind, { sync, mode, limit }: RunInput): Promise<boolean> =>
  kind === 'sync' &&
  limit === undefined &&
  (mode ??
    (await parts.loadSync(sync).then(
      ({ spec }) => spec.mode,
      () => null,
    ))) === 'live';

/** Shows progress until the run has ended. */
async function showProgress(watching: Watching, view: RunView): Promise<void> {
  const runId = await untilOpened(watching, view);
  if (runId !== null) await view.follow(runId);
}

/** Waits until a worker has opened the run; returns the ledger's id of it, or null if the run has ended before. */
async function untilOpened(watching: Watching, { note }: RunView): Promise<string | null> {
  const { client, taskQueue, ended } = watching;
  const started = Date.now();
  let noted = false;
  while (true) {
    await pause(milliseconds('runBegins'), ended);
    if (ended.aborted) return null;
    const progress = await queried(watching);
    if (progress !== null && progress.runId !== null) return progress.runId;
    if (noted || Date.now() - started <= milliseconds('noWorkerReport')) continue;
    if (await bounded(watching, () => hasWorker(client, taskQueue))) continue;
    noted = true;
    note(`no worker is polling task queue "${taskQueue}" yet; start one with: partner-sync worker`);
  }
}

/** Whether a worker polls the queue for workflows (Temporal's type 1). */
async function hasWorker(client: Client, taskQueue: string): Promise<boolean> {
  const { namespace } = client.options;
  try {
    const asked = { namespace, taskQueue: { name: taskQueue }, taskQueueType: 1 };
    const answer = await client.workflowService.describeTaskQueue(asked);
    return (answer.pollers ?? []).length > 0;
  } catch {
    return true; // unknown, so no message
  }
}
