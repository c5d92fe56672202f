/** Starts and stops the whole stack for `demo` and `dev`: PostgreSQL, Temporal, the sandbox and a worker. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Env } from '../config/environment.js';
import { ENGINE_OPTIONS } from '../config/engine-flags.js';
import { startManagedProcess, type ManagedProcess, type ManagedProcessInput } from './managed-process.js';
import { packageRoot } from '../config/package-root.js';
import { moveSandbox } from './move-sandbox.js';
import { rememberedPorts } from './ports.js';
import { makeStackFolder, publishStack, refuseSecondOwner, withdrawStack } from './stack-folder.js';
import { childEnvironment, sandboxFixture, stackEnvironment, type MintToken } from './stack-environment.js';
import { startServers, type StackServers } from './stack-servers.js';
import { isWorkerPolling } from './is-worker-polling.js';
import { milliseconds, times } from '../domain/timeouts.js';

/** How to run the stack. */
export interface StartStackInput {
  /** `<project>/.partner-sync`, which contains everything that the stack stores. */
  readonly folder: string;
  readonly log: (line: string) => void;
  /** Whether to start a worker now; it needs at least one sync. Otherwise `startWorker` does it later. */
  readonly worker: boolean;
  /** Whether to load the demo's shop and to let SOURCE_URL name it. */
  readonly shop: boolean;
  /** Whether change feeds can be installed in the shop's database. */
  readonly changeFeeds?: boolean;
  /** Absolute path of the mappings folder. */
  readonly mappings: string;
  /** The variables of the user, which the processes get unless they point elsewhere. */
  readonly own: Env;
  /** `mintToken` of src/sandbox/token.ts. It is passed in because src/embedded knows the sandbox only as a process. */
  readonly mintToken: MintToken;
  /** Overrides of the stack's own variables, from `choicesOf`. */
  readonly choices?: Readonly<Record<string, string>>;
  /** The command line of the child processes. Default: this package's own. */
  readonly cli?: readonly [string, ...string[]];
}

/** A running stack. */
export interface Stack {
  /** The variables for state, source, platform and Temporal. */
  readonly env: Readonly<Record<string, string>>;
  /** What the processes run with: these variables and those of the user. */
  readonly processEnv: Env;
  readonly sandboxUrl: string;
  /** The sandbox's database. */
  readonly sandboxStateUrl: string;
  readonly temporalAddress: string;
  readonly uiUrl: string | undefined;
  readonly sandbox: ManagedProcess;
  readonly worker: ManagedProcess | undefined;
  /** Starts the worker unless the stack has one already. */
  startWorker(): Promise<void>;
  /**
   * Takes over other variables of the user: if anything changes for the processes, the worker is drained and started again with
   * them. Returns whether it was.
   */
  renewEnvironment(own: Env): Promise<boolean>;
  /** Resolves with a message when a child process ends unexpectedly; never rejects. */
  readonly failed: Promise<string>;
  /** Drains the worker, then stops the rest. A second call kills the child processes at once. */
  stop(): Promise<void>;
}

/**
 * Starts everything in order and publishes the stack for other commands. If a part fails, what was started is
 * stopped and the failure is thrown.
 */
