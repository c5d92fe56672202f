/** One execution of a workflow on the simulated server: its timers, conditions, handlers, and the activities it waits for. */
import { CancelledFailure, type RetryPolicy } from '@temporalio/common';
import { CancellationScope, ContinueAsNew, executions, isCancellation } from './alias/workflow.js';
import type { Scheduled } from './kernel.js';
import type { TemporalServer } from './temporal-server.js';

/** As the SDK's, with all times in milliseconds. */
export interface ActivityOptions {
  readonly taskQueue?: string;
  readonly startToCloseTimeout?: number;
  readonly scheduleToCloseTimeout?: number;
  readonly scheduleToStartTimeout?: number;
  readonly heartbeatTimeout?: number;
  readonly cancellationType?: 'TRY_CANCEL' | 'WAIT_CANCELLATION_COMPLETED' | 'ABANDON';
  readonly retry?: RetryPolicy;
  readonly summary?: string;
}

/** What tells an execution from others. */
export interface ExecutionName {
  readonly workflowId: string;
  readonly runId: string;
  readonly firstExecutionRunId: string;
  readonly workflowType: string;
}

export type Status = 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELED' | 'TERMINATED' | 'CONTINUED_AS_NEW';

/** Somebody who has asked for the end of a workflow, as the history tells it. */
export interface StopEvent {
  readonly kind: 'cancel' | 'terminate';
  readonly identity: string;
  readonly reason: string;
}

interface Handler {
  readonly validate: (input: unknown) => void;
  readonly handle: (id: string, input: unknown) => unknown;
}

export class WorkflowExecution {
  status: Status = 'RUNNING';
  result: unknown = null;
  failure: unknown = null;
  readonly handlers = new Map<string, Handler>();
  handlersInProgress = 0;
  readonly rootScope = new CancellationScope();
  readonly stops: StopEvent[] = [];
  readonly #server: TemporalServer;
  readonly #conditions = new Set<{ readonly holds: () => boolean; readonly go: () => void }>();
  readonly #name: ExecutionName;
  /** Events of its history so far, as far as they count for its length. */
  historyLength = 0;

  constructor(server: TemporalServer, name: ExecutionName) {
    this.#server = server;
    this.#name = name;
  }

  get name(): ExecutionName {
    return this.#name;
  }

  get info() {
    return {
      ...this.#name,
      taskQueue: this.#server.taskQueue,
      memo: {},
      typedSearchAttributes: { get: () => undefined },
      continueAsNewSuggested: this.historyLength > this.#server.longHistory,
    };
  }

  note(line: string): void {
    this.#server.note(`workflow ${this.#name.workflowId}: ${line}`);
  }

  /** Runs the workflow's code. `ended` is called once it has ended; a new execution may follow. */
  start(
    code: (input: unknown) => Promise<unknown>,
    input: unknown,
    ended: (next: readonly unknown[] | null) => void,
  ): void {
    executions
      .run(this, () => code(input))
      .then(
        (result) => {
          this.result = result;
          this.#close('COMPLETED', ended, null);
        },
        (error: unknown) => {
          if (error instanceof ContinueAsNew) {
            this.#close('CONTINUED_AS_NEW', ended, error.args);
            return;
          }
          this.failure = error;
          this.#close(isCancellation(error) ? 'CANCELED' : 'FAILED', ended, null);
        },
      );
  }

  #close(status: Status, ended: (next: readonly unknown[] | null) => void, next: readonly unknown[] | null): void {
    if (this.status !== 'RUNNING') return;
    this.status = status;
    ended(next);
  }

  /** A timer of the server: it outlives workers. */
  timer(milliseconds: number, fire: () => void): Scheduled {
    this.historyLength += 2;
    return this.#server.kernel.after(milliseconds, () => this.#alive(fire), null);
  }

  #alive(work: () => void): void {
    if (this.status === 'RUNNING') executions.run(this, work);
  }

  whenHolds(holds: () => boolean, go: () => void): () => void {
    const waiting = { holds, go };
    this.#conditions.add(waiting);
    return () => void this.#conditions.delete(waiting);
  }

  /** Lets go on what waits for something that has come true; says whether there was anything. */
  settle(): boolean {
    if (this.status !== 'RUNNING') return false;
    const ready = executions.run(this, () => [...this.#conditions].filter(({ holds }) => holds()));
    for (const { go } of ready) executions.run(this, go);
    return ready.length > 0;
  }

  activity(type: string, input: unknown, options: ActivityOptions, scope: CancellationScope): Promise<unknown> {
    this.historyLength += 3;
    return new Promise((resolve, reject) => {
      if (scope.isCancelled) {
        reject(new CancelledFailure('Activity cancelled before scheduled'));
        return;
      }
      const activity = this.#server.schedule(this, type, input, options, (result, failure) => {
        forget();
        this.#alive(() => (failure === null ? resolve(result) : reject(failure)));
      });
      const forget = scope.whenCancelled(() => {
        this.#server.requestCancel(activity);
        if (options.cancellationType === 'WAIT_CANCELLATION_COMPLETED') return;
        reject(this.#server.failureOf(activity, new CancelledFailure('Activity cancelled')));
      });
    });
  }

  /** Someone asks the workflow to end: it may clean up. */
  cancel(identity: string, reason: string): void {
    if (this.status !== 'RUNNING') return;
    this.stops.push({ kind: 'cancel', identity, reason });
    executions.run(this, () => this.rootScope.cancel());
  }

  /** Ends it at once; none of its code runs again. */
  terminate(identity: string, reason: string, ended: () => void): void {
    if (this.status !== 'RUNNING') return;
    this.stops.push({ kind: 'terminate', identity, reason });
    this.status = 'TERMINATED';
    ended();
  }

  /** Sends an Update. Returns false if its validator has refused it, or nobody handles it. */
  update(name: string, id: string, input: unknown): boolean {
    const handler = this.handlers.get(name);
    if (this.status !== 'RUNNING' || handler === undefined) return false;
    try {
      executions.run(this, () => handler.validate(input));
    } catch {
      return false;
    }
    this.historyLength += 2;
    this.handlersInProgress++;
    void Promise.resolve()
      .then(() => executions.run(this, () => handler.handle(id, input)))
      .catch((error: unknown) => this.note(`update ${name} failed: ${String(error)}`))
      .finally(() => (this.handlersInProgress -= 1));
    return true;
  }
}
