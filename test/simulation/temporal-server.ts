/**
 * A simulated Temporal server: task queues, attempts and their timeouts, heartbeats, cancellation, Updates, and executions that
 * continue as new ones. Its state is never lost. What it says arrives after a delay, or not at all where that can happen.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  RetryState,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import { Context, type ActivityInfo } from './alias/activity.js';
import type { Kernel, Scheduled, SimulatedProcess } from './kernel.js';
import type { Random } from './random.js';
import { WorkflowExecution, type ActivityOptions, type ExecutionName } from './workflow-execution.js';

/** A worker process, as the server knows it. */
export interface SimulatedWorker {
  readonly process: SimulatedProcess;
  /** Free slots by task queue. */
  readonly free: Map<string, number>;
  /** Whether it takes new work. */
  polls: boolean;
  readonly activities: Readonly<Record<string, (input: unknown) => Promise<unknown>>>;
}

/** How long the SDK holds heartbeats back. */
const THROTTLE = 3000;

interface Activity {
  readonly id: string;
  readonly execution: WorkflowExecution;
  readonly type: string;
  readonly input: string;
  readonly options: ActivityOptions;
  readonly queue: string;
  readonly settle: (result: unknown, failure: Error | null) => void;
  readonly scheduledAt: number;
  attempt: number;
  state: 'queued' | 'running' | 'backing off' | 'over';
  cancelRequested: boolean;
  lastFailure: Error | undefined;
  heartbeatDetails: unknown;
  lastHeartbeat: number;
  timers: Scheduled[];
}

export interface TemporalFaults {
  /** How likely the heartbeats of an attempt do not arrive: it works on after it was given to another worker. */
  readonly deafAttempts: number;
}

export interface TemporalOptions {
  readonly kernel: Kernel;
  readonly random: Random;
  readonly taskQueue: string;
  /** Events of a history after which a new execution is suggested. */
  readonly longHistory: number;
  readonly faults: TemporalFaults;
  readonly workflows: Readonly<Record<string, (input: never) => Promise<unknown>>>;
  readonly note: (line: string) => void;
  readonly sometimes: (what: string) => void;
}

export class TemporalServer {
  readonly kernel: Kernel;
  readonly taskQueue: string;
  readonly longHistory: number;
  faults: TemporalFaults;
  readonly note: (line: string) => void;
  readonly #sometimes: (what: string) => void;
  readonly #random: Random;
  readonly #workflows: TemporalOptions['workflows'];
  readonly #latest = new Map<string, WorkflowExecution>();
  readonly #queues = new Map<string, Activity[]>();
  readonly #running = new Set<Activity>();
  readonly #workers: SimulatedWorker[] = [];
  #numbers = 0;

