/** The whole stack on one machine, for `demo` and `dev`: PostgreSQL, Temporal, sandbox, worker. */
import { join } from 'node:path';
import { ENGINE_OPTIONS } from '../worker/engine-flags.js';
import { startManagedProcess, type ManagedProcess } from './managed-process.js';
import { packageRoot } from './package-root.js';
import { rememberedPorts } from './ports.js';
import { makeStackFolder, publishStack, refuseSecondOwner, withdrawStack } from './stack-folder.js';
import { childEnvironment, sandboxFixture, stackEnvironment, type MintToken } from './stack-environment.js';
import { startServers, type StackServers } from './stack-servers.js';
import { workerPolls } from './worker-polls.js';
export { attachStack, type AttachedStack, type StackFacts } from './stack-folder.js';

export interface StartStackInput {
  /** `<project>/.partner-sync`; all that the stack keeps is in it. */
  readonly folder: string;
  readonly log: (line: string) => void;
  /** Which child processes to run beside the servers. */
  readonly processes: readonly ('sandbox' | 'worker')[];
  /** `mintToken` of src/sandbox/token.ts, handed in: this folder knows the sandbox as a process only. */
  readonly mintToken: MintToken;
  /** Values that stand over the stack's own, from `choicesOf` the environment. */
  readonly choices?: Readonly<Record<string, string>>;
  /** Search attributes of the workflows, name to type. */
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** Default: this package's own command line. */
  readonly cli?: readonly [string, ...string[]];
}

export interface Stack {
  /** What the child processes run with: state, source, platform, Temporal. */
  readonly env: Readonly<Record<string, string>>;
  readonly sandboxUrl: string;
  readonly temporalAddress: string;
  readonly uiUrl: string | undefined;
  readonly sandbox: ManagedProcess | undefined;
  readonly worker: ManagedProcess | undefined;
  restartWorker(): Promise<void>;
  /** Resolves with a message when a child process ends by itself; never rejects. */
  readonly failed: Promise<string>;
  /** Drains the worker, then stops the rest; called a second time it kills at once. */
  stop(): Promise<void>;
}

const WORKER_DRAIN_MS = 60_000;
/** A worker that dies more often than this has a reason that starting it again does not mend. */
const WORKER_RESTARTS = 10;

export async function startStack(input: StartStackInput): Promise<Stack> {
  const { folder, log, processes } = input;
  refuseSecondOwner(folder);
  makeStackFolder(folder);
  const servers = await startServers(input);
  const children: { sandbox?: ManagedProcess; worker?: ManagedProcess } = {};
  const stop = stopper(folder, servers, children, log);
  try {
    const { sandbox: port } = await rememberedPorts(join(folder, 'ports.json'), ['sandbox']);
    const sandboxUrl = `http://127.0.0.1:${port}`;
    const env = await stackEnvironment(input, servers, sandboxUrl);
    const cli = input.cli ?? [
      process.execPath,
      ...ENGINE_OPTIONS,
      join(packageRoot(), 'dist', 'src', 'cli', 'main.js'),
    ];
    let fail: (message: string) => void = () => undefined;
    const failed = new Promise<string>((resolve) => (fail = resolve));
    const onDeath = (message: string): void => {
      log(message);
      fail(message);
    };
    // A worker that is killed costs nothing but time: its successor resumes from the ledger.
    let restarts = 0;
    const onWorkerDeath = (message: string): void => {
      if (++restarts > WORKER_RESTARTS) return onDeath(message);
      log(`${message.split('\n')[0]} Starting it again ...`);
      children.worker?.restart().then(
        () => log('The worker is up again'),
        (error: unknown) => onDeath(error instanceof Error ? error.message : String(error)),
      );
    };
    const told = childEnvironment(env, { ownTemporal: servers.temporal !== undefined });
    const shared = { env: told, cwd: folder, folder, log, onDeath, readyWithinMs: 60_000 };
    if (processes.includes('sandbox')) {
      const fixture = sandboxFixture(folder, env['PLATFORM_TENANT']);
      children.sandbox = await startManagedProcess({
        ...shared,
        name: 'sandbox',
        command: [...cli, 'sandbox', '--port', String(port), '--fixture', fixture],
        // Not as an argument: the password would show in the list of processes.
        env: { ...shared.env, SANDBOX_STATE_URL: servers.postgres.url('sandbox') },
        isReady: async () => (await fetch(`${sandboxUrl}/health`)).ok,
        drainMs: 10_000,
      });
      log(`The sandbox is up: ${sandboxUrl}`);
    }
    if (processes.includes('worker')) {
      children.worker = await startManagedProcess({
        ...shared,
        name: 'worker',
        command: [...cli, 'worker'],
        onDeath: onWorkerDeath,
        isReady: (started) => workerPolls({ ...servers, taskQueue: env['PARTNER_SYNC_TASK_QUEUE']!, ...started }),
        drainMs: WORKER_DRAIN_MS,
      });
      log('The worker is up');
    }
    const { temporalAddress, temporal } = servers;
    const facts = { sandboxUrl, temporalAddress, ...(temporal && { uiUrl: temporal.uiUrl }) };
    const serverPids = [servers.postgres.pid, ...(temporal ? [temporal.pid] : [])];
    // The shop's owner, for changes that the demo tries out; the processes are not told.
    const published = { ...env, DEMO_SHOP_URL: servers.postgres.url('shop') };
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
      ...{ env: published, sandboxUrl, temporalAddress, uiUrl: temporal?.uiUrl, failed, stop },
      ...{ sandbox: children.sandbox, worker: children.worker },
      restartWorker: async () => children.worker?.restart(),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** From the top down, so that nobody loses what it stands on; the second call does not wait for anybody. */
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
    if (stopping === undefined) return (stopping = inOrder());
    log('Stopping at once');
    void children.worker?.kill();
    void children.sandbox?.kill();
    return stopping;
  };
}
