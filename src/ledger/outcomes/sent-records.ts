/** Records that were sent, and what the record index keeps of them for later readings. */
import type { Knex } from 'knex';
import { isOfRecords, type BulkOutcome } from './row-outcomes.js';
import { hashAt } from '../database/statements.js';
import { changeRecords, type RecordEntry } from '../record-index/index.js';
import type { RecordKeys } from '../record-key.js';

export interface SentRecord {
  readonly tenantId: number;
  readonly externalId: string;
  /**
   * - `unknown`: it cannot be told whether the platform accepted it.
   * - `pending`: the platform keeps it until its parent arrives; whoever looks for records finds it from now on.
   */
  readonly outcome: 'accepted' | 'rejected' | 'unknown' | 'pending';
  /** What was sent, 32 hex digits. */
  readonly contentHash: string;
}

/** The accepted hash that each outcome leaves: acceptance sets it, and only an unknown outcome makes it doubtful. */
const ACCEPTED_HASH: Record<SentRecord['outcome'], (sent: string, before: string | null) => string | null> = {
  accepted: (sent) => sent,
  rejected: (_sent, before) => before,
  unknown: () => null,
  pending: (_sent, before) => before,
};

/** Which run sent records, and the read sequence number drawn after it had read their rows. */
export interface SentBy {
  readonly runId: string;
  readonly readSeq: string;
}

/**
 * Writes into the record index that it cannot be told what the platform has of these records: in the transaction that notes a
 * doubt, since their next outcome may be that of another copy.
 */
export async function writeUnknown(trx: Knex, mappingId: number, keys: RecordKeys): Promise<void> {
  await changeRecords(trx, mappingId, keys, (_index, entry) =>
    entry === undefined || entry.contentHash === null ? undefined : { ...entry, contentHash: null },
  );
}

/** Writes outcomes of records that were sent into the record index, in the transaction that closes their batches. */
export async function writeSentRecords(
  trx: Knex,
  mappingId: number,
  { runId, readSeq }: SentBy,
  outcomes: readonly SentRecord[],
  bulkOutcomes: readonly BulkOutcome[] = [],
): Promise<void> {
  const sending = { readSeq: Number(readSeq), runId: Number(runId) };
  // The single outcomes come first, then those in bulk.
  const keys = { tenantIds: outcomes.map((o) => o.tenantId), externalIds: outcomes.map((o) => o.externalId) };
  const hashes: Buffer[] = [];
  for (const { tenantId, sent, records } of bulkOutcomes.filter(isOfRecords)) {
    if (!sent) continue;
    hashes.push(records.hashes);
    for (const externalId of records.externalIds) {
      keys.tenantIds.push(tenantId);
      keys.externalIds.push(externalId);
    }
  }
  const accepted = { from: outcomes.length, hashes: Buffer.concat(hashes), ...sending };
  const decide = (index: number, entry: RecordEntry | undefined): RecordEntry => {
    const single = outcomes[index];
    const contentHash =
      single === undefined
        ? hashAt(accepted.hashes, index - accepted.from)
        : ACCEPTED_HASH[single.outcome](single.contentHash, entry?.contentHash ?? null);
    // A claim may have read the row again since, of a record that was pending or in doubt.
    const readSeq = Math.max(sending.readSeq, entry?.readSeq ?? 0);
    return { externalId: keys.externalIds[index]!, contentHash, readSeq, runId: sending.runId };
  };
  await changeRecords(trx, mappingId, keys, decide, accepted);
}
