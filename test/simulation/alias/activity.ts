/** Stands in for @temporalio/activity. */
import { Slot } from '../slot.js';
import { current } from '../simulation.js';

export interface ActivityInfo {
  readonly activityType: string;
  readonly attempt: number;
  readonly taskQueue: string;
  readonly heartbeatDetails: unknown;
  readonly workflowExecution: { readonly workflowId: string; readonly runId: string };
}

/** What an activity can ask about itself. */
export class Context {
  static readonly storage = new Slot<Context>();

  constructor(
    readonly info: ActivityInfo,
    readonly cancellationSignal: AbortSignal,
    readonly heartbeat: (details?: unknown) => void,
  ) {}

  static current(): Context {
    const context = Context.storage.getStore();
    if (context === undefined) throw new Error('no activity is running');
    return context;
  }
}

export const activityInfo = (): ActivityInfo => Context.current().info;

export const getClient = (): unknown => current().temporal.client;

const say = (level: string) => (message: string, more?: object) =>
  current().note(`log ${level}: ${message}${more === undefined ? '' : ` ${JSON.stringify(more)}`}`);

export const log = {
  info: say('info'),
  warn: say('warn'),
  error: say('error'),
  debug: () => undefined,
  trace: () => undefined,
};
