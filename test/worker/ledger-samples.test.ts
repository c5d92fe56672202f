/** What metrics tell of a sync that is followed: the same as `status`. */
import { expect, it } from 'vitest';
import { ledgerSamples } from '../../src/composition/ledger-samples.js';
import type { LedgerSample } from '../../src/domain/monitoring/metrics.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { syncFolder } from '../mapping/sync-on-disk.js';

const at = (minutes: number): Date => new Date(Date.UTC(2026, 0, 31, 0, minutes));

/** The values of the metrics about runs, of a sync whose latest run failed after ten minutes. */
async function samplesWith(followedUntil: Date | null): Promise<Record<string, number>> {
  const read: LedgerSample[] = [
    { metric: 'last_success_timestamp_seconds', labels: { sync: 'shop' }, value: at(5).getTime() / 1000 },
    ...['complete', 'failed'].map((outcome): LedgerSample => ({
      metric: 'last_run',
      labels: { sync: 'shop', outcome },
      value: Number(outcome === 'failed'),
    })),
  ];
  const latest = { mode: 'live', outcome: 'failed', endedAt: at(10).toISOString() };
  const state = { sync: 'shop', latest, followedUntil, lastSuccessAt: at(5), usual: null };
  const ledger = {
    gauges: { read: () => Promise.resolve(read) },
    syncStates: { of: () => Promise.resolve([state, { ...state, sync: 'without a folder' }]) },
  };
  const folder = syncFolder();
  const samples = await ledgerSamples(
    {
      mappingsFolder: () => Promise.resolve(folder),
      ledger: () => Promise.resolve(ledger as never),
      loadSync: () => Promise.reject(new PartnerSyncError('config_invalid', 'broken')),
    },
    [],
  );
  return Object.fromEntries(
    samples
      .filter(({ metric }) => metric.startsWith('last_'))
      .map(({ metric, labels, value }) => [labels['outcome'] ?? metric, value]),
  );
}

it('take what a live run has delivered for a success, though it has not ended', async () => {
  const failed = { complete: 0, failed: 1, last_success_timestamp_seconds: at(5).getTime() / 1000 };
  expect(await samplesWith(null)).toEqual(failed);
  expect(await samplesWith(at(8))).toEqual({ ...failed, last_success_timestamp_seconds: at(8).getTime() / 1000 });
  expect(await samplesWith(at(20))).toEqual({
    complete: 1,
    failed: 0,
    last_success_timestamp_seconds: at(20).getTime() / 1000,
  });
});
