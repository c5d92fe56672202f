/** The one place that turns the outcomes of a chunk's rows into what a checkpoint writes. */
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import { seconds, times } from '../../domain/timeouts.js';
import type { MappedRecord, FailedRow } from '../../domain/records/record.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import type { Claimed } from '../../ledger/batches/claims.js';
import type { BatchResult } from '../../ledger/batches/close-batches.js';
import type { ChunkResult } from '../../ledger/checkpoint/checkpoint-input.js';
import {
  deadLetterOf,
  type BulkOutcome,
  type DeadLetter,
  type RowOutcome,
  type RowOutcomeKind,
} from '../../ledger/outcomes/row-outcomes.js';
import type { SentRecord } from '../../ledger/outcomes/sent-records.js';
import type { QueuedRecord, WaitingRecord } from '../../ledger/waiting/index.js';
import type { RecordList } from '../../records/record-list.js';
import { neverAccepted, rejectedRecord } from './new-dead-letters.js';
import type { DuplicateIds } from './duplicate-ids.js';
import { ALL_ACCEPTED, type BatchOutcomes, type Outcome } from '../upload/outcome.js';
import { retryDelay } from '../parents/retry-delay.js';
import type { ClassifiedRows } from './classify-rows.js';

export interface ChunkContext {
  /** Returns the tenant's number in the ledger; 0 for null. */
  readonly tenantIdOf: (tenant: string | null) => number;
  /** Seconds for which the platform was asked to keep children that lack a parent. */
  readonly dependencyWait: number;
  /** Left out if the rows are read for the first time in their run. */
  readonly retry?: Retry | undefined;
}

/** For rows that are read again, since their records were queued. */
export interface Retry {
  /** How often the record was sent before without being accepted. */
  readonly triesOf: (record: MappedRecord) => number;
  /** Whether the platform failed at it when it was sent last. */
  readonly hasFailed: (record: MappedRecord) => boolean;
  /** Whether all parents of the record were on the platform before it was sent again. */
  readonly hasParents: (record: MappedRecord) => boolean;
}

/** The outcomes of records that are not sent since the platform has them as they are. */
const UP_TO_DATE = { delivered_in_this_run: 'accepted', unchanged: 'unchanged' } as const;

/** What names a row, and the record that it maps to. */
type Row = Pick<FailedRow, 'tenant' | 'externalId' | 'sourceKey'>;

/** Collects the outcomes of a chunk's rows. Each row is added once; {@link result} is then what is to be written. */
export class ChunkResultBuilder {
  readonly #context: ChunkContext;
  readonly #bulkOutcomes: BulkOutcome[] = [];
  readonly #sent: SentRecord[] = [];
  readonly #batches: BatchResult[] = [];
  readonly #waiting: WaitingRecord[] = [];
  readonly #deadLetters: DeadLetter[] = [];
  readonly #rowOutcomes: RowOutcome[] = [];
  #rowsReadTwice = 0;

  constructor(context: ChunkContext) {
    this.#context = context;
  }

  /** What is to be written of all rows that were added. */
  get result(): ChunkResult {
    return {
      bulkOutcomes: this.#bulkOutcomes,
      sent: this.#sent,
      batches: this.#batches,
      waiting: this.#waiting,
      deadLetters: this.#deadLetters,
      rowOutcomes: this.#rowOutcomes,
      rowsReadTwice: this.#rowsReadTwice,
    };
  }

  /** Adds all rows but the sendable ones. */
  addUnsent({ failedRows, unsendable, duplicates, superseded, rowsReadTwice }: ClassifiedRows): void {
    const { tenantIdOf } = this.#context;
    if (failedRows.length > 0) this.#bulkOutcomes.push({ outcome: 'deadLettered', tenantIdOf, failedRows });
    for (const row of unsendable) this.#addDeadLetter(row);
    this.addDuplicates(duplicates);
    this.addSuperseded(superseded);
    this.#rowsReadTwice += rowsReadTwice;
  }

  /**
   * Adds the chunk's own rows as dead letters. Other rows with the same id get a dead letter too, but count where they
   * are read.
   */
  addDuplicates(found: DuplicateIds): void {
    for (const [own, ...others] of found.values()) {
      this.#addDeadLetter(own!);
      for (const other of others) this.#writeDeadLetter(other);
    }
  }

  /** Adds rows that are marked as deleted and have no say: what becomes of the record is the outcome of another row. */
  addSuperseded(records: Iterable<MappedRecord>): void {
    for (const { tenant, sourceKey } of records) this.#endRow({ tenant, externalId: null, sourceKey }, 'unchanged');
  }

  /**
   * Adds the records that a claim skipped, by their index. Those that were `sent_in_this_run`, and deletions, are left to the
   * caller, who has to look for other rows with their external ids first.
   */
  addSkipped(records: RecordList, skipReasons: Claimed['skipReasons']): void {
    const upToDate = { accepted: new Map<string, number[]>(), unchanged: new Map<string, number[]>() };
    // Neighbours mostly have one reason and one tenant, so their list is looked up only where either changes.
    let [reason, tenant, same]: [(typeof skipReasons)[number], string, number[]] = [undefined, '', []];
    for (let index = 0; index < skipReasons.length; index++) {
      const next = skipReasons[index];
      if (next === 'contended') this.#queue(records.at(index), 'contended', seconds('readAgain'));
      else if (next === 'pending') this.#endRow(records.at(index), 'waiting');
      else if (next === 'delivered_in_this_run' || next === 'unchanged') {
        const tenantOfNext = records.tenantAt(index);
        if (next !== reason || tenantOfNext !== tenant) {
          [reason, tenant] = [next, tenantOfNext];
          same = getOrInsert(upToDate[UP_TO_DATE[next]], tenant, () => []);
        }
        same.push(index);
      }
    }
    for (const outcome of Object.values(UP_TO_DATE))
      for (const [name, indexes] of upToDate[outcome]) {
        const tenantId = this.#context.tenantIdOf(name);
        this.#bulkOutcomes.push({ outcome, tenantId, sent: false, records: records.only(indexes) });
      }
  }