  constructor(options: TemporalOptions) {
    this.kernel = options.kernel;
    this.#random = options.random;
    this.taskQueue = options.taskQueue;
    this.longHistory = options.longHistory;
    this.faults = options.faults;
    this.#workflows = options.workflows;
    this.note = options.note;
    this.#sometimes = options.sometimes;
    this.kernel.afterEachEvent(() => [...this.#latest.values()].map((each) => each.settle()).includes(true));
  }

  /** Starts a workflow; returns the function that tells its latest execution. */
  start(workflowType: string, workflowId: string, input: unknown): () => WorkflowExecution {
    const runId = `run-${++this.#numbers}`;
    this.#execute({ workflowId, workflowType, runId, firstExecutionRunId: runId }, input);
    return () => this.#latest.get(workflowId)!;
  }

  #execute(name: ExecutionName, input: unknown): void {
    const execution = new WorkflowExecution(this, name);
    this.#latest.set(name.workflowId, execution);
    this.kernel.within(null, () =>
      execution.start(
        this.#workflows[name.workflowType] as (input: unknown) => Promise<unknown>,
        copy(input),
        (next) => {
          this.#dropActivitiesOf(execution);
          this.note(`workflow ${name.workflowId}: ${execution.status}`);
          if (next === null) return;
          this.#sometimes('continued as new');
          this.#execute({ ...name, runId: `run-${++this.#numbers}` }, next[0]);
        },
      ),
    );
  }

  /** Returns whether the workflow was running. */
  cancel(workflowId: string): boolean {
    const execution = this.#latest.get(workflowId)!;
    const isRunning = execution.status === 'RUNNING';
    execution.cancel('operator', 'cancelled by the simulation');
    return isRunning;
  }

  terminate(workflowId: string): void {
    const execution = this.#latest.get(workflowId)!;
    execution.terminate('operator', 'terminated by the simulation', () => this.#dropActivitiesOf(execution));
  }

  /** Sends an Update; returns whether the workflow has accepted it. */
  update(workflowId: string, name: string, input?: unknown): boolean {
    return this.kernel.within(null, () =>
      this.#latest.get(workflowId)!.update(name, `update-${++this.#numbers}`, input),
    );
  }

  addWorker(worker: SimulatedWorker): void {
    this.#workers.push(worker);
    worker.process.whenKilled(() => this.#workers.splice(this.#workers.indexOf(worker), 1));
    for (const queue of worker.free.keys()) this.#dispatch(queue);
  }

  /** Lets a worker take no new work: it is about to stop. */
  drain(worker: SimulatedWorker): void {
    worker.polls = false;
  }

  schedule(
    execution: WorkflowExecution,
    type: string,
    input: unknown,
    options: ActivityOptions,
    settle: (result: unknown, failure: Error | null) => void,
  ): Activity {
    const activity: Activity = {
      id: String(++this.#numbers),
      execution,
      type,
      input: JSON.stringify(input ?? null),
      options,
      queue: options.taskQueue ?? this.taskQueue,
      settle,
      scheduledAt: this.kernel.now,
      attempt: 0,
      state: 'queued',
      cancelRequested: false,
      lastFailure: undefined,
      heartbeatDetails: undefined,
      lastHeartbeat: 0,
      timers: [],
    };
    this.#running.add(activity);
    const { scheduleToCloseTimeout, scheduleToStartTimeout } = options;
    if (scheduleToCloseTimeout !== undefined)
      this.#timer(activity, scheduleToCloseTimeout, () =>
        this.#end(activity, null, this.#timeout(activity, TimeoutType.SCHEDULE_TO_CLOSE)),
      );
    if (scheduleToStartTimeout !== undefined)
      this.#timer(activity, scheduleToStartTimeout, () => {
        if (activity.attempt > 0 || activity.state !== 'queued') return;
        this.#sometimes('a time slice was not taken in time');
        this.#end(activity, null, this.#timeout(activity, TimeoutType.SCHEDULE_TO_START));
      });
    this.#enqueue(activity);
    return activity;
  }

  #timer(activity: Activity, milliseconds: number, fire: () => void): Scheduled {
    const timer = this.kernel.after(
      milliseconds,
      () => {
        if (activity.state !== 'over') fire();
      },
      null,
    );
    activity.timers.push(timer);
    return timer;
  }

  #enqueue(activity: Activity): void {
    activity.state = 'queued';
    const queue = this.#queues.get(activity.queue) ?? [];
    this.#queues.set(activity.queue, queue);
    queue.push(activity);
    this.kernel.after(1 + this.#random.next() * 20, () => this.#dispatch(activity.queue), null);
  }

