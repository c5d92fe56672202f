/** Starts a run, shows its progress until it ends, and prints its report. */
import type { ClientInterceptors } from '@temporalio/client';
import type { Parts } from '../../composition/parts.js';
import { EXIT_CODES, type RunInput, type RunKind, type RunReport } from '../../domain/run/run.js';
import { openTracing } from '../../observability/tracing/open-tracing.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { EXIT, type CommandContext } from '../command-context.js';
import { reportLines } from '../output/report-lines.js';
import { startRun, watchRun } from './watch-run.js';

/** What a command adds to the report of its run: fields of the document, and lines at the end. */
export interface ReportAddition {
  readonly fields: object;
  readonly lines: readonly string[];
}

/**
 * Starts the workflow, watches it to its end and returns the exit code of its outcome. The run belongs to Temporal:
 * Ctrl-C ends the watching, not the run.
 *
 * @param addition what the command says besides, once the run has ended
 */
export async function runToEnd(
  context: CommandContext<Parts>,
  kind: RunKind,
  input: RunInput,
  addition: Addition = () => Promise.resolve({ fields: {}, lines: [] }),
): Promise<number> {
  const tracing = openTracing(context.parts.env, (line) => context.output.note(line));
  try {
    return await tracedToEnd(context, kind, input, addition, tracing?.client);
  } finally {
    await tracing?.close();
  }
}

/** Starts the workflow and leaves: it is Temporal's, and goes on without the command. */
export async function detachedRun(
  { parts, output }: CommandContext<Parts>,
  kind: RunKind,
  input: RunInput,
): Promise<number> {
  const temporal = await connectTemporal(parts.env);
  try {
    const { workflowId } = await startRun(temporal, kind, input);
    output.result({ sync: input.sync, workflowId }, () => [
      `started workflow ${workflowId}`,
      `watch it: partner-sync status ${input.sync} --follow`,
    ]);
    return EXIT.done;
  } finally {
    await temporal.close();
  }
}

type Addition = (report: RunReport) => Promise<ReportAddition>;

async function tracedToEnd(
  { parts, output }: CommandContext<Parts>,
  kind: RunKind,
  input: RunInput,
  addition: Addition,
  tracing: ClientInterceptors | undefined,
): Promise<number> {
  const temporal = await connectTemporal(parts.env, undefined, tracing);
  const leaveRunning = (): void => {
    output.note(
      `left running: partner-sync status ${input.sync} --follow shows how it goes on, and partner-sync stop ${input.sync} ends it`,
    );
    process.exit(EXIT.interrupted);
  };
  process.once('SIGINT', leaveRunning);
  try {
    const { workflowId, report } = await watchRun(parts, temporal, kind, input, output);
    const { fields, lines } = await addition(report);
    output.result({ ...report, workflowId, ...fields }, () => ['', ...reportLines(report), ...lines]);
    return EXIT_CODES[report.outcome];
  } finally {
    process.off('SIGINT', leaveRunning);
    await temporal.close();
  }
}
