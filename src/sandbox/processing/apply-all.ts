/**
 * Applies records and everything that follows from it: their outcomes, the records that become pending, and the pending
 * records that they release.
 */
import type pg from 'pg';
import type { SchemaStore, StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import { applyRecords } from './apply-records.js';
import type { Dependency, IncomingRecord } from './incoming.js';
import type { Outcomes } from './outcomes.js';
import { releaseChildren, storePending, type PendingRecord } from './pending-resources.js';

/** What processing needs: a transaction, the schema definitions and the settings. */
export interface Store {
  readonly db: pg.PoolClient;
  readonly schemas: SchemaStore;
  readonly settings: Pick<SandboxSettings, 'records' | 'pending' | 'longest' | 'failureMessages'>;
}

/**
 * Applies records of one schema definition, adds their outcomes and stores those that must wait as pending. Returns
 * what is stored now, for {@link completeChildren}.
 *
 * The caller must hold the tenant's lock.
 */
export async function applyAll(
  { db, settings }: Store,
  tenantId: string,
  schema: StoredSchema,
  records: readonly IncomingRecord[],
  outcomes: Outcomes,
): Promise<Dependency[]> {
  const applied = await applyRecords(db, tenantId, schema, records, settings);
  const pending: PendingRecord[] = [];
  for (const [i, record] of records.entries()) {
    const outcome = applied.outcomes[i]!;
    outcomes.add(record, outcome);
    if (outcome.kind === 'waiting') pending.push({ record, missing: outcome.missing });
  }
  await storePending(db, tenantId, schema.id, pending);
  return applied.stored.map((externalId) => ({ schemaName: schema.name, externalId }));
}

/**
 * Applies the pending records whose last missing parent has arrived, then those that waited for them, level by level
 * until none is left.
 */
export async function completeChildren(
  store: Store,
  tenantId: string,
  arrived: readonly Dependency[],
  outcomes: Outcomes,
): Promise<void> {
  let parents = arrived;
  while (parents.length > 0) {
    const bySchema = new Map<string, IncomingRecord[]>();
    for (const child of await releaseChildren(store.db, tenantId, parents)) {
      const group = bySchema.get(child.schemaId);
      if (group === undefined) bySchema.set(child.schemaId, [child]);
      else group.push(child);
    }
    const next: Dependency[] = [];
    for (const [schemaId, children] of bySchema)
      next.push(...(await applyAll(store, tenantId, await store.schemas.get(schemaId), children, outcomes)));
    parents = next;
  }
}
