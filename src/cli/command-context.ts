/** What every command is given, and how its end becomes an exit code. */
import type { Command } from 'commander';
import type { LookingParts, Parts, ViewParts } from '../compose.js';
import { requireVariable, type Env } from '../config/environment.js';
import { findEnvironment } from '../config/dev-stack.js';
import { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import { withoutPasswords } from '../domain/without-passwords.js';
import { createOutput, type Output } from './output.js';
import { printable } from './table.js';

export interface CommandContext<P extends ViewParts = Parts> {
  readonly parts: P;
  readonly output: Output;
}

/** Documented in --help and README; tests hold them against each other. */
export const EXIT = { done: 0, failed: 1, usage: 2, deadLetters: 3, interrupted: 130 } as const;

export const EXIT_HELP = `
Exit codes: 0 done and complete; 1 failed, wrong, or incomplete; 2 wrong usage or configuration;
            3 complete with dead letters; 130 interrupted`;

const USAGE_ERRORS: readonly ErrorCode[] = ['config_invalid', 'input_invalid'];

type Work<P extends ViewParts, A extends unknown[], O> = (
  context: CommandContext<P>,
  ...args: [...A, O]
) => Promise<number>;
type Action<A extends unknown[], O> = (...args: [...A, O, Command]) => Promise<void>;

/** Loaded by commands that do something: whoever asks for help or the version need not wait for databases and drivers. */
const composing = () => import('../compose.js');

/** Makes a commander action: opens the parts, closes them whatever happens, sets the exit code. */
export const action = <A extends unknown[], O extends { json?: boolean }>(work: Work<Parts, A, O>): Action<A, O> =>
  actionWith(async (env, output) => (await composing()).compose(env, { notice: (line) => output.note(line) }), work);

/** The same for the worker, whose words go into its log. */
export const working = <A extends unknown[], O extends { json?: boolean }>(work: Work<Parts, A, O>): Action<A, O> =>
  actionWith(async (env) => (await composing()).composeWorker(env, await warnings(env)), work);

/** The same for commands that only look: their parts cannot write. */
export const look = <A extends unknown[], O extends { json?: boolean }>(work: Work<LookingParts, A, O>): Action<A, O> =>
  actionWith(
    async (env, output) => (await composing()).composeView(env, { notice: (line) => output.note(line) }),
    work,
  );

function actionWith<P extends ViewParts, A extends unknown[], O extends { json?: boolean }>(
  open: (env: Env, output: Output) => Promise<P>,
  work: Work<P, A, O>,
): Action<A, O> {
  return async (...given) => {
    const args = given.slice(0, -1) as [...A, O];
    const options = args.at(-1) as O;
    const output = createOutput(options.json === true);
    let parts: P | undefined;
    try {
      const { env, devStack } = findEnvironment(process.cwd(), process.env);
      if (devStack) output.note('using the dev stack of this folder (.partner-sync/dev.env)');
      parts = await open(env, output);
      process.exitCode = await work({ parts, output }, ...args);
    } catch (error) {
      process.exitCode = reportError(output, error);
    } finally {
      await parts?.close();
    }
  };
}

async function warnings(env: Env): Promise<(message: string) => void> {
  const { createLogger } = await import('../observability/log.js');
  const log = createLogger(await requireVariable(env, 'PARTNER_SYNC_LOG_LEVEL'));
  return (message) => log.warn(message);
}

/** Says what went wrong and what to do, in one place. */
export function reportError(output: Output, error: unknown): number {
  if (!(error instanceof PartnerSyncError)) {
    const message = withoutPasswords(error instanceof Error ? error.message : String(error));
    if (output.json) output.result({ error: { code: 'unexpected', message } }, () => []);
    output.note(`error unexpected: ${printable(message)}`);
    return EXIT.failed;
  }
  const { remedy } = ERROR_CATALOGUE[error.code];
  if (output.json) output.result({ error: { code: error.code, message: error.message, remedy } }, () => []);
  output.note(`error ${error.code}: ${error.message.split('\n').map(printable).join('\n')}\n  ${remedy}`);
  return USAGE_ERRORS.includes(error.code) ? EXIT.usage : EXIT.failed;
}
