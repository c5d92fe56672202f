/** Processes one batch in one transaction: its records, and every pending record that was waiting for one of them. */
import type { JsonObject } from '../../domain/values/json.js';
import { lockTenant } from '../database.js';
import type { StoredSchema } from '../schema-store.js';
import { applyAll, completeChildren, type Store } from './apply-all.js';
import {
  failed,
  usableExternalId,
  unknownFieldsOf,
  withoutUnknownFields,
  type ConflictRule,
  type IncomingRecord,
} from './incoming.js';
import { Outcomes } from './outcomes.js';
import { replacePending } from './pending-resources.js';

/** A row of `sandbox.batches` that has not been processed yet. */
export interface AcceptedBatch {
  readonly id: string;
  readonly tenant_id: string;
  readonly schema_id: string;
  readonly on_conflict: ConflictRule;
  readonly ignore_unknown_fields: boolean;
  readonly wait_seconds: number;
  /** The body of the upload exactly as received. */
  readonly payload: string;
  readonly created_at: Date;
}

/**
 * Processes the batch and writes its counters. The caller holds a lock on the batch's row; a crash before the commit
 * leaves the batch as it was, to be retried.
 */
export async function processBatch(store: Store, batch: AcceptedBatch): Promise<void> {
  const { db, schemas, settings } = store;
  const outcomes = new Outcomes(settings);
  const startedAt = new Date();
  const schema = await schemas.get(batch.schema_id);
  const records = readBatch(schema, batch, settings, outcomes);
  await lockTenant(db, batch.tenant_id);
  if (settings.pending.newer === 'replaces') await replacePending(db, batch.tenant_id, schema.id, records, outcomes);
  const arrived = await applyAll(store, batch.tenant_id, schema, records, outcomes);
  if (settings.pending.completed === 'at_once') await completeChildren(store, batch.tenant_id, arrived, outcomes);
  // A batch without records has no outcome that could complete it, so it is completed here.
  await db.query(
    `update sandbox.batches
        set started_at = $2, payload = null, completed_at = case when total = 0 then clock_timestamp() end
      where id = $1`,
    [batch.id, startedAt],
  );
  await outcomes.save(db);
}

/**
 * The records of the upload that can be applied. For the others a failure is added to `outcomes`: an unusable external
 * id, undeclared fields, or a repetition if that is not allowed.
 */
function readBatch(
  schema: StoredSchema,
  batch: AcceptedBatch,
  settings: Store['settings'],
  outcomes: Outcomes,
): IncomingRecord[] {
  const { resources } = JSON.parse(batch.payload) as { resources: JsonObject[] };
  const from = settings.pending.countsFrom === 'acceptance' ? batch.created_at : new Date();
  const expiresAt = batch.wait_seconds === 0 ? null : new Date(from.getTime() + batch.wait_seconds * 1000);
  const seen = new Set<string>();
  return resources.flatMap((resource, index) => {
    const sent = batch.ignore_unknown_fields ? withoutUnknownFields(schema, resource) : resource;
    const externalId = usableExternalId(schema, sent, settings);
    if (typeof externalId !== 'string') {
      outcomes.addFailure(batch.id, index, null, externalId);
      return [];
    }
    const unknown = unknownFieldsOf(schema, sent);
    const problem =
      unknown.length > 0
        ? failed('unknown_field', `the schema does not declare ${unknown.map((f) => JSON.stringify(f)).join(', ')}`)
        : settings.records.repeated === 'fail' && seen.has(externalId)
          ? failed('repeated', 'the upload already has a record with this external id')
          : undefined;
    seen.add(externalId);
    if (problem !== undefined) {
      outcomes.addFailure(batch.id, index, externalId, problem);
      return [];
    }
    return [{ batchId: batch.id, index, externalId, sent, onConflict: batch.on_conflict, expiresAt, pendingId: null }];
  });
}
