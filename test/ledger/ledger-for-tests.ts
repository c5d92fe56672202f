/** A ledger in its own database for a test file, a new mapping for each test, and short forms of the usual steps. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { recordOf, RecordList } from '../../src/records/record-list.js';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { Claimed } from '../../src/ledger/batches/claims.js';
import type { RowPosition } from '../../src/domain/source/source.js';
import type { OpenBatch } from '../../src/ledger/batches/batches.js';
import type { CheckpointInput, ChunkResult } from '../../src/ledger/checkpoint/checkpoint-input.js';
import type { ReadSeqs } from '../../src/ledger/read.js';
import type { RowOutcome, RowOutcomeKind } from '../../src/ledger/outcomes/row-outcomes.js';
import type { SentRecord } from '../../src/ledger/outcomes/sent-records.js';
import { beginLoad } from '../../src/ledger/changes/feeds.js';
import { openLedgerDatabase } from '../../src/ledger/database/connection.js';
import { openLedger, type Ledger } from '../../src/ledger/ledger.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { PendingRecord, QueuedRecord } from '../../src/ledger/waiting/index.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { newPartitionOf } from './new-partition.js';

export type Read = ReadSeqs;

/** Parts of a checkpoint, of whichever kind it is. */
export interface CheckpointParts extends ChunkResult {
  /** Of another kind than a scan of as many rows as there are outcomes. */
  readonly kind: 'counted' | 'retry';
  readonly readSeqs: ReadSeqs;
  /** The position of the resume point. */
  readonly position: RowPosition | null;
}

export const record = (externalId: string, content: string, tenant = 'north'): MappedRecord =>
  recordOf(tenant, externalId, [externalId], JSON.stringify({ id: externalId, content }));

export function ledgerForTests() {
  let database: Database;
  let ledger: Ledger;
  let mappingId: number;
  let tenantIds: ReadonlyMap<string, number>;

  beforeAll(async () => {
    database = await createDatabase();
    ledger = await openLedger(database.url);
    tenantIds = await ledger.ids.tenantIds(['north', 'south']);
  });
  afterAll(async () => {
    await ledger.close();
    await database.drop();
  });
  const newMapping = async (): Promise<void> => {
    mappingId = await ledger.ids.mappingId('shop', randomUUID());
  };
  beforeEach(newMapping);

  const newPartition = (movesPosition = true, run?: string): Promise<AcquiredPartition> =>
    newPartitionOf(ledger, mappingId, movesPosition, run);

  /** The read sequence numbers around a reading that happens now. */
  const reading = async (): Promise<Read> => ({
    readSeqStart: await ledger.nextReadSeq(),
    readSeqEnd: await ledger.nextReadSeq(),
  });

  const claim = async (partition: AcquiredPartition, records: readonly MappedRecord[], read?: Read): Promise<Claimed> =>
    claimOn(ledger, partition, records, read ?? (await reading()));

  /** The same in a session of the test's own. */
  const claimOn = (
    own: Ledger,
    partition: AcquiredPartition,
    records: readonly MappedRecord[],
    read: Read,
  ): Promise<Claimed> =>
    own.claim(partition, {
      ...read,
      records: RecordList.of(records),
      tenantIds,
      cut: (all) => (all.length === 0 ? [] : [all]),
    });

  /** The checkpoint of a chunk whose rows all have this outcome; `more` replaces parts of it. */
  async function outcome(
    claimed: Claimed | null,
    records: readonly MappedRecord[],
    outcome: RowOutcomeKind,
    { kind = 'counted', readSeqs, position = null, ...more }: Partial<CheckpointParts> = {},
  ): Promise<CheckpointInput> {
    const result: ChunkResult = {
      rowOutcomes: records.map((r) => rowOutcome(r, outcome)),
      bulkOutcomes: [],
      sent: claimed === null ? [] : records.map((r) => sent(r)),
      batches: claimed?.batches.map((b) => ({ id: b.id!, pending: [] })) ?? [],
      waiting: [],
      deadLetters: [],
      rowsReadTwice: 0,
      ...more,
    };
    const read = readSeqs ?? (await reading());
    return kind === 'counted'
      ? {
          kind,
          readSeqs: read,
          result,
          resumePoint: position && { kind: 'row', row: position },
        }
      : { kind, readSeqs: read, result };
  }

  const rowOutcome = ({ tenant, externalId, sourceKey }: MappedRecord, outcome: RowOutcomeKind): RowOutcome => ({
    tenantId: tenantIds.get(tenant)!,
    externalId,
    sourceKey,
    outcome,
  });

  const sent = (
    { tenant, externalId, contentHash }: MappedRecord,
    outcome: SentRecord['outcome'] = 'accepted',
  ): SentRecord => ({ tenantId: tenantIds.get(tenant)!, externalId, contentHash, outcome });

  /** The checkpoint of a poll that found these records accepted and all others still pending. */
  const polled = (batch: OpenBatch, accepted: readonly MappedRecord[]): CheckpointInput => ({
    kind: 'poll',
    batch,
    pending: batch.externalIds.filter((id) => !accepted.some((r) => r.externalId === id)),
    result: {
      rowOutcomes: accepted.map((r) => rowOutcome(r, 'accepted')),
      sent: accepted.map((r) => sent(r)),
      waiting: [],
    },
  });

  const waitingOf = (r: MappedRecord) => ({
    tenantId: tenantIds.get(r.tenant)!,
    externalId: r.externalId,
    sourceKey: r.sourceKey,
    missing: [],
  });

  /** Due in an hour. */
  const queued = (r: MappedRecord, more: Partial<QueuedRecord> = {}): QueuedRecord => ({
    ...waitingOf(r),
    kind: 'queued',
    reason: 'contended',
    rejection: null,
    dueIn: 3600,
    ...more,
  });

  const pending = (r: MappedRecord, batchId: string, more: Partial<PendingRecord> = {}): PendingRecord => ({
    ...waitingOf(r),
    kind: 'pending',
    reason: 'dependency',
    batchId,
    contentHash: r.contentHash,
    expiresAt: null,
    dependencyWait: 3600,
    ...more,
  });

  const deliver = async (partition: AcquiredPartition, records: readonly MappedRecord[], read?: Read): Promise<void> =>
    ledger.checkpoint(partition, await outcome(await claim(partition, records, read), records, 'accepted'));

  /** As the transaction does that plans a run's partitions for every row of a mapping. */
  async function loads(runId: string, mapping = mappingId): Promise<void> {
    const knex = openLedgerDatabase(database.url);
    try {
      await beginLoad(knex, mapping, runId);
    } finally {
      await knex.destroy();
    }
  }

  return {
    get database() {
      return database;
    },
    get ledger() {
      return ledger;
    },
    get mappingId() {
      return mappingId;
    },
    get tenantIds() {
      return tenantIds;
    },
    newMapping,
    newPartition,
    reading,
    claim,
    claimOn,
    outcome,
    rowOutcome,
    sent,
    polled,
    queued,
    pending,
    deliver,
    loads,
  };
}
