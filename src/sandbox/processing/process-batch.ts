/** Processes one batch inside one transaction: its records, and every record that was waiting for one of them. */
import type { JsonObject } from '../../domain/json.js';
import { lockTenant } from '../database.js';
import type { StoredSchema } from '../schema-store.js';
import { applyAll, completeChildren, type Store } from './apply-all.js';
import {
  failed,
  readRecord,
  unknownFieldsOf,
  withoutUnknownFields,
  type ConflictRule,
  type IncomingRecord,
} from './incoming.js';
import { Outcomes } from './outcomes.js';
import { replacePending } from './pending-resources.js';

export interface AcceptedBatch {
  readonly id: string;
  readonly tenant_id: string;
  readonly schema_id: string;
  readonly on_conflict: ConflictRule;
  readonly ignore_unknown_fields: boolean;
  readonly wait_seconds: number;
  /** The body of the upload as it came. */
  readonly payload: string;
  readonly created_at: Date;
}

/** The caller holds the batch's row; a crash before the commit leaves the batch as if it had never been touched. */
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
  // A batch without records has no outcome that would complete it.
  await db.query(
    `update sandbox.batches
        set started_at = $2, payload = null, completed_at = case when total = 0 then clock_timestamp() end
      where id = $1`,
    [batch.id, startedAt],
  );
  await outcomes.save(db);
}

/** The records that can be applied; the others are failures already. */
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
    const externalId = readRecord(schema, sent, settings);
    if (typeof externalId !== 'string') {
      outcomes.addFailure(batch.id, index, null, externalId);
      return [];
    }
    const unknown = unknownFieldsOf(schema, sent);
    const problem =
      unknown.length > 0
        ? failed('unknown_field', `the schema does not declare ${unknown.map((f) => JSON.stringify(f)).join(', ')}`)
        : settings.records.repeated === 'fail' && seen.has(externalId)
          ? failed('repeated', 'the upload has a record with this external id already')
          : undefined;
    seen.add(externalId);
    if (problem !== undefined) {
      outcomes.addFailure(batch.id, index, externalId, problem);
      return [];
    }
    return [{ batchId: batch.id, index, externalId, sent, onConflict: batch.on_conflict, expiresAt, pendingId: null }];
  });
}
