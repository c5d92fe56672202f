/** Starts a run as a workflow, shows its progress until it ends, and answers its report. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Parts } from '../compose.js';
import { readVariable } from '../config/environment.js';
import type { MappingProgress, RunInput, RunKind, RunReport, RunWait } from '../domain/run.js';
import { waitLine } from '../domain/run-wait.js';
import type { Output } from './output.js';
import { createProgress } from './progress.js';
import { fromWorkflow, troubleOf } from './workflow-failure.js';

/** Milliseconds between two looks for a run that has not begun. */
const BEGINS_WITHIN = 1000;
/** Milliseconds until a look is given up: a question to a workflow that no worker has may stay without an answer. */
const LOOK_LIMIT = 5_000;
/** Milliseconds of silence after which it is worth saying that no worker listens. */
const NO_WORKER_AFTER = 4_000;

export interface FollowedRun {
  readonly workflowId: string;
  readonly report: RunReport;
}

export async function followRun(
  parts: Parts,
  temporal: { readonly client: Client; readonly taskQueue: string },
  kind: RunKind,
  input: RunInput,
  output: Output,
): Promise<FollowedRun> {
  const { client, taskQueue } = temporal;
  const workflowId = `${kind}-${input.sync}-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  const handle = await client.workflow.start(kind, {
    taskQueue,
    workflowId,
    args: [input],
    staticSummary: `${kind} of ${input.sync}, from the command line`,
  });
  output.note(`started workflow ${workflowId}; Ctrl-C leaves it running`);
  const ended = new AbortController();
  const result = handle.result() as Promise<RunReport>;
  result.catch(() => undefined);
  const display = createProgress();
  await Promise.race([result.catch(() => undefined), watch()]);
  // A look that is still waiting would keep the process alive.
  ended.abort();
  try {
    const report = await result;
    display.show(report.mappings.map((m) => ({ ...m, sent: 0, done: true })));
    return { workflowId, report };
  } catch (error) {
    throw fromWorkflow(error);
  }

  function look<T>(ask: () => Promise<T>): Promise<T> {
    const patience = AbortSignal.any([ended.signal, AbortSignal.timeout(LOOK_LIMIT)]);
    return client.withAbortSignal(patience, ask);
  }

  /** Not a moment longer than the run. */
  function pause(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: ended.signal }).catch(() => undefined);
  }

  async function watch(): Promise<void> {
    const started = Date.now();
    let runId: string | null = null;
    const told = { noWorker: false, trouble: null as string | null, waits: '' };
    for (;;) {
      await pause(runId === null ? BEGINS_WITHIN : display.every);
      if (ended.signal.aborted) return;
      if (runId === null) {
        runId = await look(() => runIdOf(handle));
        if (
          runId === null &&
          !told.noWorker &&
          Date.now() - started > NO_WORKER_AFTER &&
          !(await look(() => hasWorker(client, taskQueue)))
        ) {
          told.noWorker = true;
          output.note(`no worker listens on task queue "${taskQueue}" yet; start one with: partner-sync worker`);
        }
        continue;
      }
      const known = runId;
      const progress = await look(() => progressOf(parts, known, handle));
      if (ended.signal.aborted) return;
      display.show(progress);
      const waits = progress.some((m) => m.waiting > 0) ? await look(() => waitsOf(handle)) : [];
      const lines = waits.map((wait) => `  ${waitLine(wait)}`).join('\n');
      if (lines !== '' && lines !== told.waits) output.note(lines);
      told.waits = lines;
      const trouble = await look(() => troubleOf(handle));
      if (trouble !== null && trouble !== told.trouble) output.note(`  trying again: ${trouble}`);
      told.trouble = trouble;
    }
  }
}

async function runIdOf(handle: WorkflowHandle): Promise<string | null> {
  try {
    return (await queryProgress(handle)).runId;
  } catch {
    return null; // no worker has taken the workflow up yet
  }
}

const queryProgress = (handle: WorkflowHandle) =>
  handle.query<{ runId: string | null; mappings: MappingProgress[]; waits: RunWait[] }, []>('progress');

/** What the run waits for: a long silence would look like standstill. */
async function waitsOf(handle: WorkflowHandle): Promise<readonly RunWait[]> {
  try {
    return (await queryProgress(handle)).waits;
  } catch {
    return [];
  }
}

/** From the ledger, which moves with every group of rows; else what the workflow knows of finished slices. */
async function progressOf(parts: Parts, runId: string, handle: WorkflowHandle): Promise<readonly MappingProgress[]> {
  try {
    if ((await readVariable(parts.env, 'PARTNER_SYNC_STATE_URL')) !== undefined)
      return await (await parts.ledger()).books.progress(runId);
    return (await queryProgress(handle)).mappings;
  } catch {
    return []; // a look that failed is no reason to stop following
  }
}

async function hasWorker(client: Client, taskQueue: string): Promise<boolean> {
  const { namespace } = client.options;
  try {
    const asked = { namespace, taskQueue: { name: taskQueue }, taskQueueType: 1 };
    const answer = await client.workflowService.describeTaskQueue(asked);
    return (answer.pollers ?? []).length > 0;
  } catch {
    return true; // not known: say nothing
  }
}