  /** Adds a batch with the outcomes of its records: a settled batch, or a single record that was rejected. */
  addBatch({ id, tenantId, records }: IntendedBatch, outcomes: BatchOutcomes): void {
    if (outcomes === ALL_ACCEPTED) {
      this.#bulkOutcomes.push({ tenantId, outcome: 'accepted', sent: true, records });
      if (id !== null) this.#batches.push({ id, pending: [] });
      return;
    }
    const pending: string[] = [];
    for (const record of records) {
      const outcome = outcomes.get(record.externalId) ?? { kind: 'unknown' };
      this.#addOutcome(record, outcome, { id, records: records.length });
      if (outcome.kind === 'pending') pending.push(record.externalId);
    }
    if (id !== null) this.#batches.push({ id, pending });
  }

  #addDeadLetter(row: FailedRow): void {
    this.#writeDeadLetter(row);
    this.#endRow(row, 'deadLettered');
  }

  #addOutcome(record: MappedRecord, outcome: Outcome, batch: { id: string | null; records: number }): void {
    const { retry } = this.#context;
    switch (outcome.kind) {
      case 'accepted':
        this.#noteSent(record, 'accepted');
        return this.#endRow(record, 'accepted');
      case 'rejected':
        this.#noteSent(record, 'rejected');
        if (outcome.lateParents.length > 0 && retry?.hasParents(record) !== true)
          return this.#queue(record, 'lacks_parent', this.#retryDelay(record), outcome.lateParents);
        return this.#addDeadLetter(rejectedRecord(record, outcome.message));
      case 'lacks_parent': {
        const { missing, message: rejection } = outcome;
        this.#noteSent(record, outcome.proven);
        // They were delivered before each attempt, and the platform shows none of them: it must be something else.
        if (retry?.hasParents(record) === true && retry.triesOf(record) >= times('childAttempts'))
          return this.#addDeadLetter(rejectedRecord(record, rejection ?? ''));
        return this.#queue(record, 'lacks_parent', this.#retryDelay(record), missing, rejection);
      }
      case 'unknown':
        this.#noteSent(record, 'unknown');
        // Of several records, another one may be at fault.
        if (
          batch.records === 1 &&
          retry?.hasFailed(record) === false &&
          retry.triesOf(record) >= times('childAttempts')
        )
          return this.#addDeadLetter(neverAccepted(record));
        return this.#queue(record, 'unknown', seconds('readAgain'));
      case 'failed':
        this.#noteSent(record, 'unknown');
        return this.#queue(record, 'unknown', retryDelay((retry?.triesOf(record) ?? 0) + 1), [], outcome.message);
      case 'pending':
        this.#noteSent(record, 'pending');
        this.#waiting.push({
          ...this.#named(record),
          kind: 'pending',
          reason: 'dependency',
          // A batch with pending records has an id: settle-batch.ts has written it to the ledger, so that it can be
          // polled.
          batchId: batch.id!,
          contentHash: record.contentHash,
          missing: outcome.missing,
          expiresAt: outcome.expiresAt,
          dependencyWait: this.#context.dependencyWait,
        });
        return this.#endRow(record, 'waiting');
    }
  }

  /** Seconds until a record that may have lacked a parent is sent again. */
  #retryDelay(record: MappedRecord): number {
    const { retry } = this.#context;
    return retry === undefined ? seconds('readAgain') : retryDelay(retry.triesOf(record) + 1);
  }

  /** Adds what the record index keeps of a record that was sent. */
  #noteSent({ tenant, externalId, contentHash }: MappedRecord, outcome: SentRecord['outcome']): void {
    this.#sent.push({ tenantId: this.#context.tenantIdOf(tenant), externalId, contentHash, outcome });
  }

  /** The record is in no batch: its row is read and sent again in `dueIn` seconds. */
  #queue(
    record: MappedRecord,
    reason: QueuedRecord['reason'],
    dueIn: number,
    missing: QueuedRecord['missing'] = [],
    rejection: string | null = null,
  ): void {
    this.#waiting.push({ ...this.#named(record), kind: 'queued', reason, missing, rejection, dueIn });
    this.#endRow(record, 'waiting');
  }

  #writeDeadLetter(row: FailedRow): void {
    this.#deadLetters.push(deadLetterOf(row, this.#context.tenantIdOf(row.tenant)));
  }

  #endRow(row: Row, outcome: RowOutcomeKind): void {
    this.#rowOutcomes.push({ ...this.#named(row), outcome });
  }

  #named<R extends Row>({ tenant, externalId, sourceKey }: R) {
    return {
      tenantId: this.#context.tenantIdOf(tenant),
      externalId: externalId as R['externalId'],
      sourceKey,
    };
  }
}
