/** The end of a run, which another attempt may find already written. */
import { expect, it } from 'vitest';
import { closeRun } from '../../src/delivery/run/close-run.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { Dependencies } from '../../src/delivery/dependencies.js';
import { ledgerForTests } from '../ledger/ledger-for-tests.js';

const the = ledgerForTests();

const close = (runId: string) =>
  closeRun({ ledger: the.ledger } as Dependencies, { runId, sync: 'shop', skipped: [], notes: [] });

it('reports the outcome that the ledger has, even if what was waiting has been delivered since', async () => {
  const { id, runId } = await the.newPartition();
  await the.database.query(
    `INSERT INTO partner_sync.partition_counts (partition_id, tenant_id, read, waiting) VALUES ($1, 1, 1, 1)`,
    [id],
  );
  const first = await close(runId);
  expect(first.outcome).toBe('incomplete');

  // The attempt's answer was lost, and another run delivers the record.
  await the.database.query(
    `UPDATE partner_sync.partition_counts SET waiting = 0, accepted = 1 WHERE partition_id = $1`,
    [id],
  );

  const again = await close(runId);
  expect(again).toMatchObject({ outcome: 'incomplete', endedAt: first.endedAt });
  expect(again.outcome).toBe((await the.ledger.runs.get(runId)).outcome);
});

it('makes no report of a run that has failed', async () => {
  const { runId } = await the.newPartition();
  await the.ledger.runs.end(runId, 'failed', { code: 'run_stopped', message: 'its workflow was terminated' });

  const failure: unknown = await close(runId).catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(PartnerSyncError);
  expect(failure).toMatchObject({ code: 'run_stopped' });
});
