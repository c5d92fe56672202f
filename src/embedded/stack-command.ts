/** The commands `npm run demo` and `npm run dev`, which run the whole stack on this machine from embedded servers. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXIT, reportError } from '../cli/command-context.js';
import { createOutput } from '../cli/output/output.js';
import { ownEnvironment } from '../config/dev-stack.js';
import type { Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { mintToken } from '../sandbox/token.js';
import { DEMO_SYNC, EXAMPLE_CHANGE, pushDemoSchemas, runDemo } from './demo.js';
import { packageRoot } from '../config/package-root.js';
import { startStack, type Stack } from './stack.js';
import { childEnvironment, choicesOf, SHIPPED_MAPPINGS } from './stack-environment.js';
import { attachStack } from './stack-folder.js';

const FOLDER = join(packageRoot(), '.partner-sync');
const log = (line: string): void => void process.stdout.write(`${line}\n`);

const HELP = `npm run demo [-- --sql STATEMENT]   syncs a real shop and verifies the result; STATEMENT changes the shop first
npm run dev                          keeps the same stack up until Ctrl-C`;

/**
 * Runs the demo on the stack that `npm run dev` keeps up, or on one of its own that is stopped afterwards. Returns the
 * exit code.
 */
async function demo(change: string | undefined): Promise<number> {
  const running = attachStack({ folder: FOLDER });
  if (running !== undefined) {
    log('Using the stack that "npm run dev" keeps up in this folder.');
    if (running.chosen.length > 0)
      throw new PartnerSyncError(
        'config_invalid',
        `the stack was started with ${running.chosen.join(', ')} from the environment, but the demo needs its own values. Restart the stack without them, or stop it.`,
      );
    const code = await runDemo({ env: workingWith(running), change });
    nextSteps(running.uiUrl, running.sandboxUrl, true);
    return code;
  }
  log('Starting PostgreSQL, Temporal, the sandbox platform and a worker on free ports of 127.0.0.1 ...');
  // No choices from the environment: the demo always uses its own shop.
  return withStack(EXIT.interrupted, {}, async (stack) => {
    const code = await runDemo({ env: workingWith(stack), change });
    nextSteps(stack.uiUrl, stack.sandboxUrl, false);
    return code;
  });
}

/** Keeps a stack up until a signal arrives; variables of the environment may override its choices. */
async function dev(): Promise<number> {
  const choices = choicesOf(ownEnvironment(process.cwd(), process.env));
  log('Starting PostgreSQL, Temporal, the sandbox platform and a worker on free ports of 127.0.0.1 ...');
  if (Object.keys(choices).length > 0) log(`From the environment: ${Object.keys(choices).join(', ')}`);
  return withStack(EXIT.done, choices, async (stack) => {
    await pushDemoSchemas({ ...workingWith(stack), PARTNER_SYNC_MAPPINGS: SHIPPED_MAPPINGS });
    log('');
    nextSteps(stack.uiUrl, stack.sandboxUrl, true);
    log('\nThe stack is up. Ctrl-C drains and stops it; a second Ctrl-C stops it at once.');
    return new Promise(() => undefined);
  });
}

/**
 * The environment of the stack's own processes. A token of the real platform in the user's shell must not reach the
 * sandbox.
 */
const workingWith = ({ env, uiUrl }: { env: Stack['env']; uiUrl?: string | undefined }): Env =>
  childEnvironment(env, { ownTemporal: uiUrl !== undefined });

/**
 * Starts a stack and runs `work` with it, until the work ends, a signal arrives or a child process dies. Whichever comes
 * first determines the exit code. Then the stack is drained and stopped; a second signal stops it immediately.
 */
async function withStack(
  onSignal: number,
  choices: Readonly<Record<string, string>>,
  work: (stack: Stack) => Promise<number>,
): Promise<number> {
  const starting = startStack({ folder: FOLDER, log, processes: ['sandbox', 'worker'], mintToken, choices });
  const signalled = new Promise<number>((resolve) => {
    let signals = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        if (++signals === 1) resolve(onSignal);
        else void starting.then((stack) => stack.stop());
      });
  });
  const stack = await starting;
  try {
    return await Promise.race([signalled, stack.failed.then(() => EXIT.failed), work(stack)]);
  } finally {
    await stack.stop();
  }
}

/** Prints addresses and commands to try; `up` says whether the stack stays up. */
function nextSteps(uiUrl: string | undefined, sandboxUrl: string, up: boolean): void {
  const when = up ? '' : '   (up while "npm run dev" runs)';
  if (uiUrl !== undefined) log(`Temporal Web UI: ${uiUrl}${when}`);
  log(`Sandbox platform: ${sandboxUrl}${when}`);
  log('\nTry next:');
  log(`  npm run demo -- --sql "${EXAMPLE_CHANGE}"`);
  if (up) {
    log(`  npx partner-sync run ${DEMO_SYNC}                     in another terminal`);
    log(
      '  Web UI, Start Workflow: any text as Workflow ID, task queue "partner-sync", type "backfill", input (json/plain)',
    );
    log(`  {"sync":"${DEMO_SYNC}","mapping":"customers","externalIds":["17850"]}`);
  } else log('  npm run dev                                keeps the same stack up, with the Web UI');
}

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { sql: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  const command = positionals[0];
  if (values.help || (command !== 'demo' && command !== 'dev')) {
    log(HELP);
    process.exitCode = values.help ? EXIT.done : EXIT.usage;
  } else process.exitCode = command === 'demo' ? await demo(values.sql) : await dev();
} catch (error) {
  process.exitCode = reportError(createOutput(false), error);
}
