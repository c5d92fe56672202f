/** Processes one batch inside one transaction: its records, and every record that was waiting for one of them. */
import type pg from 'pg';
import type { JsonObject } from '../../domain/json.js';
import { lockTenant } from '../database.js';
import type { SchemaStore, StoredSchema } from '../schema-store.js';
import { applyRecords } from './apply-records.js';
import {
  readRecord,
  withoutUnknownFields,
  type ConflictRule,
  type Dependency,
  type IncomingRecord,
} from './incoming.js';
import { Outcomes } from './outcomes.js';
import { holdBack, releaseChildren, type HeldRecord } from './pending-resources.js';

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
export async function processBatch(db: pg.PoolClient, schemas: SchemaStore, batch: AcceptedBatch): Promise<void> {
  const outcomes = new Outcomes();
  const startedAt = new Date();
  const schema = await schemas.get(batch.schema_id);
  const records = readBatch(schema, batch, outcomes);
  await lockTenant(db, batch.tenant_id);
  let arrived = await applyAll(db, batch.tenant_id, schema, records, outcomes);
  // A released child may itself be a parent that others wait for, and so on.
  while (arrived.length > 0) {
    const bySchema = new Map<string, IncomingRecord[]>();
    for (const child of await releaseChildren(db, batch.tenant_id, arrived)) {
      const group = bySchema.get(child.schemaId);
      if (group === undefined) bySchema.set(child.schemaId, [child]);
      else group.push(child);
    }
    arrived = [];
    for (const [schemaId, children] of bySchema)
      arrived.push(...(await applyAll(db, batch.tenant_id, await schemas.get(schemaId), children, outcomes)));
  }
  await db.query('update sandbox.batches set started_at = $2, payload = null where id = $1', [batch.id, startedAt]);
  await outcomes.save(db);
}

/** The records that can be applied; the others are failures already. */
function readBatch(schema: StoredSchema, batch: AcceptedBatch, outcomes: Outcomes): IncomingRecord[] {
  const { resources } = JSON.parse(batch.payload) as { resources: JsonObject[] };
  const expiresAt = batch.wait_seconds === 0 ? null : new Date(batch.created_at.getTime() + batch.wait_seconds * 1000);
  return resources.flatMap((resource, index) => {
    const sent = batch.ignore_unknown_fields ? withoutUnknownFields(schema, resource) : resource;
    const externalId = readRecord(schema, sent);
    if (typeof externalId !== 'string') {
      outcomes.addFailure(batch.id, index, null, externalId);
      return [];
    }
    return [{ batchId: batch.id, index, externalId, sent, onConflict: batch.on_conflict, expiresAt, pendingId: null }];
  });
}

/** Applies records of one schema, notes their outcomes and holds back those that wait; answers what is stored now. */
async function applyAll(
  db: pg.PoolClient,
  tenantId: string,
  schema: StoredSchema,
  records: readonly IncomingRecord[],
  outcomes: Outcomes,
): Promise<Dependency[]> {
  const applied = await applyRecords(db, tenantId, schema, records);
  const held: HeldRecord[] = [];
  for (const [i, record] of records.entries()) {
    const outcome = applied.outcomes[i]!;
    outcomes.add(record, outcome);
    if (outcome.kind === 'waiting') held.push({ record, missing: outcome.missing });
  }
  await holdBack(db, tenantId, schema.id, held);
  return applied.stored.map((externalId) => ({ schemaName: schema.name, externalId }));
}
