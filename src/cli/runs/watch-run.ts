/** Starts a run as a workflow and shows its progress until it ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Parts } from '../../composition/parts.js';
import { readVariable } from '../../config/environment.js';
import type { MappingProgress } from '../../domain/run/progress.js';
import type { HoldUntil, RunInput, RunKind, RunReport, RunWait } from '../../domain/run/run.js';
import { holdUntilLine } from '../../domain/sync/guard.js';
import { waitLine } from '../../domain/run/wait-line.js';
import type { Output } from '../output/output.js';
import { createProgress, type ProgressDisplay } from './progress-display.js';
import { usableAttributes } from '../../observability/search-attributes.js';
import { describedStart } from './described-start.js';
import { progressOf, queryProgress } from '../../runs/run-progress.js';
import { reportOf, retriedFailureOf } from '../../runs/workflow-failure.js';
import { newWorkflowId } from '../../runs/workflow-id.js';
import { milliseconds } from '../../domain/timeouts.js';

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
  const handle = await startRun(temporal, kind, input);
  const { workflowId } = handle;
  const end = input.mode === 'live' ? `, and partner-sync stop ${input.sync} ends it` : '';
  output.note(`started workflow ${workflowId}; Ctrl-C leaves it running${end}`);
  const ended = new AbortController();
  const result = reportOf(handle);
  // It may reject while a query is awaited; it is awaited below.
  result.catch(() => undefined);
  const display = ofWhatIsRead(kind, createProgress());
  const watching = showProgress({ parts, client, taskQueue, handle, display, ended: ended.signal });
  await Promise.race([result.catch(() => undefined), watching]);
  // A query that is still under way would keep the process alive.
  ended.abort();
  const report = await result;
  display.show(report.mappings.map((m) => ({ ...m, inFlight: 0, done: true, expected: null })));
  return { workflowId, report };
}

/** A backfill, such as a replay of one row, is only about some mappings: the others, of which it reads nothing, are left out. */
const ofWhatIsRead = (kind: RunKind, display: ProgressDisplay): ProgressDisplay =>
  kind === 'sync' ? display : { ...display, show: (mappings) => display.show(mappings.filter(({ read }) => read > 0)) };

/** What the steps of watching one run share. */
interface Watching {
  readonly parts: Parts;
  readonly client: Client;
  readonly taskQueue: string;
  readonly handle: WorkflowHandle;
  readonly display: ProgressDisplay;
  /** Aborted once the run has ended. */
  readonly ended: AbortSignal;
}

/** Shows progress until the run has ended. */
async function showProgress(watching: Watching): Promise<void> {
  const runId = await untilOpened(watching);
  if (runId !== null) await untilEnded(watching, runId);
}

/** Waits until a worker has opened the run; returns the ledger's id of it, or null if the run has ended before. */
async function untilOpened(watching: Watching): Promise<string | null> {
  const { client, taskQueue, handle, display, ended } = watching;
  const started = Date.now();
  let noted = false;
  while (true) {
    await pause(milliseconds('runBegins'), ended);
    if (ended.aborted) return null;
    const runId = await bounded(watching, () => runIdOf(handle));
    if (runId !== null) return runId;
    if (noted || Date.now() - started <= milliseconds('noWorkerReport')) continue;
    if (await bounded(watching, () => hasWorker(client, taskQueue))) continue;
    noted = true;
    display.note(`no worker is polling task queue "${taskQueue}" yet; start one with: partner-sync worker`);
  }
}

/** Shows the counts of an opened run, what it waits for, and why it is being retried. */
async function untilEnded(watching: Watching, runId: string): Promise<void> {
  const { parts, handle, display, ended } = watching;
  const noteWaits = whenChanged(display.note);
  const noteHolds = whenChanged(display.note);
  const noteRetry = whenChanged(display.note);
  while (true) {
    await pause(display.every, ended);
    if (ended.aborted) return;
    const progress = await bounded(watching, () => shownProgress(parts, runId, handle));
    if (ended.aborted) return;
    display.show(progress);
    const waits = progress.some((m) => m.waiting > 0) ? await bounded(watching, () => waitsOf(handle)) : [];
    noteWaits(waits.map((wait) => `  ${waitLine(wait)}`).join('\n'));
    const holds = await bounded(watching, () => holdsOf(handle));
    noteHolds(holds.map((hold) => `  ${holdUntilLine(hold)}`).join('\n'));
    const failure = await bounded(watching, () => retriedFailureOf(handle));
    noteRetry(failure === null ? '' : `  retrying: ${failure}`);
  }
}

/** Notes each text that is neither empty nor the same as the one before. */
function whenChanged(note: (line: string) => void): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== '' && text !== last) note(text);
    last = text;
  };
}

/**
 * Ends what is asked of Temporal with the run, or after a while: a worker that hangs must not stop the display. The
 * ledger has deadlines of its own.
 */
function bounded<T>({ client, ended }: Watching, ask: () => Promise<T>): Promise<T> {
  const deadline = AbortSignal.any([ended, AbortSignal.timeout(milliseconds('runLook'))]);
  return client.withAbortSignal(deadline, ask);
}

/** Ends early when the run ends. */
const pause = (time: number, ended: AbortSignal): Promise<void> =>
  sleep(time, undefined, { signal: ended }).catch(() => undefined);

/** The ledger's id of the run; null until a worker has opened it. */
async function runIdOf(handle: WorkflowHandle): Promise<string | null> {
  try {
    return (await queryProgress(handle)).runId;
  } catch {
    return null; // no worker has taken up the workflow yet
  }
}

/** What the run waits for, which is shown because a long silence would look like a hang. */
async function waitsOf(handle: WorkflowHandle): Promise<readonly RunWait[]> {
  try {
    return (await queryProgress(handle)).waits;
  } catch {
    return [];
  }
}

/** What the run waits for a person to approve. */
async function holdsOf(handle: WorkflowHandle): Promise<readonly HoldUntil[]> {
  try {
    return (await queryProgress(handle)).holds;
  } catch {
    return [];
  }
}

/** As far as it can be known: a question that failed is no reason to stop watching. */
async function shownProgress(parts: Parts, runId: string, handle: WorkflowHandle): Promise<readonly MappingProgress[]> {
  try {
    const isKnown = (await readVariable(parts.env, 'PARTNER_SYNC_STATE_URL')) !== undefined;
    return await progressOf(handle, runId, isKnown ? () => parts.ledger() : null);
  } catch {
    return [];
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
