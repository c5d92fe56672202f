/** Batches that are settled against a platform that says what a test has it say. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { EffortMeter } from '../../src/domain/run/effort.js';
import type { ALL_ACCEPTED, BatchOutcomes, Outcome } from '../../src/delivery/upload/outcome.js';
import { settleBatch, type SettledBatch } from '../../src/delivery/upload/settle-batch.js';
import type { PartitionContext } from '../../src/delivery/partition-context.js';
import type { SentBatch } from '../../src/delivery/upload/post-batch.js';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { JsonObject } from '../../src/domain/values/json.js';
import type { BatchStatus } from '../../src/platform/contract/batches.js';
import { recordOf, RecordList } from '../../src/records/record-list.js';
import { createRequestLimit, type RequestLimit } from '../../src/platform/request-limit.js';
import { answer, stubPlatform, success, type Answer } from '../platform/stub-platform.js';

export interface Counts {
  readonly ok?: number;
  readonly failed?: number;
  readonly pending?: number;
  readonly total?: number;
  readonly completed?: boolean;
}
/** A status with these counts, these messages about failures, and these records pending. */
export function statusOf(
  counts: Counts,
  failures: readonly string[] = [],
  waiting: readonly string[] = [],
): BatchStatus {
  const { ok = 0, failed = 0, pending = 0, total = ok + failed + pending, completed = true } = counts;
  return {
    batchId: 'p1',
    progress: {
      totalRecords: total,
      processedRecords: ok + failed,
      successfulRecords: ok,
      pendingRecords: pending,
      failedRecords: failed,
    },
    completedAt: completed ? '2026-01-01T00:00:00Z' : null,
    errors: { recordErrors: [...failures] },
    pendingResources: waiting.map((id) => ({
      resourceExternalId: id,
      missingDependencies: [],
      expiresAt: '2026-01-02T00:00:00Z',
    })),
  };
}
export const failed = (id: string): string => `externalId ${JSON.stringify(id)}: /name is too long`;

export const NOTHING = answer(404, { success: false, message: 'not there' });

export interface Settling {
  readonly records: readonly MappedRecord[];
  /** The platform's response when it is asked about the batch. */
  readonly ofBatch: Answer;
  /** The same about a record. */
  readonly ofRecord: (externalId: string) => Answer;
  readonly onConflict?: 'upsert' | 'reject';
  /** JSON Schema of each field. */
  readonly properties?: JsonObject;
  readonly dependencyWait?: number;
  readonly batchDeadline?: number;
  readonly ledger?: object;
  readonly batch?: Partial<SentBatch>;
  /** The schemas of the sync's mappings. */
  readonly schemas?: readonly string[];
  readonly run?: string;
  /** Gets the code of each warning. */
  readonly warnings?: unknown[];
  /** Gets the queue of each request. */
  readonly queues?: string[];
}

/** A limit of four requests; `queues` gets the queue of each. */
export function limitWithQueues(queues: string[]): Pick<RequestLimit, 'run'> {
  const limit = createRequestLimit(4);
  return {
    run: (by, request) => {
      queues.push(by.queue);
      return limit.run(by, request);
    },
  };
}

/** Settles one batch of the records. */
export async function settle(settling: Settling): Promise<SettledBatch> {
  const { records, ofBatch, ofRecord, onConflict = 'upsert', properties = {}, ledger = {} } = settling;
  const say: Answer = (response, request) => {
    const isStatus = request.url.startsWith('/api/batches/');
    const id = decodeURIComponent(new URL(request.url, 'http://platform').pathname.split('/').at(-1)!);
    (isStatus ? ofBatch : ofRecord(id))(response, request);
  };
  const { client: platform } = await stubPlatform([say]);
  const schema = { name: 'customer', schema: { type: 'object', properties } };
  const mappings = (settling.schemas ?? []).map((name) => ({ schema: { name } }));
  const options = { onConflict, dependencyWaitTimeout: settling.dependencyWait ?? 0 };
  const upload = { batchDeadline: settling.batchDeadline ?? 30, inDoubtDelay: 30 };
  const context = {
    deps: { platform, ledger },
    sync: { spec: { name: 'shop', upload, mappings }, requestLimit: limitWithQueues(settling.queues ?? []) },
    mapping: { spec: { name: 'customers', schema, options, fields: new Map() }, referenceFields: new Set() },
    effort: new EffortMeter(),
    signal: new AbortController().signal,
    partition: { runId: settling.run ?? '1' },
  } as unknown as PartitionContext;
  const batch = { id: '1', tenant: 'north', tenantId: 1, records: RecordList.of(records), platformBatchId: 'p1' };
  const sent: SentBatch = { ...batch, intendedAt: 0, recorded: Promise.resolve(), ...settling.batch };
  const logger = new DefaultLogger('WARN', ({ meta }) => void settling.warnings?.push(meta!['code']));
  return new MockActivityEnvironment({}, { logger }).run(() => settleBatch(context, sent, '17'));
}

/** The outcomes of these records. */
export async function settledBatch(
  records: readonly MappedRecord[],
  ofBatch: Answer,
  ofRecord: (externalId: string) => Answer,
  onConflict: 'upsert' | 'reject' = 'upsert',
): Promise<BatchOutcomes> {
  return (await settle({ records, ofBatch, ofRecord, onConflict })).outcomes;
}

/** The platform has these records, as they were sent, and no others. */
export const has =
  (...records: readonly MappedRecord[]) =>
  (id: string): Answer => {
    const record = records.find(({ externalId }) => externalId === id);
    return record === undefined ? NOTHING : success({ result: { resourceExternalId: id, data: record.data } });
  };

/** Where not all are accepted. */
export const outcomeOf = (outcomes: BatchOutcomes, id: string): Outcome =>
  (outcomes as ReadonlyMap<string, Outcome>).get(id)!;

/** By external id, where not all are accepted. */
export const kinds = (outcomes: BatchOutcomes): object =>
  Object.fromEntries(
    [...(outcomes as Exclude<BatchOutcomes, typeof ALL_ACCEPTED>)].map(([id, { kind }]) => [id, kind]),
  );

/** A customer of the tenant north. */
export const recordNamed = (id: string) => recordOf('north', id, [id], JSON.stringify({ customerId: id, name: 'new' }));
