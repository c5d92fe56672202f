/**
 * What every command shares: the parts that it works with, its output, and how its result or error becomes an exit
 * code.
 */
import { setDefaultResultOrder } from 'node:dns';
import type { Command } from 'commander';
import type { WorkerParts } from '../composition/compose-worker.js';
import type { CommonParts, Parts, ViewParts } from '../composition/parts.js';
import { readVariable, requireVariable, type Env } from '../config/environment.js';
import { findEnvironment } from '../config/dev-stack.js';
import { setEngineFlags } from '../config/engine-flags.js';
import { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import { withoutPasswords } from '../domain/values/without-passwords.js';
import { actAs } from './actor.js';
import { EXIT } from './exit-codes.js';
import { createOutput, type Output } from './output/output.js';
import { printable } from './output/text-table.js';

export { EXIT, EXIT_HELP } from './exit-codes.js';

/** What a command's work receives. */
export interface CommandContext<P extends CommonParts = Parts> {
  readonly parts: P;
  readonly output: Output;
}

/**
 * Errors that the caller corrects on this machine, in a command line, a file or a variable; all others exit with 1. An
 * unreachable Temporal server is among them, as its code is `config_invalid`.
 */
const USAGE_ERRORS: readonly ErrorCode[] = [
  'config_invalid',
  'driver_missing',
  'input_invalid',
  'other_platform',
  'package_missing',
];

/** A command's own work: it gets the context, commander's arguments and the options, and returns the exit code. */
type Work<P extends CommonParts, A extends unknown[], O> = (
  context: CommandContext<P>,
  ...args: [...A, O]
) => Promise<number>;
/** What commander calls: the arguments, the options, and last the command itself. */
type Action<A extends unknown[], O> = (...args: [...A, O, Command]) => Promise<void>;

/** Loaded only when a command runs, so that `--help` and `--version` do not wait for databases and drivers. */
const composing = () => import('../composition/compose.js');

/**
 * Makes a commander action of a command that may write to the ledger or the platform: opening the ledger creates or
 * upgrades its tables. The parts are closed and the exit code is set whether the work succeeds or throws.
 */
export const withParts = <A extends unknown[], O extends { json?: boolean }>(work: Work<Parts, A, O>): Action<A, O> =>
  withOpened(async (env, output) => (await composing()).compose(env, { warn: (line) => output.note(line) }), work);

/**
 * Like {@link withParts}, for the worker: it reads rows in a thread, and what it warns of goes to its log instead of stderr.
 */
export const withWorkerParts = <A extends unknown[], O extends { json?: boolean }>(
  work: Work<WorkerParts, A, O>,
): Action<A, O> =>
  withOpened(async (env) => {
    setEngineFlags();
    return (await import('../composition/compose-worker.js')).composeWorker(env, await warnings(env));
  }, work);

/**
 * Like {@link withParts}, for commands that write neither to the ledger nor to the platform, though perhaps files:
 * their parts have no way to write there, and a missing ledger stays missing.
 */
export const withViewParts = <A extends unknown[], O extends { json?: boolean }>(
  work: Work<ViewParts, A, O>,
): Action<A, O> =>
  withOpened(async (env, output) => (await composing()).composeView(env, { warn: (line) => output.note(line) }), work);

/**
 * Opens the parts with `open`, runs `work` and closes them. Sets `process.exitCode` rather than calling `process.exit`,
 * which could cut off output that is still being written to a pipe.
 */
function withOpened<P extends CommonParts, A extends unknown[], O extends { json?: boolean }>(
  open: (env: Env, output: Output) => Promise<P>,
  work: Work<P, A, O>,
): Action<A, O> {
  return async (...given) => {
    // Commander passes the command itself as the last argument, which no command needs.
    const args = given.slice(0, -1) as [...A, O];
    const options = args.at(-1) as O;
    const output = createOutput(options.json === true);
    let parts: P | undefined;
    const { env, devStack, devStackIsDown, notInWorker } = findEnvironment(process.cwd(), process.env);
    try {
      setDefaultResultOrder('ipv4first');
      if (devStack) output.note('using the dev stack of this folder (.partner-sync/dev.env)');
      if (notInWorker.length > 0)
        output.note(
          `warning: ${notInWorker.join(', ')} as set here: this command uses it, but the worker that is up does not. ` +
            'Start the stack again with the same values to run syncs with them.',
        );
      actAs(await readVariable(env, 'PARTNER_SYNC_ACTOR'));
      parts = await open(env, output);
      process.exitCode = await work({ parts, output }, ...args);
    } catch (error) {
      process.exitCode = reportError(output, error);
      if (devStackIsDown && error instanceof PartnerSyncError && error.code === 'config_invalid')
        output.note('  The servers of this folder are down: npx partner-sync dev starts them.');
    } finally {
      await parts?.close();
    }
  };
}

/** Warnings go to the worker's log. Pino is loaded here only: other commands write plain lines. */
async function warnings(env: Env): Promise<(message: string) => void> {
  const { createLogger } = await import('../observability/log.js');
  const log = createLogger(await requireVariable(env, 'PARTNER_SYNC_LOG_LEVEL'));
  return (message) => log.warn(message);
}

/** The command that tells more about a code of `explain-code`: of an error, or the kind of a finding. */
export const explainCommand = (code: string): string => `partner-sync explain-code ${code}`;

/**
 * Reports an error on stderr with its remedy, and with --json as a document on stdout too; returns the exit code. An
 * error without a code is unforeseen: it may quote an address, so passwords are removed from its text.
 */
export function reportError(output: Output, error: unknown): number {
  if (!(error instanceof PartnerSyncError)) {
    const message = withoutPasswords(error instanceof Error ? error.message : String(error));
    if (output.json) output.result({ error: { code: 'unexpected', message } }, () => []);
    output.note(`error unexpected: ${printable(message)}`);
    return EXIT.failed;
  }
  const { remedy } = ERROR_CATALOGUE[error.code];
  if (output.json) output.result({ error: { code: error.code, message: error.message, remedy } }, () => []);
  output.note(
    `error ${error.code}: ${error.message.split('\n').map(printable).join('\n')}\n  ${remedy}\n  more: ${explainCommand(error.code)}`,
  );
  return USAGE_ERRORS.includes(error.code) ? EXIT.usage : EXIT.failed;
}
