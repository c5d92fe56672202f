/** `partner-sync dev`: a stack for the syncs of this project, whose files are checked as they are saved. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch } from 'chokidar';
import { EXIT } from '../cli/command-context.js';
import { composeView } from '../composition/compose.js';
import { ownEnvironment, ownServers } from '../config/dev-stack.js';
import { milliseconds } from '../domain/timeouts.js';
import { listSyncs } from '../mapping/sync-folder.js';
import { loadInto } from '../sandbox/fixture/load.js';
import { pushDemoSchemas } from './demo.js';
import { openDevDisplay, type DevDisplay } from './dev-display.js';
import { providePostgres } from './postgres-package.js';
import { devFolder, inClone } from './project.js';
import type { Stack } from './stack.js';
import { choicesOf, fixtureOf, SHIPPED_MAPPINGS } from './stack-environment.js';
import { openSyncOverview, runLines, type SyncOverview } from './sync-overview.js';
import { withStack } from './with-stack.js';
import { followWorkerLog } from './worker-log.js';

/** What the command was given. */
export interface DevFlags {
  /** Whether to install the embedded PostgreSQL without asking. */
  readonly install?: boolean;
}

/** Keeps the stack up until a signal arrives, and returns the exit code. */
export async function dev({ install = false }: DevFlags): Promise<number> {
  const own = ownEnvironment(process.cwd(), process.env);
  const choices = choicesOf(own);
  const folder = devFolder();
  const mappings = choices['PARTNER_SYNC_MAPPINGS'] ?? join(process.cwd(), 'mappings');
  await providePostgres(install);
  const display = openDevDisplay();
  const log = (line: string): void => display.event(line.split('\n'));
  log('Starting PostgreSQL, Temporal, the sandbox platform and a worker on free ports of 127.0.0.1 ...');
  if (Object.keys(choices).length > 0) log(`From the environment: ${Object.keys(choices).join(', ')}`);
  const apart = ownServers(own);
  if (apart.length > 0)
    log(`Commands in this folder do not use these servers, because ${apart.join(', ')} names others of yours.`);
  mkdirSync(mappings, { recursive: true });
  const shop = inClone();
  const worker = (await listSyncs(mappings)).length > 0;
  const ending = new AbortController();
  return withStack(
    { folder, log, worker, shop, mappings, own, choices },
    EXIT.done,
    async (stack) => {
      if (shop) await pushDemoSchemas({ ...stack.processEnv, PARTNER_SYNC_MAPPINGS: SHIPPED_MAPPINGS });
      log('The stack is up. Ctrl-C drains and stops it; a second Ctrl-C stops it at once.');
      return followSyncs({ stack, folder, mappings, display, signal: ending.signal });
    },
    () => {
      display.end();
      ending.abort();
    },
  );
}

interface Following {
  readonly stack: Stack;
  readonly folder: string;
  readonly mappings: string;
  readonly display: DevDisplay;
  /** Ends the following: otherwise its timers and its watcher would keep this process alive. */
  readonly signal: AbortSignal;
}

/** Shows files and runs as they change, until `signal` is aborted. */
async function followSyncs({ stack, folder, mappings, display, signal }: Following): Promise<number> {
  const addresses = {
    ...(stack.uiUrl !== undefined && { 'Temporal Web UI': stack.uiUrl }),
    Sandbox: `${stack.sandboxUrl}/reference`,
    Mappings: mappings,
  };
  const lines = Object.entries(addresses).map(([name, address]) => `${name}: ${address}`);
  display.event(lines);
  const parts = composeView(stack.processEnv);
  const overview = openSyncOverview(mappings, stack.processEnv, parts);
  const logged = followWorkerLog(join(folder, 'logs', 'worker.log'));
  const known = new Set<string>();
  const show = (): void => {
    if (!signal.aborted) display.show({ addresses, entries: overview.entries });
  };
  let isEnvironmentChanged = false;
  let choices = choicesOf(stack.processEnv);
  const renewEnvironment = async (): Promise<void> => {
    const own = ownEnvironment(process.cwd(), process.env);
    const chosen = { ...choices, ...choicesOf(own) };
    const fixed = Object.keys(chosen).filter((name) => chosen[name] !== choices[name]);
    choices = chosen;
    if (fixed.length > 0) display.event([`.env: ${fixed.join(', ')}: takes effect when dev is started again`]);
    if (await stack.renewEnvironment(own)) display.event(['.env has changed: the worker was started again with it']);
  };
  const files = async (): Promise<void> => {
    if (isEnvironmentChanged) {
      isEnvironmentChanged = false;
      await renewEnvironment();
    }
    const changed = await overview.readFiles();
    for (const { sync, files, findings } of changed)
      display.event([`${sync}: files ${files}${findings.length === 0 ? COMPARED : ''}`], findings);
    await provideTenants(stack, overview, known);
    if (overview.entries.length > 0) await stack.startWorker();
    show();
  };
  // One after the other, so that the last one to finish has read the latest files.
  let last = Promise.resolve();
  const again = (): void => {
    last = last.then(files).catch((error: unknown) => display.event([`The files could not be read: ${String(error)}`]));
  };
  let settling: NodeJS.Timeout | undefined;
  const environment = resolve('.env');
  const watcher = watch([mappings, environment], { ignoreInitial: true }).on('all', (_, path) => {
    isEnvironmentChanged ||= path === environment;
    clearTimeout(settling);
    settling = setTimeout(again, milliseconds('devSettle'));
  });
  try {
    again();
    while (!signal.aborted) {
      await last;
      const news = [...logged(), ...(await overview.readRuns().catch(() => [])).flatMap(runLines)];
      if (news.length > 0 && !signal.aborted) display.event(news);
      show();
      await sleep(milliseconds('devLook'), undefined, { signal }).catch(() => undefined);
    }
    return EXIT.done;
  } finally {
    clearTimeout(settling);
    await watcher.close();
    await parts.close();
  }
}

/** `dev` looks at files alone: a source may be far away, and is not to be asked at each save. */
const COMPARED = '; npx partner-sync check compares them with the database';

/** Adds to the sandbox the tenants that the files name, so that a first run finds them. */
async function provideTenants(stack: Stack, overview: SyncOverview, known: Set<string>): Promise<void> {
  const missing = overview.entries.flatMap(({ tenants }) => tenants).filter((tenant) => !known.has(tenant));
  if (missing.length === 0) return;
  await loadInto(stack.sandboxStateUrl, fixtureOf(missing));
  for (const tenant of missing) known.add(tenant);
}