  /** Gives queued activities to workers that poll. A frozen process has a poll open as well, and may get one. */
  #dispatch(name: string): void {
    const queue = this.#queues.get(name) ?? [];
    while (queue.length > 0) {
      const ready = this.#workers.filter(({ polls, free }) => polls && (free.get(name) ?? 0) > 0);
      if (ready.length === 0) return;
      const activity = queue.shift()!;
      if (activity.state === 'queued') this.#begin(activity, this.#random.pick(ready));
    }
  }

  #begin(activity: Activity, worker: SimulatedWorker): void {
    const { options } = activity;
    const attempt = ++activity.attempt;
    activity.state = 'running';
    if (attempt > 1) this.#sometimes('an activity was tried again');
    worker.free.set(activity.queue, worker.free.get(activity.queue)! - 1);
    const isCurrent = (): boolean => activity.state === 'running' && activity.attempt === attempt;
    const timeOut = (type: TimeoutType): void => {
      if (!isCurrent()) return;
      this.note(`temporal: ${activity.type} #${activity.id} attempt ${attempt} timed out (${type})`);
      this.#sometimes(`an attempt timed out: ${type}`);
      this.#attemptFailed(activity, this.#timeout(activity, type));
    };
    if (options.startToCloseTimeout !== undefined)
      this.#timer(activity, options.startToCloseTimeout, () => timeOut(TimeoutType.START_TO_CLOSE));
    activity.lastHeartbeat = this.kernel.now;
    const watchHeartbeats = (): void => {
      const { heartbeatTimeout } = options;
      if (heartbeatTimeout === undefined || !isCurrent()) return;
      const rest = activity.lastHeartbeat + heartbeatTimeout - this.kernel.now;
      if (rest <= 0) timeOut(TimeoutType.HEARTBEAT);
      else this.#timer(activity, rest, watchHeartbeats);
    };
    watchHeartbeats();
    const info: ActivityInfo = {
      activityType: activity.type,
      attempt,
      taskQueue: activity.queue,
      heartbeatDetails: copy(activity.heartbeatDetails),
      workflowExecution: { workflowId: activity.execution.name.workflowId, runId: activity.execution.name.runId },
    };
    this.kernel.after(
      1 + this.#random.next() * 5,
      () => this.#perform(activity, worker, info, isCurrent),
      worker.process,
    );
  }

  /** Runs the activity's code in the worker's process. */
  #perform(activity: Activity, worker: SimulatedWorker, info: ActivityInfo, isCurrent: () => boolean): void {
    const cancellation = new AbortController();
    const network = (work: () => void): void => void this.kernel.after(this.#random.next() * 5, work, null);
    const isDeaf = this.#random.chance(this.faults.deafAttempts);
    let details: unknown = info.heartbeatDetails;
    let sentAt = -Infinity;
    let pending: Scheduled | undefined;
    const send = (): void => {
      sentAt = this.kernel.now;
      pending = undefined;
      const sent = copy(details);
      if (isDeaf) return;
      network(() => {
        const cancelled = !isCurrent() || activity.cancelRequested || activity.execution.status !== 'RUNNING';
        if (isCurrent()) {
          activity.lastHeartbeat = this.kernel.now;
          activity.heartbeatDetails = sent;
        }
        if (cancelled)
          this.kernel.after(
            this.#random.next() * 5,
            () => cancellation.abort(new CancelledFailure('CANCELLED')),
            worker.process,
          );
      });
    };
    const heartbeat = (given?: unknown): void => {
      details = given;
      if (pending !== undefined) return;
      const rest = sentAt + THROTTLE - this.kernel.now;
      if (rest <= 0) send();
      else pending = this.kernel.after(rest, send, worker.process);
    };
    const finish = (result: unknown, failure: unknown): void => {
      if (pending !== undefined) pending.cancelled = true;
      const sent = copy(details);
      network(() => {
        worker.free.set(activity.queue, worker.free.get(activity.queue)! + 1);
        if (isCurrent()) {
          activity.heartbeatDetails = sent;
          if (failure === null) this.#end(activity, result, null);
          else if (failure instanceof CancelledFailure && activity.cancelRequested) this.#end(activity, null, failure);
          else this.#attemptFailed(activity, failure as Error);
        } else
          this.#sometimes(
            isDeaf ? 'an attempt ended that had heard nothing' : 'an attempt ended that had been given up',
          );
        this.#dispatch(activity.queue);
      });
    };
    this.note(
      `${worker.process.name}: ${activity.type} #${activity.id} attempt ${info.attempt} begins ${activity.input.slice(0, 200)}`,
    );
    Context.storage.run(new Context(info, cancellation.signal, heartbeat), () => {
      worker.activities[activity.type]!(JSON.parse(activity.input)).then(
        (result) => {
          this.note(`${worker.process.name}: ${activity.type} #${activity.id} attempt ${info.attempt} done`);
          finish(copy(result), null);
        },
        (failure: unknown) => {
          this.note(
            `${worker.process.name}: ${activity.type} #${activity.id} attempt ${info.attempt} failed: ${String(failure)}`,
          );
          finish(null, failure);
        },
      );
    });
  }

  #attemptFailed(activity: Activity, failure: Error): void {
    activity.lastFailure = failure;
    const { retry, scheduleToCloseTimeout } = activity.options;
    const initialInterval = Number(retry?.initialInterval ?? 1000);
    const maximumInterval = Number(retry?.maximumInterval ?? 100 * initialInterval);
    const backoffCoefficient = retry?.backoffCoefficient ?? 2;
    const application = failure instanceof ApplicationFailure ? failure : null;
    const delay = Number(
      application?.nextRetryDelay ??
        Math.min(maximumInterval, initialInterval * backoffCoefficient ** (activity.attempt - 1)),
    );
    const isLast =
      application?.nonRetryable === true ||
      activity.attempt >= (retry?.maximumAttempts ?? Infinity) ||
      activity.cancelRequested ||
      this.kernel.now + delay > activity.scheduledAt + (scheduleToCloseTimeout ?? Infinity);
    if (isLast) {
      this.#end(activity, null, failure);
      return;
    }
    activity.state = 'backing off';
    this.#timer(activity, delay, () => {
      if (activity.state === 'backing off') this.#enqueue(activity);
    });
  }

  #end(activity: Activity, result: unknown, failure: unknown): void {
    if (activity.state === 'over') return;
    this.#forget(activity);
    this.kernel.after(
      this.#random.next() * 10,
      () => activity.settle(result, failure === null ? null : this.failureOf(activity, failure as Error)),
      null,
    );
  }

  #forget(activity: Activity): void {
    activity.state = 'over';
    this.#running.delete(activity);
    for (const timer of activity.timers) timer.cancelled = true;
  }

  /** The activities of an execution that has ended: the workers that have them are told with their heartbeats. */
  #dropActivitiesOf(execution: WorkflowExecution): void {
    for (const activity of [...this.#running]) if (activity.execution === execution) this.#forget(activity);
  }

  /** A worker hears of it with the answer to a heartbeat. */
  requestCancel(activity: Activity): void {
    if (activity.state === 'over') return;
    activity.cancelRequested = true;
    if (activity.state === 'running') return;
    this.#end(activity, null, new CancelledFailure('Activity cancelled'));
  }

  failureOf(activity: Activity, cause: Error): ActivityFailure {
    return new ActivityFailure(
      'Activity task failed',
      activity.type,
      activity.id,
      RetryState.MAXIMUM_ATTEMPTS_REACHED,
      'worker',
      cause,
    );
  }

  #timeout(activity: Activity, type: TimeoutType): TimeoutFailure {
    const failure = new TimeoutFailure(`activity ${type} timeout`, copy(activity.heartbeatDetails), type);
    (failure as { cause?: Error }).cause = activity.lastFailure!;
    return failure;
  }

  /** What activities ask Temporal. */
  readonly client = {
    options: { namespace: 'default' },
    connection: {
      operatorService: { listSearchAttributes: () => this.#asked(() => ({ customAttributes: {} })) },
    },
    workflow: {
      getHandle: (workflowId: string) => ({
        describe: () =>
          this.#asked(() => {
            const execution = this.#latest.get(workflowId);
            if (execution === undefined) throw new WorkflowNotFoundError('workflow not found', workflowId, undefined);
            const { runId, firstExecutionRunId: firstRunId } = execution.name;
            return { runId, status: { name: execution.status }, raw: { workflowExecutionInfo: { firstRunId } } };
          }),
      }),
    },
    workflowService: {
      getWorkflowExecutionHistoryReverse: ({ execution: { workflowId } }: { execution: { workflowId: string } }) =>
        this.#asked(() => ({
          history: {
            events: [...(this.#latest.get(workflowId)?.stops ?? [])]
              .reverse()
              .map(({ kind, identity, reason }) =>
                kind === 'cancel'
                  ? { workflowExecutionCancelRequestedEventAttributes: { identity, cause: reason } }
                  : { workflowExecutionTerminatedEventAttributes: { identity, reason } },
              ),
          },
        })),
    },
  };

  /** A question to the server and its answer, each of which takes its time. */
  async #asked<T>(answer: () => T): Promise<T> {
    await this.kernel.sleep(1 + this.#random.next() * 10);
    return answer();
  }
}

/** What arrives is never the same object that was sent. */
const copy = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T));
