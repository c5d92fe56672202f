/** Tells a meter what checkpoints have counted, by tenant for those that it names. */
import type { LedgerMeter } from '../domain/monitoring/meters.js';
import type { CountsEntry } from './checkpoint/write-counts.js';
import type { Ids } from './mappings/ids.js';

/** Tells what a checkpoint has added to the counts of the mapping with this number. Never rejects. */
export type TellCounts = (mappingId: number, counts: readonly CountsEntry[]) => Promise<void>;

export function openTellCounts(meter: LedgerMeter, ids: Pick<Ids, 'tenantsByNumber'>): TellCounts {
  const named = new Set(meter.tenants);
  /** By number; null for tenants that the meter does not name. */
  const known = new Map<number, string | null>();
  const learn = async (counts: readonly CountsEntry[]): Promise<void> => {
    const unknown = [...new Set(counts.map(({ tenantId }) => tenantId))].filter((id) => !known.has(id));
    if (unknown.length === 0) return;
    const names = await ids.tenantsByNumber(unknown);
    for (const id of unknown) {
      const name = names.get(id) ?? null;
      known.set(id, name !== null && named.has(name) ? name : null);
    }
  };
  return async (mappingId, counts) => {
    // The checkpoint is written: if the ledger does not answer now, the sums over all tenants are still right.
    if (named.size > 0) await learn(counts).catch(() => undefined);
    meter.counted(
      mappingId,
      counts.map((entry) => ({ ...entry, tenant: known.get(entry.tenantId) ?? null })),
    );
  };
}
