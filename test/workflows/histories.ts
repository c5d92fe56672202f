/** The recorded histories of workflows: where they are, what is kept of them, and what they show. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { WorkflowHandle } from '@temporalio/client';
import { milliseconds } from '../../src/domain/timeouts.js';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

const FOLDER = new URL('histories/', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version whose histories are recorded now. */
export const VERSION: string = version;

/** Versions of the package, each with a folder of histories. */
export const versions = (): string[] => readdirSync(FOLDER).sort();

/** A recorded history. A run that continues as a new execution has several, which are numbered. */
export interface Recorded {
  readonly version: string;
  readonly shape: string;
  /** From 1 on. */
  readonly execution: number;
  readonly json: string;
}

const fileOf = ({ version, shape, execution }: Omit<Recorded, 'json'>): URL =>
  new URL(`${version}/${shape}${execution === 1 ? '' : `.${execution}`}.json`, FOLDER);

/** In the order of their executions. */
export function recordedOf(version: string): Recorded[] {
  const all = readdirSync(new URL(`${version}/`, FOLDER)).map((name) => {
    const [, shape, execution = '1'] = /^([a-z-]+)(?:\.(\d+))?\.json$/.exec(name)!;
    const recorded = { version, shape: shape!, execution: Number(execution) };
    return { ...recorded, json: readFileSync(fileOf(recorded), 'utf8') };
  });
  return all.sort((a, b) => a.shape.localeCompare(b.shape) || a.execution - b.execution);
}

export function keep(recorded: Recorded): void {
  mkdirSync(new URL('.', fileOf(recorded)), { recursive: true });
  writeFileSync(fileOf(recorded), recorded.json);
}

export const historyIn = ({ json }: Recorded): History => historyFromJSON(JSON.parse(json));

/**
 * One event in a line. Who did something, and where the code was, are about the machine that records, and nothing that a replay
 * compares.
 */
export function toKeep(history: History): string {
  const { events } = JSON.parse(historyToJSON(history), (key, value: unknown) =>
    key === 'identity' || key === 'stackTrace' ? '' : isOwnQueue(value) ? 'a worker' : value,
  ) as { events: object[] };
  return `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}

/** Whether this is the name of the queue that a worker has for workflows that it remembers: with its process and machine. */
const isOwnQueue = (value: unknown): boolean => typeof value === 'string' && /^\d+@.+-[0-9a-f]{32}$/.test(value);

/** Payloads, which are base64 in JSON, as the text that they are. */
export const readable = (json: string): string =>
  json.replaceAll(/"data":"([A-Za-z0-9+/=]+)"/g, (_, data: string) => Buffer.from(data, 'base64').toString('utf8'));

/** All executions of the workflow, from its first on. */
export async function executionsOf(handle: WorkflowHandle): Promise<History[]> {
  const { client, workflowId } = handle;
  const executions: History[] = [];
  const { raw } = await handle.describe();
  let runId = raw.workflowExecutionInfo?.firstRunId;
  while (runId) {
    const history = await client.getHandle(workflowId, runId).fetchHistory();
    executions.push(history);
    runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return executions;
}

/** What is done in a history: activities and Updates by name, pauses, what is cancelled; and `again` what is done more than once. */
export function stepsOf({ events }: History): Set<string> {
  const steps = (events ?? []).flatMap((event) => [
    event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
    event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name ?? [],
    isPause(event) ? 'a pause' : [],
    event.activityTaskCancelRequestedEventAttributes == null ? [] : 'a cancelled activity',
    event.activityTaskTimedOutEventAttributes == null ? [] : 'an activity without a worker',
  ]);
  const names = steps.flat();
  return new Set([...names, ...names.filter((name, no) => names.indexOf(name) < no).map((name) => `${name} again`)]);
}

/** Whether a run waits for something; the timer until the rows of small tenants are delivered runs beside its work. */
function isPause({ timerStartedEventAttributes: timer }: NonNullable<History['events']>[number]): boolean {
  return timer != null && Number(timer.startToFireTimeout!.seconds) * 1000 !== milliseconds('smallTenantsEvery');
}

/** How a history ends: `cancelled`, `continued`, the code of a failure, the outcome of a run's report, or `completed`. */
export function endOf({ events }: History): string {
  const last = events!.at(-1)!;
  if (last.workflowExecutionCanceledEventAttributes != null) return 'cancelled';
  if (last.workflowExecutionContinuedAsNewEventAttributes != null) return 'continued';
  const failed = last.workflowExecutionFailedEventAttributes?.failure;
  if (failed != null) return failed.applicationFailureInfo?.type ?? failed.message ?? 'failed';
  const data = last.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0]?.data;
  if (data == null) return 'not at all';
  const result = JSON.parse(Buffer.from(data).toString()) as { outcome?: string } | null;
  return result?.outcome ?? 'completed';
}
