/**
 * Stands in for @temporalio/workflow: the same functions, on an execution of the simulated server. A workflow's code runs as
 * it does on a worker, but without an isolate and without replay: a worker that dies loses nothing of a workflow.
 */
import { Slot } from '../slot.js';
import { ActivityFailure, CancelledFailure, ChildWorkflowFailure } from '@temporalio/common';
import type { ActivityOptions, WorkflowExecution } from '../workflow-execution.js';

export {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TimeoutFailure,
  type RetryPolicy,
} from '@temporalio/common';
export type { ActivityOptions };

export const executions = new Slot<WorkflowExecution>();
const updates = new Slot<{ readonly id: string; readonly name: string }>();

const execution = (): WorkflowExecution => {
  const running = executions.getStore();
  if (running === undefined) throw new Error('no workflow is running');
  return running;
};

export const ActivityCancellationType = {
  TRY_CANCEL: 'TRY_CANCEL',
  WAIT_CANCELLATION_COMPLETED: 'WAIT_CANCELLATION_COMPLETED',
  ABANDON: 'ABANDON',
} as const;

export class ContinueAsNew extends Error {
  constructor(readonly args: readonly unknown[]) {
    super('Workflow continued as new');
    this.name = 'ContinueAsNew';
  }
}

export const isCancellation = (error: unknown): boolean =>
  error instanceof CancelledFailure ||
  ((error instanceof ActivityFailure || error instanceof ChildWorkflowFailure) && isCancellation(error.cause));

/** Work that is cancelled together. */
export class CancellationScope {
  static readonly #storage = new Slot<CancellationScope>();
  readonly #onCancel = new Set<() => void>();
  readonly cancellable: boolean;
  isCancelled = false;

  constructor({ cancellable = true }: { readonly cancellable?: boolean } = {}) {
    this.cancellable = cancellable;
  }

  static current(): CancellationScope {
    return CancellationScope.#storage.getStore() ?? execution().rootScope;
  }

  static nonCancellable<T>(work: () => Promise<T>): Promise<T> {
    return new CancellationScope({ cancellable: false }).run(work);
  }

  /** A scope is cancelled with the one around it, unless it is not cancellable. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const parent = CancellationScope.current();
    const cancel = (): void => this.cancel();
    if (this.cancellable) {
      if (parent.isCancelled) this.cancel();
      else parent.#onCancel.add(cancel);
    }
    try {
      return await CancellationScope.#storage.run(this, work);
    } finally {
      parent.#onCancel.delete(cancel);
    }
  }

  get consideredCancelled(): boolean {
    return this.isCancelled;
  }

  cancel(): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    for (const told of [...this.#onCancel]) told();
  }

  /** Calls `told` when the scope is cancelled, at once if it is; returns what takes that back. */
  whenCancelled(told: () => void): () => void {
    if (this.isCancelled) told();
    else this.#onCancel.add(told);
    return () => void this.#onCancel.delete(told);
  }
}

export function proxyActivities<A>(options: ActivityOptions): A {
  return new Proxy(
    {},
    {
      get: (_, name) => (input: unknown) =>
        execution().activity(String(name), input, options, CancellationScope.current()),
    },
  ) as A;
}

export function sleep(time: string | number, _options?: object): Promise<void> {
  const milliseconds = typeof time === 'number' ? time : durationMs(time);
  const running = execution();
  const scope = CancellationScope.current();
  return new Promise((resolve, reject) => {
    if (scope.isCancelled) {
      reject(new CancelledFailure('Timer cancelled'));
      return;
    }
    const timer = running.timer(milliseconds, () => {
      forget();
      resolve();
    });
    const forget = scope.whenCancelled(() => {
      timer.cancelled = true;
      reject(new CancelledFailure('Timer cancelled'));
    });
  });
}

function durationMs(text: string): number {
  const [, number, unit] = /^([\d.]+)(ms|s)$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`sleep: ${text}`);
  return Number(number) * (unit === 's' ? 1000 : 1);
}

export function condition(holds: () => boolean, milliseconds?: number): Promise<boolean> {
  const running = execution();
  const scope = CancellationScope.current();
  return new Promise((resolve, reject) => {
    if (scope.isCancelled) {
      reject(new CancelledFailure('Condition cancelled'));
      return;
    }
    if (milliseconds === undefined && holds()) {
      resolve(true);
      return;
    }
    const end = (): void => {
      stopWaiting();
      forget();
      if (timer !== undefined) timer.cancelled = true;
    };
    const timer =
      milliseconds === undefined || milliseconds === 0
        ? undefined
        : running.timer(milliseconds, () => {
            end();
            resolve(false);
          });
    const stopWaiting = running.whenHolds(holds, () => {
      end();
      resolve(true);
    });
    const forget = scope.whenCancelled(() => {
      stopWaiting();
      if (timer !== undefined) timer.cancelled = true;
      reject(new CancelledFailure('Condition cancelled'));
    });
  });
}

export const workflowInfo = () => execution().info;
export const defineUpdate = (name: string): { readonly name: string } => ({ name });
export const defineQuery = defineUpdate;

interface HandlerOptions {
  readonly validator?: (input: unknown) => void;
}

export function setHandler(
  { name }: { readonly name: string },
  handler: (input: unknown) => unknown,
  { validator = () => undefined }: HandlerOptions = {},
): void {
  const running = execution();
  running.handlers.set(name, {
    validate: validator,
    handle: (id, input) => executions.run(running, () => updates.run({ id, name }, () => handler(input))),
  });
}

export const currentUpdateInfo = () => updates.getStore();
export const allHandlersFinished = (): boolean => execution().handlersInProgress === 0;
export const makeContinueAsNewFunc =
  () =>
  (...args: unknown[]): Promise<never> =>
    Promise.reject(new ContinueAsNew(args));
export const setCurrentDetails = (): void => undefined;
export const upsertSearchAttributes = (): void => undefined;
const say = (message: string, more?: object): void => execution().note(`${message} ${JSON.stringify(more ?? {})}`);
export const log = { info: say, warn: say, error: say };
