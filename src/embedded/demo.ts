/** The demo: a finished sync of a real shop, proved by reading every record back from the platform. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as PostgresClient } from 'pg';
import { followRun } from '../cli/follow-run.js';
import { pushSchemas } from '../cli/commands/schema.js';
import { agrees, reconcileSync, reconciliationLines } from '../cli/commands/reconcile.js';
import { EXIT } from '../cli/command-context.js';
import { createOutput, reportLines } from '../cli/output.js';
import { compose } from '../compose.js';
import { PartnerSyncError } from '../domain/errors.js';
import { formatSeconds } from '../domain/duration.js';
import { EXIT_CODES } from '../domain/run.js';
import { connectTemporal } from '../worker/temporal-connection.js';
import type { Env } from '../config/environment.js';

export const DEMO_SYNC = 'online-retail';

/** The change that the demo proposes to try: one row, seen by the cursor through the shop's trigger. */
export const EXAMPLE_CHANGE = "UPDATE shop.customers SET email = 'changed@example.com' WHERE customer_id = 17850";

export interface DemoInput {
  /** The stack's variables. */
  readonly env: Env;
  /** A statement to run on the shop first, as its owner. */
  readonly change: string | undefined;
}

/** Exit code 0 only if the run is complete and every source row equals its record. */
export async function runDemo({ env, change }: DemoInput): Promise<number> {
  const output = createOutput(false);
  const say = (line: string): void => output.result({}, () => [line]);
  const parts = compose(env);
  const started = Date.now();
  try {
    if (change !== undefined) say(`Changed in the shop: ${await changeShop(env, change)} rows (${change})`);
    say('\n1. Schema definitions on the platform');
    for (const { schema, action } of await pushSchemas(parts, DEMO_SYNC)) say(`   ${schema}: ${action}`);
    say('\n2. Sync: customers, then transactions, then order lines');
    const temporal = await connectTemporal(env);
    const { report } = await runWhenFree(
      () => followRun(parts, temporal, 'sync', { sync: DEMO_SYNC }, output),
      say,
    ).finally(() => temporal.close());
    for (const line of reportLines(report)) say(`   ${line}`);
    const sent = report.total.accepted + report.total.deadLettered;
    if (sent === 0) say('   Nothing was sent: what was read is unchanged on the platform.');
    say('\n3. Reconciliation: every source row against its record, read back from the platform (this takes a while)');
    const results = await reconcileSync(parts, DEMO_SYNC, { readBack: 'all', seed: 'demo' }, output);
    for (const line of reconciliationLines(results)) say(`   ${line}`);
    say(`\nDone in ${formatSeconds((Date.now() - started) / 1000)}.`);
    return results.every(agrees) ? EXIT_CODES[report.outcome] : EXIT.failed;
  } finally {
    await parts.close();
  }
}

/** A demo that was interrupted leaves its run behind; the worker carries it on, and this one comes after it. */
async function runWhenFree<T>(start: () => Promise<T>, say: (line: string) => void): Promise<T> {
  const deadline = Date.now() + 10 * 60_000;
  for (let told = false; ; told = true) {
    try {
      return await start();
    } catch (error) {
      const busy = error instanceof PartnerSyncError && error.code === 'run_in_progress';
      if (!busy || Date.now() > deadline) throw error;
      if (!told) say(`   ${error.message}; this demo waits for it`);
      await sleep(2_000);
    }
  }
}

/** What a run needs on a sandbox that has just been made. */
export async function pushDemoSchemas(env: Env): Promise<void> {
  const parts = compose(env);
  try {
    await pushSchemas(parts, DEMO_SYNC);
  } finally {
    await parts.close();
  }
}

async function changeShop(env: Env, statement: string): Promise<number> {
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
