/** Stores an upload so that its processing survives whatever happens after the answer. */
import { randomUUID } from 'node:crypto';
import type { Queryable } from '../database.js';
import type { ConflictRule } from './incoming.js';

export interface Upload {
  readonly tenantId: string;
  readonly schemaId: string;
  readonly onConflict: ConflictRule;
  readonly ignoreUnknownFields: boolean;
  readonly waitSeconds: number;
  /** The body as it came; as text, since it may say what the database's JSON types refuse. */
  readonly bodyText: string;
  readonly recordCount: number;
}

/** Answers the batch's id. The same upload sent twice is two batches: the interface has no idempotency key. */
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
