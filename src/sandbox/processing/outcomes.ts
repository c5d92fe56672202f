/** Collects the outcomes of records, of one batch or many, and writes them to the batches' counters and errors. */
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import type { Queryable } from '../database.js';
import type { SandboxSettings } from '../settings.js';
import { failureMessage } from './failure-message.js';
import type { Failure, IncomingRecord, Outcome } from './incoming.js';

/** Differences to add to a batch's counters. */
interface Change {
  successful: number;
  failed: number;
  pending: number;
}

interface RecordError {
  readonly batch_id: string;
  readonly record_index: number;
  readonly external_id: string | null;
  readonly rule: string;
  readonly reason: string;
}

/**
 * Counts outcomes by batch and keeps the reasons of failures until {@link Outcomes.save} writes them. Used once per
 * transaction.
 */
export class Outcomes {
  readonly #messages: SandboxSettings['failureMessages'];
  readonly #changes = new Map<string, Change>();
  readonly #errors: RecordError[] = [];

  constructor({ failureMessages }: Pick<SandboxSettings, 'failureMessages'>) {
    this.#messages = failureMessages;
  }

  /** Adds a record's outcome. A record that was pending also leaves its batch's pending count. */
  add(record: IncomingRecord, outcome: Outcome): void {
    if (record.pendingId !== null) this.#of(record.batchId).pending -= 1;
    switch (outcome.kind) {
      case 'stored':
        this.#of(record.batchId).successful += 1;
        break;
      case 'waiting':
        this.#of(record.batchId).pending += 1;
        break;
      case 'failed':
        this.addFailure(record.batchId, record.index, record.externalId, outcome);
        break;
    }
  }

  /** Adds a failed record. One without a usable external id is identified by its index in the batch. */
  addFailure(batchId: string, index: number, externalId: string | null, failure: Failure): void {
    this.#of(batchId).failed += 1;
    this.#errors.push({
      batch_id: batchId,
      record_index: index,
      external_id: externalId,
      rule: failure.rule,
      reason: failureMessage(failure, this.#messages),
    });
  }

  /**
   * Writes everything and completes the batches whose pending count reaches 0. Must be the transaction's last write.
   */
  async save(db: Queryable): Promise<void> {
    if (this.#errors.length > 0)
      await db.query(
        `insert into sandbox.record_errors (batch_id, record_index, external_id, rule, reason)
         select batch_id, record_index, external_id, rule, reason from jsonb_to_recordset($1::jsonb)
             as e (batch_id uuid, record_index integer, external_id text, rule text, reason text)`,
        [JSON.stringify(this.#errors)],
      );
    const changes = [...this.#changes].map(([batch_id, change]) => ({ batch_id, ...change }));
    if (changes.length === 0) return;
    await db.query(
      `update sandbox.batches b
          set successful = b.successful + c.successful,
              failed = b.failed + c.failed,
              pending = b.pending + c.pending,
              completed_at = case when b.pending + c.pending = 0 then clock_timestamp() end
         from jsonb_to_recordset($1::jsonb) as c (batch_id uuid, successful integer, failed integer, pending integer)
        where b.id = c.batch_id`,
      [JSON.stringify(changes)],
    );
  }

  #of(batchId: string): Change {
    return getOrInsert(this.#changes, batchId, () => ({ successful: 0, failed: 0, pending: 0 }));
  }
}
