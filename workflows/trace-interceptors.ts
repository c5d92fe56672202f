/**
 * Makes runs part of a trace. This module is only in the bundle of workers whose traces are on, and changes nothing that a
 * history could show: such workers and others may carry out the same run in turn.
 */
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import {
  OpenTelemetryInboundInterceptor,
  OpenTelemetryInternalsInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import type { WorkflowExecuteInput, WorkflowInterceptorsFactory } from '@temporalio/workflow';

export const interceptors: WorkflowInterceptorsFactory = () => {
  const inbound = new OpenTelemetryInboundInterceptor();
  const outbound = new OpenTelemetryOutboundInterceptor();
  let ofRun = ROOT_CONTEXT;
  return {
    inbound: [
      {
        execute: (input, next) =>
          undelayed(
            (traced: WorkflowExecuteInput) => {
              ofRun = context.active();
              describe(input.args[0]);
              return next(traced);
            },
            inbound.execute.bind(inbound, input),
          ),
        // What an Update makes a run do belongs to the run's trace.
        handleUpdate: (input, next) => context.with(ofRun, () => next(input)),
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => undelayed(next, outbound.scheduleActivity.bind(outbound, input)),
        continueAsNew: (input, next) => undelayed(next, outbound.continueAsNew.bind(outbound, input)),
      },
    ],
    internals: [new OpenTelemetryInternalsInterceptor()],
  };
};

/**
 * The result of `next` itself, which a traced call passes on some microtasks later. That could change the order in which a
 * workflow goes on after an activity and a timer that end together, and so the order of its commands.
 */
function undelayed<Input, Result>(
  next: (input: Input) => Promise<Result>,
  traced: (next: (input: Input) => Promise<Result>) => Promise<unknown>,
): Promise<Result> {
  let result: Promise<Result> | undefined;
  const passedOn = traced((input) => (result = next(input)));
  passedOn.catch(() => undefined);
  return result ?? (passedOn as Promise<Result>);
}

/** Says in the run's span which sync it is about. */
function describe(input: unknown): void {
  const { sync } = (input ?? {}) as { sync?: unknown };
  if (typeof sync === 'string') trace.getActiveSpan()?.setAttribute('partner_sync.sync', sync);
}
