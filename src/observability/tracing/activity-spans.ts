/** What the span of an activity says about its work: which sync, mapping and run, and with which code it failed. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ApplicationFailure } from '@temporalio/common';
import { ATTRIBUTES } from './span-attributes.js';
import type { Api } from './trace-packages.js';

/** Belongs after Temporal's own interceptor, which begins the span. */
export const describeActivities =
  ({ trace }: Api): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const span = trace.getActiveSpan();
        span?.setAttributes({ ...namesIn(input.args[0]), [ATTRIBUTES.attempt]: info.attempt });
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof ApplicationFailure && error.type) span?.setAttribute(ATTRIBUTES.error, error.type);
          throw error;
        }
      },
    },
  });

/** The names in an activity's input that a span may have. */
function namesIn(input: unknown): Record<string, string> {
  if (typeof input !== 'object' || input === null) return {};
  const { sync, mapping, runId } = input as Record<string, unknown>;
  const given = { [ATTRIBUTES.sync]: sync, [ATTRIBUTES.mapping]: mapping, [ATTRIBUTES.runId]: runId };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
