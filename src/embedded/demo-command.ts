/** `partner-sync demo`: syncs the demo's shop on a stack of its own, or in a clone on the one that `dev` keeps up. */
import { EXIT } from '../cli/command-context.js';
import { PartnerSyncError } from '../domain/errors.js';
import { DEMO_SYNC, EXAMPLE_CHANGE, runDemo } from './demo.js';
import { providePostgres } from './postgres-package.js';
import { demoFolder, inClone } from './project.js';
import { childEnvironment, SHIPPED_MAPPINGS } from './stack-environment.js';
import { attachStack } from './stack-folder.js';
import { withStack } from './with-stack.js';

const log = (line: string): void => void process.stdout.write(`${line}\n`);

/** What the command was given. */
export interface DemoFlags {
  /** An SQL statement that changes the shop first. */
  readonly sql?: string;
  /** Whether to follow the shop's change feed, instead of one run. */
  readonly live?: boolean;
  /** Whether the live demo changes rows itself, and ends when the changes have arrived. */
  readonly edit?: boolean;
  /** Whether to install the embedded PostgreSQL without asking. */
  readonly install?: boolean;
}

/** Runs the demo and returns the exit code. */
export async function demo({ sql, install = false }: DemoFlags): Promise<number> {
  const folder = demoFolder();
  const running = attachStack({ folder });
  if (running !== undefined) {
    if (running.chosen.length > 0)
      throw new PartnerSyncError(
        'config_invalid',
        `the stack was started with ${running.chosen.join(', ')} from the environment, but the demo needs its own values. Restart the stack without them, or stop it.`,
      );
    log('Using the stack that is up in this folder.');
    const ownTemporal = running.uiUrl !== undefined;
    const code = await runDemo({ env: childEnvironment(process.env, running.env, { ownTemporal }), change: sql });
    nextSteps(running.uiUrl, running.sandboxUrl, true);
    return code;
  }
  await providePostgres(install);
  log('Starting PostgreSQL, Temporal, the sandbox platform and a worker on free ports of 127.0.0.1 ...');
  // No choices from the environment: the demo always uses its own shop.
  const input = { folder, log, worker: true, shop: true, mappings: SHIPPED_MAPPINGS, own: process.env };
  return withStack(input, EXIT.interrupted, async (stack) => {
    const code = await runDemo({ env: { ...stack.processEnv, ...stack.env }, change: sql });
    nextSteps(stack.uiUrl, stack.sandboxUrl, false);
    return code;
  });
}

/** Prints addresses and commands to try; `up` says whether the stack stays up. */
function nextSteps(uiUrl: string | undefined, sandboxUrl: string, up: boolean): void {
  const npm = inClone();
  const when = up ? '' : '   (up while the demo runs)';
  if (uiUrl !== undefined) log(`Temporal Web UI: ${uiUrl}${when}`);
  log(`Sandbox platform: ${sandboxUrl}${when}`);
  log('\nTry next:');
  log(`  ${npm ? 'npm run demo --' : 'npx partner-sync demo'} --sql "${EXAMPLE_CHANGE}"`);
  if (up) log(`  npx partner-sync run ${DEMO_SYNC}`);
  else if (npm) log('  npm run dev                                keeps the same stack up, with the Web UI');
  else log('  npx partner-sync dev                       keeps such a stack up for your own syncs');
}
