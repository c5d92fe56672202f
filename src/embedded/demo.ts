/** The demo: syncs a sample shop completely and proves the result by reading every record back from the platform. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as PostgresClient } from 'pg';
import { watchRun } from '../cli/runs/watch-run.js';
import { pushSchemas } from '../schema-push/push-schemas.js';
import { reconciliationLines } from '../cli/commands/reconcile.js';
import { agrees, reconcileSync } from '../inspection/reconcile-sync.js';
import { mappingsInOrder } from '../mapping/order/mappings-in-order.js';
import { EXIT } from '../cli/command-context.js';
import { createOutput, type Output } from '../cli/output/output.js';
import { reportLines } from '../cli/output/report-lines.js';
import { compose } from '../composition/compose.js';
import type { Parts } from '../composition/parts.js';
import { quantity } from '../domain/values/quantity.js';
import { PartnerSyncError } from '../domain/errors.js';
import { formatSeconds } from '../domain/values/duration.js';
import { EXIT_CODES, type RunReport } from '../domain/run/run.js';
import { connectTemporal } from '../worker/temporal-connection.js';
import type { Env } from '../config/environment.js';
import { milliseconds } from '../domain/timeouts.js';

/** The name of the bundled sync that the demo runs. */
export const DEMO_SYNC = 'online-retail';

/**
 * A change to try, suggested at the end of the demo: it affects one row, which the shop's trigger makes visible to the
 * cursor.
 */
export const EXAMPLE_CHANGE = "UPDATE shop.customers SET email = 'changed@example.com' WHERE customer_id = 17850";

/** What the demo runs with. */
export interface DemoInput {
  /** The variables of the stack. */
  readonly env: Env;
  /** An SQL statement to run on the shop first, with its owner's rights. */
  readonly change: string | undefined;
}

/**
 * Pushes the schemas, runs the sync and reconciles it, reporting each step. Returns the exit code, which is 0 only if
 * the run is complete and every source row equals its record.
 */
export async function runDemo({ env, change }: DemoInput): Promise<number> {
  const output = createOutput(false);
  const say = (line: string): void => output.result({}, () => [line]);
  const parts = compose(env);
  const started = Date.now();
  try {
    if (change !== undefined) say(`Changed in the shop: ${quantity(await changeShop(env, change), 'row')} (${change})`);
    say('\n1. Schema definitions on the platform');
    for (const { schema, action } of await pushSchemas(parts, DEMO_SYNC)) say(`   ${schema}: ${action}`);
    say('\n2. Sync: customers, then transactions, then order lines');
    const temporal = await connectTemporal(env);
    let report: RunReport;
    try {
      const run = () => watchRun(parts, temporal, 'sync', { sync: DEMO_SYNC }, output);
      ({ report } = await runWhenFree(run, say));
    } finally {
      await temporal.close();
    }
    for (const line of reportLines(report)) say(`   ${line}`);
    const sent = report.total.accepted + report.total.deadLettered;
    if (sent === 0) say('   Nothing was sent: what was read is unchanged on the platform.');
    say('\n3. Reconciliation: every source row against its record, read back from the platform (this takes a while)');
    const isVerified = await verifyAll(parts, output, say);
    say(`\nDone in ${formatSeconds((Date.now() - started) / 1000)}.`);
    return isVerified ? EXIT_CODES[report.outcome] : EXIT.failed;
  } finally {
    await parts.close();
  }
}

/** Compares every row with its record as the platform has it, and says how they differ. Returns whether none does. */
export async function verifyAll(parts: Parts, output: Output, say: (line: string) => void): Promise<boolean> {
  const sync = await parts.openSync(DEMO_SYNC);
  const options = { readBack: 'all', seed: 'demo', note: (line: string) => output.note(line) } as const;
  const results = await reconcileSync(await parts.dependencies(), sync, mappingsInOrder(sync.spec), options);
  for (const line of reconciliationLines(DEMO_SYNC, results)) say(`   ${line}`);
  return results.every(agrees);
}

/**
 * Retries while another run of the sync is active, such as one that an interrupted demo started. Gives up after the
 * timeout `demoWaits`.
 */
async function runWhenFree<T>(start: () => Promise<T>, say: (line: string) => void): Promise<T> {
  const deadline = Date.now() + milliseconds('demoWaits');
  let announced = false;
  while (true) {
    try {
      return await start();
    } catch (error) {
      const busy = error instanceof PartnerSyncError && error.code === 'run_in_progress';
      if (!busy || Date.now() > deadline) throw error;
      if (!announced) say(`   ${error.message}; the demo waits for it`);
      await sleep(milliseconds('demoLook'));
    }
    announced = true;
  }
}

/** Creates the demo's schema definitions, which a run needs on a new sandbox. */
export async function pushDemoSchemas(env: Env): Promise<void> {
  const parts = compose(env);
  try {
    await pushSchemas(parts, DEMO_SYNC);
  } finally {
    await parts.close();
  }
}

/**
 * Runs the statement on the shop and returns the number of changed rows. Throws `input_invalid` if the shop refuses
 * it.
 */
export async function changeShop(env: Env, statement: string): Promise<number> {
  const client = new PostgresClient({ connectionString: env['DEMO_SHOP_URL'] });
  await client.connect();
  try {
    return (await client.query(statement)).rowCount ?? 0;
  } catch (error) {
    throw new PartnerSyncError(
      'input_invalid',
      `the shop refused the statement: ${(error as Error).message}`,
      {},
      { cause: error },
    );
  } finally {
    await client.end();
  }
}
