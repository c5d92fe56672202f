/** A ledger in its own database for a test file, a new mapping for each test, and short forms of the usual steps. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { recordOf, RecordList } from '../../src/records/record-list.js';
import type { MappedRecord } from '../../src/domain/record.js';
import type { Claimed } from '../../src/ledger/claims.js';
import type { RowOutcomeKind, CheckpointInput } from '../../src/ledger/checkpoint-input.js';
import { openLedger, type Ledger } from '../../src/ledger/ledger.js';
import type { AcquiredPartition } from '../../src/ledger/partitions.js';
import type { PendingRecord, QueuedRecord } from '../../src/ledger/waiting-record.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { newPartitionOf } from './new-partition.js';

export interface Reading {
  readonly readSeqStart: string;
  readonly readSeqEnd: string;
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
  beforeEach(async () => {
    mappingId = await ledger.ids.mappingId('shop', randomUUID());
  });

  const newPartition = (movesPosition = true, run?: string): Promise<AcquiredPartition> =>
    newPartitionOf(ledger, mappingId, movesPosition, run);

  /** The read sequence numbers around a reading that happens now. */
  const reading = async (): Promise<Reading> => ({
    readSeqStart: await ledger.nextReadSeq(),
    readSeqEnd: await ledger.nextReadSeq(),
  });

  const claim = async (
    partition: AcquiredPartition,
    records: readonly MappedRecord[],
    read?: Reading,
  ): Promise<Claimed> =>
    ledger.claim(partition, {
      ...(read ?? (await reading())),
      records: RecordList.of(records),
      tenantIds,
      cut: (all) => (all.length === 0 ? [] : [all]),
    });

  /** What a checkpoint writes of a chunk whose rows all have this outcome; `more` replaces parts of it. */
  async function outcome(
    claimed: Claimed | null,
    records: readonly MappedRecord[],
    outcome: RowOutcomeKind,
    more: Partial<CheckpointInput> = {},
  ): Promise<CheckpointInput> {
    const tenantIdOf = (r: MappedRecord): number => tenantIds.get(r.tenant)!;
    return {
      reading: { kind: 'scan', ...(await reading()) },
      bulkOutcomes: [],
      records:
        claimed === null
          ? []
          : records.map((r) => ({
              tenantId: tenantIdOf(r),
              externalId: r.externalId,
              contentHash: r.contentHash,
              outcome: 'accepted',
            })),
      settled: claimed?.batches.map((b) => b.id!) ?? [],
      pending: [],
      waiting: [],
      deadLetters: [],
      rowOutcomes: records.map((r) => ({
        tenantId: tenantIdOf(r),
        externalId: r.externalId,
        sourceKey: r.sourceKey,
        outcome,
      })),
      readTwice: 0,
      position: null,
      done: false,
      ...more,
    };
  }

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
    reason: 'busy',
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

  const deliver = async (
    partition: AcquiredPartition,
    records: readonly MappedRecord[],
    read?: Reading,
  ): Promise<void> =>
    ledger.checkpoint(partition, await outcome(await claim(partition, records, read), records, 'accepted'));

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
    newPartition,
    reading,
    claim,
    outcome,
    queued,
    pending,
    deliver,
  };
}
