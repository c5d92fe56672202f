/** Composes what a worker's metrics tell of the ledger: what that knows, and the limits by which it is judged. */
import { PartnerSyncError } from '../domain/errors.js';
import type { LedgerSample } from '../domain/monitoring/metrics.js';
import { DEFAULT_LIMITS, isRecovered, lastGood, successLimit } from '../domain/monitoring/sync-health.js';
import type { SyncLimits } from '../domain/sync/sync.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LoadedSync } from '../mapping/load-sync.js';
import { listSyncs } from '../mapping/sync-folder.js';

/** The parts of a worker that are asked. */
interface Parts {
  mappingsFolder(): Promise<string>;
  ledger(): Promise<Ledger>;
  loadSync(name: string): Promise<LoadedSync>;
}

/** The samples of all syncs in the mappings folder, and those of these tenants. */
export async function ledgerSamples(parts: Parts, tenants: readonly string[]): Promise<readonly LedgerSample[]> {
  const { gauges, syncStates } = await parts.ledger();
  const syncs = await listSyncs(await parts.mappingsFolder());
  const samples = await gauges.read(syncs, tenants);
  const states = (await syncStates.of(undefined)).filter(({ sync }) => syncs.includes(sync));
  const limits = await Promise.all(
    states.map(async (state): Promise<LedgerSample[]> => {
      const set = await limitsOf(parts, state.sync);
      const values = { freshness_limit_seconds: successLimit(state, set), lag_limit_seconds: set.lag };
      return (Object.keys(values) as (keyof typeof values)[]).flatMap((metric) => {
        const value = values[metric];
        return value === null ? [] : [{ metric, labels: { sync: state.sync }, value }];
      });
    }),
  );
  const following = states.filter(({ followedUntil }) => followedUntil !== null);
  return [...following.reduce(withFollowed, samples), ...limits.flat()];
}

type State = Awaited<ReturnType<Ledger['syncStates']['of']>>[number];

/** A run that follows change feeds has no end for a day, but succeeds all the time: so `status` takes it, too. */
function withFollowed(samples: readonly LedgerSample[], state: State): readonly LedgerSample[] {
  const { sync } = state;
  const isOf = (name: LedgerSample['metric'], { metric, labels }: LedgerSample): boolean =>
    metric === name && labels['sync'] === sync;
  const others = samples.filter((sample) => !isOf('last_success_timestamp_seconds', sample));
  const good = lastGood(state)!.getTime() / 1000;
  const success: LedgerSample = { metric: 'last_success_timestamp_seconds', labels: { sync }, value: good };
  if (!isRecovered(state)) return [...others, success];
  const outcome = (sample: LedgerSample): LedgerSample =>
    isOf('last_run', sample) ? { ...sample, value: Number(sample.labels['outcome'] === 'complete') } : sample;
  return [...others.map(outcome), success];
}

/** As `status` takes them, the defaults where the sync's files cannot be used. */
async function limitsOf(parts: Parts, sync: string): Promise<SyncLimits> {
  try {
    return (await parts.loadSync(sync)).spec.limits;
  } catch (error) {
    if (error instanceof PartnerSyncError) return DEFAULT_LIMITS;
    throw error;
  }
}
