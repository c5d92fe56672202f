/** What may happen to a run while a claim, a checkpoint or a recovery of it is under way, and what waits for that. */
import { expect, it } from 'vitest';
import { openLedgerDatabase } from '../../src/ledger/database/connection.js';
import { inTransaction } from '../../src/ledger/database/statements.js';
import { lockPartition } from '../../src/ledger/runs/partitions.js';
import { eventually } from '../pipeline/shop.js';
import { ledgerForTests } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const the = ledgerForTests();

/** Resolves when so many sessions wait for locks. */
const untilLockedOut = (sessions: number): Promise<unknown> =>
  eventually(`${sessions} sessions wait for locks`, async () => {
    const waiting = await the.database.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waiting.length === sessions;
  });

it('notes why a step is retried without waiting for the transactions of the runs', async () => {
  const partition = await the.newPartition();
  const beside = openLedgerDatabase(the.database.url);
  try {
    await inTransaction(beside, async (trx) => {
      await lockPartition(trx, partition);
      await the.ledger.runs.recordRetry('shop', 'platform_busy', 0);
    });
  } finally {
    await beside.destroy();
  }

  const [run] = await the.database.query('SELECT retrying_code FROM partner_sync.runs WHERE id = $1', [
    partition.runId,
  ]);
  expect(run).toEqual({ retrying_code: 'platform_busy' });
});

it('ends a run only after a transaction of it that is under way, and then lets no other begin', async () => {
  const partition = await the.newPartition();
  const beside = openLedgerDatabase(the.database.url);
  let hasEnded = false;
  let end: Promise<void> | undefined;
  try {
    await inTransaction(beside, async (trx) => {
      await lockPartition(trx, partition);
      end = the.ledger.runs.end(partition.runId, 'complete').then(() => void (hasEnded = true));
      await untilLockedOut(1);
      expect(hasEnded).toBe(false);
    });
    await end;
    await expect(inTransaction(beside, (trx) => lockPartition(trx, partition))).rejects.toMatchObject({
      code: 'fenced_off',
    });
  } finally {
    await beside.destroy();
  }
});

it('fences off a transaction that begins while its run is ending', async () => {
  const run = await newRun(the.ledger, { sync: 'leased' });
  const partition = await the.newPartition(true, run);
  await the.ledger.runs.takeLease('leased', run);
  const beside = openLedgerDatabase(the.database.url);
  try {
    let end: Promise<void> | undefined;
    let late: Promise<void> | undefined;
    await inTransaction(beside, async (trx) => {
      // The end of the run has to wait for its lease, and has not committed.
      await trx.raw('SELECT FROM sync_leases FOR UPDATE');
      end = the.ledger.runs.end(run, 'complete');
      await untilLockedOut(1);
      late = inTransaction(beside, (other) => lockPartition(other, partition));
      late.catch(() => undefined);
      await untilLockedOut(2);
    });
    await end;
    await expect(late).rejects.toMatchObject({ code: 'fenced_off' });
  } finally {
    await beside.destroy();
  }
});
