/** The end of a run, which another attempt may find already written. */
import { expect, it } from 'vitest';
import { closeRun } from '../../src/delivery/run/close-run.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { Dependencies } from '../../src/delivery/dependencies.js';
import { ledgerForTests } from '../ledger/ledger-for-tests.js';
import { newRun } from '../ledger/new-partition.js';

const the = ledgerForTests();

/** A sync of one mapping, which removes nothing. */
const openSync = () =>
  Promise.resolve({
    spec: { mappings: [{ name: 'customers', deletes: null }] },
    mapping: () => Promise.resolve({ mappingId: the.mappingId }),
  });

const close = (runId: string) =>
  closeRun({ ledger: the.ledger, openSync } as unknown as Dependencies, {
    runId,
    sync: 'shop',
    skipped: [],
    notes: [],
  });

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

it('calls a run in mode live complete only if it has read its feed, and nothing is left that this has named', async () => {
  const { feeds, partitions } = the.ledger;
  const feed = await feeds.acquire('shop', 'slot');
  await feeds.begin(feed, { origin: 'one', at: '10' });
  await feeds.feedMappings(feed, [{ mappingId: the.mappingId, reads: 'a table' }]);
  const note = (...keys: string[]) =>
    feeds.note(feed, [{ mappingId: the.mappingId, keys: keys.map((key) => [key]), unnamed: null }], null, true);
  await note();
  const loading = await the.newPartition();
  await the.loads(loading.runId);
  await partitions.finish(loading);

  // It was told to stop before it could read anything, so that it has no partition.
  const unread = await newRun(the.ledger, { mode: 'live' });
  expect(await close(unread)).toMatchObject({ outcome: 'incomplete', unfinished: ['customers'] });
  const read = await newRun(the.ledger, { mode: 'live' });
  await note();
  expect(await close(read)).toMatchObject({ outcome: 'complete' });
  const undelivered = await newRun(the.ledger, { mode: 'live' });
  await note('a');
  expect(await close(undelivered)).toMatchObject({ outcome: 'incomplete', changedRows: 1 });
});

it('makes no report of a run that has failed', async () => {
  const { runId } = await the.newPartition();
  await the.ledger.runs.end(runId, 'failed', { code: 'run_stopped', message: 'its workflow was terminated' });

  const failure: unknown = await close(runId).catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(PartnerSyncError);
  expect(failure).toMatchObject({ code: 'run_stopped' });
});
