/** `npm run demo` and `npm run dev`: the whole stack on this machine, from embedded parts. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXIT, reportError } from '../cli/command-context.js';
import { createOutput } from '../cli/output.js';
import { ownEnvironment } from '../config/dev-stack.js';
import type { Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { mintToken } from '../sandbox/token.js';
import { DEMO_SYNC, EXAMPLE_CHANGE, pushDemoSchemas, runDemo } from './demo.js';
import { packageRoot } from './package-root.js';
import { attachStack, startStack, type Stack } from './stack.js';
import { childEnvironment, choicesOf, SHIPPED_MAPPINGS } from './stack-environment.js';

const FOLDER = join(packageRoot(), '.partner-sync');
const log = (line: string): void => void process.stdout.write(`${line}\n`);

const HELP = `npm run demo [-- --sql STATEMENT]   a finished, verified sync of a real shop; STATEMENT changes the shop first
npm run dev                          keeps the same stack up until Ctrl-C`;

async function demo(change: string | undefined): Promise<number> {
  const running = attachStack({ folder: FOLDER });
  if (running !== undefined) {
    log('Using the stack that "npm run dev" keeps up in this folder.');
    if (running.chosen.length > 0)
      throw new PartnerSyncError(
        'config_invalid',
        `it was started with ${running.chosen.join(', ')} of the environment, and the demo needs its own. Start it without them, or stop it.`,
      );
    const code = await runDemo({ env: workingWith(running), change });
    nextSteps(running.uiUrl, running.sandboxUrl, true);
    return code;
  }
  log('Starting PostgreSQL, Temporal, the sandbox platform and a worker on free ports of 127.0.0.1 ...');
  // The demo is about its own shop, whatever the environment names.
  return withStack(EXIT.interrupted, {}, async (stack) => {
    const code = await runDemo({ env: workingWith(stack), change });
    nextSteps(stack.uiUrl, stack.sandboxUrl, false);
    return code;
  });
}

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

/** As the stack's own processes: a token of the real platform in somebody's shell must not get to the sandbox. */
const workingWith = ({ env, uiUrl }: { env: Stack['env']; uiUrl?: string | undefined }): Env =>
  childEnvironment(env, { ownTemporal: uiUrl !== undefined });

/**
 * Works with the stack until the work, a signal or the death of one of its processes ends it; then the stack
 * is drained and stopped. A second signal stops it at once.
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

function nextSteps(uiUrl: string | undefined, sandboxUrl: string, up: boolean): void {
  const when = up ? '' : '   (up while "npm run dev" runs)';
  if (uiUrl !== undefined) log(`Temporal Web UI: ${uiUrl}${when}`);
  log(`Sandbox platform: ${sandboxUrl}${when}`);
  log('\nTry next:');
  log(`  npm run demo -- --sql "${EXAMPLE_CHANGE}"`);
  if (up) {
    log(`  npx partner-sync run ${DEMO_SYNC}                     in another terminal`);
    log(
      '  Web UI, Start Workflow: any word as Workflow ID, task queue "partner-sync", type "backfill", input (json/plain)',
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
