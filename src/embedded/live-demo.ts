/** The live demo: a run that follows the shop's change feed, and what of it arrives on the platform, as it happens. */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { feedStatuses } from '../cli/changes/feed-statuses.js';
import { installFeeds, installLines } from '../cli/changes/install-feeds.js';
import { removeFeeds } from '../cli/changes/remove-feeds.js';
import { EXIT } from '../cli/command-context.js';
import { createOutput } from '../cli/output/output.js';
import { reportLines } from '../cli/output/report-lines.js';
import { createProgress } from '../cli/runs/progress-display.js';
import { startRun } from '../cli/runs/watch-run.js';
import { compose } from '../composition/compose.js';
import type { Parts } from '../composition/parts.js';
import type { Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { EXIT_CODES, type RunReport } from '../domain/run/run.js';
import { milliseconds } from '../domain/timeouts.js';
import { quantity } from '../domain/values/quantity.js';
import { progressOf, queryProgress } from '../runs/run-progress.js';
import { reportOf } from '../runs/workflow-failure.js';
import { pushSchemas } from '../schema-push/push-schemas.js';
import { connectTemporal } from '../worker/temporal-connection.js';
import { changeShop, DEMO_SYNC, verifyAll } from './demo.js';
import { LiveArrivals } from './live-arrivals.js';
import { LIVE_LINES } from './live-demo-files.js';
import { DEMO_EDITS } from './live-edits.js';
import { ShopChanges } from './shop-changes.js';

/** What the live demo runs with. */
export interface LiveDemoInput {
  /** The variables of the stack. */
  readonly env: Env;
  /** Resolves when a person has seen enough; null if the demo is to change rows itself, and to end when they have arrived. */
  readonly asked: Promise<unknown> | null;
  /** The lines that say how to change rows by hand. */
  readonly hints: readonly string[];
}

const output = createOutput(false);
const say = (line: string): void => output.result({}, () => [line]);
const sayAll = (lines: readonly string[]): void => lines.forEach((line) => say(`   ${line}`));

/** Reports each step. Returns the exit code, which is 0 only if everything has arrived and every row equals its record. */
export async function runLiveDemo({ env, asked, hints }: LiveDemoInput): Promise<number> {
  // The feed is installed with the rights of the shop's owner; the sync reads it with an account that may do nothing else.
  const parts = compose({ ...env, SOURCE_ADMIN_URL: env['DEMO_SHOP_URL'] });
  const temporal = await connectTemporal(env);
  const changes = await ShopChanges.open(env['DEMO_SHOP_URL']!);
  try {
    await endEarlier(parts, temporal.client);
    say('\n1. Schema definitions on the platform');
    for (const { schema, action } of await pushSchemas(parts, DEMO_SYNC)) say(`   ${schema}: ${action}`);
    say('\n2. The change feed. The files are those of the demo, with these lines more:');
    sayAll(Object.entries(LIVE_LINES).map(([file, line]) => `${file}: ${line}`));
    await install(parts);
    say('\n3. A run in mode live: it first reads every row, then follows the feed');
    const handle = await startRun(temporal, 'sync', { sync: DEMO_SYNC, mode: 'live' });
    const result = reportOf(handle);
    const failure = result.then((): never => {
      throw new PartnerSyncError('run_stopped', 'the live run was stopped by somebody else');
    });
    failure.catch(() => undefined);
    const following = follow({ parts, handle, changes, env, asked, hints });
    const isVerified = await Promise.race([following, failure]);
    say('\nStopping the run ...');
    await handle.cancel();
    const report = await result;
    sayAll(reportLines(report));
    return isVerified ? codeOf(report) : EXIT.failed;
  } finally {
    await changes.close();
    await temporal.close();
    await parts.close();
  }
}

const codeOf = ({ outcome }: RunReport): number => EXIT_CODES[outcome];

interface Following {
  readonly parts: Parts;
  readonly handle: WorkflowHandle;
  readonly changes: ShopChanges;
  readonly env: Env;
  readonly asked: LiveDemoInput['asked'];
  readonly hints: readonly string[];
}

/** Everything between the start of the run and its end; returns whether each comparison has found no difference. */
async function follow({ parts, handle, changes, env, asked, hints }: Following): Promise<boolean> {
  const end = new AbortController();
  const ended = asked?.then(() => end.abort());
  await untilLoaded(parts, handle, end.signal);
  const verify = async (title: string): Promise<boolean> => {
    if (end.signal.aborted) return true;
    say(`\n${title}`);
    return Promise.race([verifyAll(parts, output, say), ...(ended === undefined ? [] : [ended.then(() => true)])]);
  };
  const arrivals = new LiveArrivals(parts, changes, say);
  if (asked === null) {
    say('\n4. Changes in the shop, and what arrives on the platform');
    for (const { what, sql } of DEMO_EDITS) await edit(env, arrivals, what, sql);
    return verify('5. Reconciliation: every source row against its record, read back from the platform');
  }
  const isVerified = await verify('4. Reconciliation: every source row against its record (Ctrl-C ends the demo)');
  if (end.signal.aborted) return isVerified;
  say('\n5. The run goes on until Ctrl-C, and this shows what arrives on the platform.');
  sayAll(hints);
  const typed = runTyped(env);
  try {
    while (!end.signal.aborted) {
      await arrivals.next();
      await sleep(milliseconds('liveDemoLook'), undefined, { signal: end.signal }).catch(() => undefined);
    }
  } finally {
    typed.close();
  }
  return isVerified;
}

/** Ends the run that a demo left behind that was killed. */
async function endEarlier(parts: Parts, client: Client): Promise<void> {
  for (const run of await (await parts.ledger()).runs.notEnded(DEMO_SYNC)) {
    say(`Ending run ${run.id}, which an earlier demo left behind`);
    const handle = client.workflow.getHandle(run.workflow_id);
    await handle.cancel().catch(() => undefined);
    await handle.result().catch(() => undefined);
  }
}

/** Installs what is missing, and first removes a feed that can no longer be read. */
async function install(parts: Parts): Promise<void> {
  const { feeds } = await feedStatuses({ ...parts, ledgerIfAny: () => parts.ledger() }, DEMO_SYNC);
  if (feeds.some(({ problem, ledgerPosition }) => problem !== null && ledgerPosition !== null))
    await removeFeeds(parts, DEMO_SYNC, true);
  const installed = await installFeeds(parts, DEMO_SYNC, true);
  sayAll(installLines(installed));
  if (installed.blocked || installed.failure !== null)
    throw new PartnerSyncError('config_invalid', 'the change feed could not be installed: see above');
}

/** Shows the progress until every row has been read and nothing is left to deliver. */
async function untilLoaded(parts: Parts, handle: WorkflowHandle, ended: AbortSignal): Promise<void> {
  const { feeds, counts } = await parts.ledger();
  const display = createProgress();
  let shownAt = Date.now();
  while (!ended.aborted) {
    await sleep(milliseconds('liveDemoLook'), undefined, { signal: ended }).catch(() => undefined);
    const { runId } = await queryProgress(handle).catch(() => ({ runId: null }));
    if (runId === null) continue;
    const [feed] = await feeds.ofSync(DEMO_SYNC);
    const mappings = feed?.mappings ?? [];
    const isDone = mappings.length > 0 && mappings.every(({ loaded, changedRows }) => loaded && changedRows === 0);
    if (isDone || Date.now() - shownAt > display.every) {
      shownAt = Date.now();
      display.show(await progressOf(handle, runId, () => Promise.resolve({ counts })));
    }
    if (isDone) return;
  }
}

/** Makes a change, and waits until it has arrived. */
async function edit(env: Env, arrivals: LiveArrivals, what: string, sql: string): Promise<void> {
  await arrivals.next();
  say(`   ${what}:`);
  await changeShop(env, sql);
  const deadline = Date.now() + milliseconds('liveDemoEdit');
  const before = arrivals.shown;
  while ((await arrivals.next()) > 0 || arrivals.shown === before) {
    if (Date.now() > deadline) throw new Error(`This has not arrived in time: ${what}`);
    await sleep(milliseconds('liveDemoLook'));
  }
}

/** Runs on the shop what a person types into this terminal. */
function runTyped(env: Env): { close: () => void } {
  if (!process.stdin.isTTY) return { close: () => undefined };
  const lines = createInterface({ input: process.stdin, terminal: false });
  lines.on('line', (line) => {
    if (line.trim() === '') return;
    changeShop(env, line).then(
      (rows) => say(`  ${quantity(rows, 'row')} in the shop`),
      (error: unknown) => say(`  ${(error as Error).message}`),
    );
  });
  return lines;
}
