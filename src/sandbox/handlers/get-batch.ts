/** 4.14: reads the status of a batch. All counters come from one row, so they always add up. */
import { quantity } from '../../domain/values/quantity.js';
import { isUuid } from '../../domain/values/names.js';
import type { BatchStatus, PendingResource } from '../../platform/contract/batches.js';
import type { Queryable } from '../database.js';
import { Refusal } from '../refusal.js';
import type { SandboxSettings } from '../settings.js';
import type { Handler } from './handler.js';

/** A row of `sandbox.batches`, without the upload itself. */
interface BatchRow {
  readonly id: string;
  readonly schema_id: string;
  readonly total: number;
  readonly successful: number;
  readonly failed: number;
  readonly pending: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
}

/**
 * Section 4.14. `pendingResources` is present only when `includePendingDetails` is true; `errors` is null while no
 * record has failed.
 *
 * Refuses with `notFound` for an unknown batch, another tenant's, and one past its retention.
 */
export const getBatch: Handler<'getBatch'> = async ({ params, query, tenant }, { pool, schemas, settings }) => {
  const form = settings.batchStatus;
  const { rows } = await pool.query<BatchRow>({
    name: 'batch-status',
    text: `select id, schema_id, total, successful, failed, pending, created_at, started_at, completed_at
             from sandbox.batches where id = $1 and tenant_id = $2`,
    // An id that is not a uuid would make the query fail. It gets the same response as another tenant's batch.
    values: [isUuid(params.batchId) ? params.batchId : null, tenant.id],
  });
  const batch = rows[0];
  if (batch === undefined) throw new Refusal('notFound', `no batch with the id "${params.batchId}"`);
  const final = batch.successful + batch.failed;
  const successRate = final === 0 ? 0 : batch.successful / final;
  const completedAt = form.completed === 'processed' && batch.pending > 0 ? batch.started_at : batch.completed_at;
  const data: BatchStatus = {
    batchId: batch.id,
    progress: {
      totalRecords: batch.total,
      processedRecords: form.processed === 'final' ? final : final + batch.pending,
      successfulRecords: batch.successful,
      pendingRecords: batch.pending,
      failedRecords: batch.failed,
      // The share of records with a final outcome that succeeded; 0 before there are any.
      successRate: form.successRate === 'share' ? successRate : successRate * 100,
    },
    createdAt: batch.created_at.toISOString(),
    startedAt: batch.started_at?.toISOString() ?? null,
    completedAt: completedAt?.toISOString() ?? null,
    schemaName: (await schemas.get(batch.schema_id)).name,
    schemaDefinitionId: batch.schema_id,
    errors: batch.failed === 0 ? null : await errorsOf(pool, batch, form.recordErrors),
    ...(query.includePendingDetails === true ? { pendingResources: await pendingOf(pool, batch.id) } : {}),
  };
  return { message: 'batch status', data };
};

/** How entries of `recordErrors` name their records; section 2 says only that they are strings. */
type Naming = SandboxSettings['batchStatus']['recordErrors'];

interface ErrorRow {
  readonly record_index: number;
  readonly external_id: string | null;
  readonly rule: string;
  readonly reason: string;
}

/** Names a record by its place in the upload, the only way for one without a usable external id. */
const byPlace = ({ record_index: index, reason }: ErrorRow): string => `record ${index}: ${reason}`;
const NAMED: Readonly<Record<Exclude<Naming, 'counted' | 'none'>, (row: ErrorRow) => string>> = {
  external_id: (row) =>
    row.external_id === null ? byPlace(row) : `externalId ${JSON.stringify(row.external_id)}: ${row.reason}`,
  resource: (row) => (row.external_id === null ? byPlace(row) : `Resource '${row.external_id}': ${row.reason}`),
  index: byPlace,
  unnamed: ({ reason }) => reason,
};

/** One entry for each reason, with the number of records that share it. */
function counted(rows: readonly ErrorRow[]): string[] {
  const records = new Map<string, number>();
  for (const { reason } of rows) records.set(reason, (records.get(reason) ?? 0) + 1);
  return [...records].map(([reason, count]) => `${count} record(s) ${reason}`);
}

/** The `errors` of a batch status, with the failed records in the order of the upload. */
async function errorsOf(db: Queryable, batch: BatchRow, naming: Naming): Promise<BatchStatus['errors']> {
  const { rows } = await db.query<ErrorRow>(
    `select record_index, external_id, rule, reason from sandbox.record_errors where batch_id = $1
      order by record_index`,
    [batch.id],
  );
  const byRule: Record<string, number> = {};
  for (const { rule } of rows) byRule[rule] = (byRule[rule] ?? 0) + 1;
  return {
    summary: { failed: batch.failed, byRule },
    details: {},
    recordErrors: naming === 'none' ? [] : naming === 'counted' ? counted(rows) : rows.map(NAMED[naming]),
    message: `${batch.failed} of ${quantity(batch.total, 'record')} failed`,
  };
}

interface PendingRow {
  readonly id: string;
  readonly external_id: string;
  readonly schema_id: string;
  readonly schema_name: string;
  readonly expires_at: Date;
  readonly created_at: Date;
  readonly missing: { schemaDefinitionId: string | null; externalId: string; schemaName: string }[];
}

/**
 * The batch's pending resources with the dependencies that each still lacks, in the order in which they became pending.
 */
async function pendingOf(db: Queryable, batchId: string): Promise<PendingResource[]> {
  const { rows } = await db.query<PendingRow>(
    `select p.id, p.external_id, p.schema_id, s.name as schema_name, p.expires_at, p.created_at, m.missing
       from sandbox.pending_resources p
       join sandbox.schema_definitions s on s.id = p.schema_id
      cross join lateral (
             select coalesce(json_agg(json_build_object('schemaDefinitionId', parent.id, 'externalId', d.external_id,
                                               'schemaName', d.schema_name)), '[]') as missing
               from sandbox.missing_dependencies d
               left join sandbox.schema_definitions parent on parent.name = d.schema_name
              where d.pending_id = p.id) m
      where p.batch_id = $1 order by p.sequence`,
    [batchId],
  );
  return rows.map((row) => ({
    id: row.id,
    resourceExternalId: row.external_id,
    schemaDefinitionId: row.schema_id,
    // A parent whose schema definition does not exist yet has no schema id.
    missingDependencies: row.missing.map(({ schemaDefinitionId, ...rest }) =>
      schemaDefinitionId === null ? rest : { schemaDefinitionId, ...rest },
    ),
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    schemaName: row.schema_name,
  }));
}