export async function startStack(input: StartStackInput): Promise<Stack> {
  const { folder, log, own } = input;
  refuseSecondOwner(folder);
  makeStackFolder(folder);
  const servers = await startServers(input);
  const children: { sandbox?: ManagedProcess; worker?: ManagedProcess } = {};
  const stop = stopper(folder, servers, children, log);
  try {
    const { sandbox: port } = await rememberedPorts(join(folder, 'ports.json'), ['sandbox']);
    const sandboxUrl = `http://127.0.0.1:${port}`;
    const env = await stackEnvironment(input, servers, sandboxUrl);
    await moveSandbox(env['PARTNER_SYNC_STATE_URL']!, sandboxUrl);
    const cli = input.cli ?? [
      process.execPath,
      ...ENGINE_OPTIONS,
      join(packageRoot(), 'dist', 'src', 'cli', 'main.js'),
    ];
    const death = firstDeath(log);
    const envWith = (variables: Env) =>
      childEnvironment(variables, env, { ownTemporal: servers.temporal !== undefined });
    const processEnv = envWith(own);
    const shared: ChildOptions = { env: processEnv, cwd: folder, folder, log, onDeath: death.report };
    const sandboxStateUrl = servers.postgres.url('sandbox');
    const fixture = sandboxFixture(folder, env['PLATFORM_TENANT']);
    const sandbox = await startManagedProcess({
      ...shared,
      name: 'sandbox',
      command: [...cli, 'sandbox', '--port', String(port), '--fixture', fixture],
      // In the environment, because an argument would show the password in the list of processes.
      env: { ...shared.env, SANDBOX_STATE_URL: sandboxStateUrl },
      isReady: async () => (await fetch(`${sandboxUrl}/health`)).ok,
      drainMs: milliseconds('stackSandboxDrain'),
    });
    children.sandbox = sandbox;
    log(`The sandbox is up: ${sandboxUrl}`);
    let starting: Promise<void> | undefined;
    const startWorker = (): Promise<void> =>
      (starting ??= startManagedProcess({
        ...shared,
        name: 'worker',
        command: [...cli, 'worker'],
        onDeath: restarter(() => children.worker, shared),
        isReady: (started) => isWorkerPolling({ ...servers, taskQueue: env['PARTNER_SYNC_TASK_QUEUE']!, ...started }),
        drainMs: milliseconds('stackWorkerDrain'),
      }).then((worker) => {
        children.worker = worker;
        log('The worker is up');
      }));
    if (input.worker) await startWorker();
    const { temporalAddress, temporal } = servers;
    const facts = { sandboxUrl, temporalAddress, ...(temporal && { uiUrl: temporal.uiUrl }) };
    const serverPids = [servers.postgres.pid, ...(temporal ? [temporal.pid] : [])];
    // The shop's owner, for the demo's example changes; the child processes do not receive it.
    const published = { ...env, ...(input.shop && { DEMO_SHOP_URL: servers.postgres.url('shop') }) };
    publishStack(
      folder,
      {
        ownerPid: process.pid,
        serverPids,
        ...facts,
        startedAt: new Date().toISOString(),
        chosen: Object.keys(input.choices ?? {}),
      },
      published,
    );
    return {
      env: published,
      processEnv,
      sandboxUrl,
      sandboxStateUrl,
      temporalAddress,
      uiUrl: temporal?.uiUrl,
      failed: death.message,
      stop,
      sandbox,
      get worker() {
        return children.worker;
      },
      startWorker,
      async renewEnvironment(variables) {
        const renewed = envWith(variables);
        if (isDeepStrictEqual(renewed, processEnv)) return false;
        // The same object, which those have who work with the stack.
        for (const name of Object.keys(processEnv)) delete processEnv[name];
        Object.assign(processEnv, renewed);
        if (children.worker === undefined) return false;
        await children.worker.restart();
        return true;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What all child processes of the stack have in common. */
type ChildOptions = Pick<ManagedProcessInput, 'env' | 'cwd' | 'folder' | 'log' | 'onDeath'>;

/** `message` resolves with the first message that is given to `report`, which logs all of them. */
function firstDeath(log: (line: string) => void) {
  let resolve: (message: string) => void = () => undefined;
  const message = new Promise<string>((resolved) => (resolve = resolved));
  const report = (text: string): void => {
    log(text);
    resolve(text);
  };
  return { message, report };
}

/**
 * What to do when the worker has died: start it again, a few times. Its death costs only time, since its successor
 * resumes from the ledger.
 */
function restarter(worker: () => ManagedProcess | undefined, { log, onDeath }: ChildOptions) {
  let restarts = 0;
  return (message: string): void => {
    if (++restarts > times('workerRestarts')) return onDeath(message);
    log(`${message.split('\n')[0]} Starting it again ...`);
    worker()
      ?.restart()
      .then(
        () => log('The worker is up again'),
        (error: unknown) => onDeath(error instanceof Error ? error.message : String(error)),
      );
  };
}

/**
 * Creates `stop`, which ends the parts before the servers that they depend on. A second call does not wait for the
 * drain.
 */
function stopper(
  folder: string,
  { postgres, temporal }: StackServers,
  children: { readonly sandbox?: ManagedProcess; readonly worker?: ManagedProcess },
  log: (line: string) => void,
): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const inOrder = async (): Promise<void> => {
    if (children.worker !== undefined) log('Draining the worker ...');
    await children.worker?.stop();
    await children.sandbox?.stop();
    await temporal?.stop();
    await postgres.stop();
    withdrawStack(folder);
  };
  return () => {
    if (stopping === undefined) {
      stopping = inOrder();
      return stopping;
    }
    log('Stopping at once');
    void children.worker?.kill();
    void children.sandbox?.kill();
    return stopping;
  };
}
