/** Reconciles several mappings of a sync. */
import { quantity } from '../domain/values/quantity.js';
import type { OpenSync, Views } from '../delivery/dependencies.js';
import { milliseconds } from '../domain/timeouts.js';
import type { Difference } from './differences.js';
import { reconcileMapping, type Reconciliation, type ReconcileOptions } from './reconcile-mapping.js';

/** How to compare, and whom to tell. */
export interface ReconcileSyncOptions extends Pick<ReconcileOptions, 'readBack' | 'seed'> {
  /**
   * Receives each difference as it is found and is awaited, so that a slow file slows the comparison down instead of
   * filling memory.
   */
  readonly tell?: ((mapping: string, difference: Difference) => Promise<void>) | undefined;
  /** Receives lines about the progress. */
  readonly note: (line: string) => void;
}

/**
 * One reconciliation for each of `mappings`, in their order. Throws `input_invalid` for one whose records the ledger
 * does not keep (unless all are read back), and what source, ledger and platform throw.
 */
export async function reconcileSync(
  views: Views,
  sync: OpenSync,
  mappings: readonly string[],
  { tell, note, ...how }: ReconcileSyncOptions,
): Promise<Reconciliation[]> {
  if ((await views.ledger.runs.latest(sync.spec.name, 10)).some((run) => run.ended_at === null))
    note('a run is in progress: rows that change meanwhile may differ');
  const results: Reconciliation[] = [];
  let lastNote = Date.now();
  const progress = (mapping: string, rows: number): void => {
    if (Date.now() - lastNote < milliseconds('reconcileProgress')) return;
    lastNote = Date.now();
    note(`  ${mapping}: compared ${quantity(rows, 'row')}`);
  };
  for (const mapping of mappings) {
    const options = { ...how, progress, tell: (difference: Difference) => tell?.(mapping, difference) };
    results.push(await reconcileMapping(views, sync, await sync.mapping(mapping), options));
  }
  return results;
}

/** Whether a mapping has no difference: every row's record is on the platform as it is, and no other record is. */
export const agrees = (r: Reconciliation): boolean => r.equal === r.rows && r.extra === 0;
