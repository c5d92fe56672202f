/** Applies records with all that follows: their outcomes, those that must wait, and those that waited for them. */
import type pg from 'pg';
import type { SchemaStore, StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import { applyRecords } from './apply-records.js';
import type { Dependency, IncomingRecord } from './incoming.js';
import type { Outcomes } from './outcomes.js';
import { holdBack, releaseChildren, type HeldRecord } from './pending-resources.js';

/** What processing works with: a transaction, and what it must know. */
export interface Store {
  readonly db: pg.PoolClient;
  readonly schemas: SchemaStore;
  readonly settings: Pick<SandboxSettings, 'records' | 'pending' | 'longest' | 'failureWords'>;
}

/** Applies records of one schema, notes their outcomes and holds back those that wait; answers what is stored now. */
export async function applyAll(
  { db, settings }: Store,
  tenantId: string,
  schema: StoredSchema,
  records: readonly IncomingRecord[],
  outcomes: Outcomes,
): Promise<Dependency[]> {
  const applied = await applyRecords(db, tenantId, schema, records, settings);
  const held: HeldRecord[] = [];
  for (const [i, record] of records.entries()) {
    const outcome = applied.outcomes[i]!;
    outcomes.add(record, outcome);
    if (outcome.kind === 'waiting') held.push({ record, missing: outcome.missing });
  }
  await holdBack(db, tenantId, schema.id, held);
  return applied.stored.map((externalId) => ({ schemaName: schema.name, externalId }));
}

/** Applies the records whose last missing parent is among the arrived, those that waited for them, and so on. */
export async function completeChildren(
  store: Store,
  tenantId: string,
  arrived: readonly Dependency[],
  outcomes: Outcomes,
): Promise<void> {
  let here = arrived;
  while (here.length > 0) {
    const bySchema = new Map<string, IncomingRecord[]>();
    for (const child of await releaseChildren(store.db, tenantId, here)) {
      const group = bySchema.get(child.schemaId);
      if (group === undefined) bySchema.set(child.schemaId, [child]);
      else group.push(child);
    }
    const next: Dependency[] = [];
    for (const [schemaId, children] of bySchema)
      next.push(...(await applyAll(store, tenantId, await store.schemas.get(schemaId), children, outcomes)));
    here = next;
  }
}
