/** Keeps a stack up for as long as some work needs it, and ends it with all that it started, whatever ends the work. */
import { EXIT } from '../cli/command-context.js';
import { mintToken } from '../sandbox/token.js';
import { onSignals } from '../worker/on-signals.js';
import { startStack, type Stack, type StartStackInput } from './stack.js';
import { watchNpm } from './watch-npm.js';

/**
 * Starts a stack and runs `work` with it, until the work ends, a signal arrives, npm is gone or a child process dies.
 * Whichever comes first determines the exit code; a signal's is `onSignal`. If that is null, the work is told by `asked`, and
 * ends by itself. Then the stack is drained and stopped; a further signal stops it at once. `ending` is called before anything
 * is stopped.
 */
export async function withStack(
  input: Omit<StartStackInput, 'mintToken'>,
  onSignal: number | null,
  work: (stack: Stack, asked: Promise<unknown>) => Promise<number>,
  ending: () => void = () => undefined,
): Promise<number> {
  const running: { stack?: Stack } = {};
  const asked = untilAsked(() => {
    // While servers are starting nothing can be drained; what was started ends with this process.
    if (running.stack === undefined) process.exit(onSignal ?? EXIT.interrupted);
    void running.stack.stop();
  });
  const stack = await Promise.race([asked, startStack({ ...input, mintToken })]);
  if (stack === undefined) process.exit(onSignal ?? EXIT.interrupted);
  running.stack = stack;
  try {
    const signalled = onSignal === null ? [] : [asked.then(() => onSignal)];
    return await Promise.race([...signalled, stack.failed.then(() => EXIT.failed), work(stack, asked)]);
  } finally {
    ending();
    await stack.stop();
  }
}

/** Resolves at the first signal, or when npm is gone; calls `again` at each further signal. */
function untilAsked(again: () => void): Promise<undefined> {
  return new Promise((resolve) => {
    onSignals((_, isFirst) => (isFirst ? resolve(undefined) : again()), ['SIGINT', 'SIGTERM', 'SIGHUP']);
    watchNpm(() => resolve(undefined));
  });
}
