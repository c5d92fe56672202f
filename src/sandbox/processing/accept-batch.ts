/** Stores an upload durably, so that a crash after the 202 response loses nothing. */
import { randomUUID } from 'node:crypto';
import type { Queryable } from '../database.js';
import type { ConflictRule } from './incoming.js';

/** An accepted upload (4.5, 4.8). */
export interface Upload {
  readonly tenantId: string;
  readonly schemaId: string;
  readonly onConflict: ConflictRule;
  readonly ignoreUnknownFields: boolean;
  /** `dependencyWaitTimeout`: how long a record may wait for its parents; 0 means not at all. */
  readonly waitSeconds: number;
  /** The body exactly as received. It is kept as text because it may contain what the database's JSON types refuse. */
  readonly bodyText: string;
  readonly recordCount: number;
}

/**
 * Stores the upload and returns the batch's id. Uploading the same body twice makes two batches: the interface has no
 * idempotency key.
 */
export async function acceptBatch(db: Queryable, upload: Upload): Promise<string> {
  const id = randomUUID();
  await db.query({
    name: 'accept-batch',
    text: `insert into sandbox.batches
             (id, tenant_id, schema_id, on_conflict, ignore_unknown_fields, wait_seconds, payload, total)
           values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      id,
      upload.tenantId,
      upload.schemaId,
      upload.onConflict,
      upload.ignoreUnknownFields,
      upload.waitSeconds,
      upload.bodyText,
      upload.recordCount,
    ],
  });
  return id;
}
