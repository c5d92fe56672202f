/**
 * Periodic work on pending resources: expires those whose wait has elapsed and completes those whose parents have
 * arrived.
 */
import type pg from 'pg';
import { inTransaction, lockTenant } from '../database.js';
import { applyAll, completeChildren, type Store } from './apply-all.js';
import { failedFor, type Dependency } from './incoming.js';
import { Outcomes } from './outcomes.js';
import { takeExpired } from './pending-resources.js';

type Parts = Omit<Store, 'db'>;

/** Expires records whose wait has elapsed, in a transaction of its own for each tenant. */
export async function expirePending(pool: pg.Pool, parts: Parts): Promise<void> {
  const due = await pool.query<{ tenant_id: string }>(
    'select distinct tenant_id from sandbox.pending_resources where expires_at <= clock_timestamp()',
  );
  for (const { tenant_id: tenantId } of due.rows) await inTransaction(pool, (db) => expire({ ...parts, db }, tenantId));
}

/**
 * Fails the tenant's records whose wait has elapsed, or stores them without their parents (setting `pending.expired`).
 */
async function expire(store: Store, tenantId: string): Promise<void> {
  await lockTenant(store.db, tenantId);
  const outcomes = new Outcomes(store.settings);
  for (const record of await takeExpired(store.db, tenantId))
    if (store.settings.pending.expired === 'fail') {
      const reason = `missing dependency ${record.missing} did not arrive in time`;
      outcomes.add(record, failedFor(record.missing, 'dependency_expired', reason));
    } else {
      const schema = await store.schemas.get(record.schemaId);
      const arrived = await applyAll(store, tenantId, schema, [{ ...record, waitIsOver: true }], outcomes);
      await completeChildren(store, tenantId, arrived, outcomes);
    }
  await outcomes.save(store.db);
}

/**
 * Completes pending records whose parents are stored, in a transaction of its own for each tenant, if the setting
 * `pending.completed` is `at_check`.
 */
export async function completePending(pool: pg.Pool, parts: Parts): Promise<void> {
  if (parts.settings.pending.completed !== 'at_check') return;
  const { rows } = await pool.query<Dependency & { tenantId: string }>(
    `select distinct d.tenant_id as "tenantId", d.schema_name as "schemaName", d.external_id as "externalId"
       from sandbox.missing_dependencies d
       join sandbox.schema_definitions s on s.name = d.schema_name
       join sandbox.resources r on r.tenant_id = d.tenant_id and r.schema_id = s.id and r.external_id = d.external_id`,
  );
  for (const tenantId of new Set(rows.map((row) => row.tenantId)))
    await inTransaction(pool, async (db) => {
      await lockTenant(db, tenantId);
      const outcomes = new Outcomes(parts.settings);
      const arrived = rows.filter((row) => row.tenantId === tenantId);
      await completeChildren({ ...parts, db }, tenantId, arrived, outcomes);
      await outcomes.save(db);
    });
}
