/** What became of records that were sent, as the ledger keeps it for the next reading. */
import type { Knex } from 'knex';
import { HASH_BYTES, type RecordList } from '../domain/record-list.js';
import type { TakenRange } from './ranges.js';
import type { RecordEntry } from './record-block.js';
import { changeRecords } from './record-blocks.js';

export interface RecordOutcome {
  readonly tenantId: number;
  readonly externalId: string;
  readonly outcome: 'accepted' | 'rejected' | 'unclear';
  /** What was sent, 32 hex digits. */
  readonly contentHash: string;
}

/**
 * Rows that all ended alike, with nothing to be said of any one: nearly all rows do, and an object each would cost more
 * than their way to the platform.
 */
export interface Bulk {
  readonly tenantId: number;
  readonly column: 'accepted' | 'unchanged';
  /** Whether they were sent; if not, the ledger knows their content already. */
  readonly sent: boolean;
  readonly records: RecordList;
}

/** What an outcome leaves as the content known to be on the platform: it is set by acceptance only. */
const KNOWN_CONTENT: Record<RecordOutcome['outcome'], (sent: RecordOutcome, before: string | null) => string | null> = {
  accepted: (sent) => sent.contentHash,
  rejected: (_, before) => before,
  unclear: () => null,
};

/** Notes what became of records of batches, which this transaction closes. */
export async function writeOutcomes(
  trx: Knex,
  range: Pick<TakenRange, 'mappingId' | 'runId'>,
  stamp: string,
  outcomes: readonly RecordOutcome[],
  bulk: readonly Bulk[] = [],
): Promise<void> {
  const [runId, readStamp] = [Number(range.runId), Number(stamp)];
  const keys = { tenantIds: outcomes.map((o) => o.tenantId), externalIds: outcomes.map((o) => o.externalId) };
  const hashes: Buffer[] = [];
  for (const { tenantId, sent, records } of bulk) {
    if (!sent) continue;
    hashes.push(records.hashes);
    for (const externalId of records.externalIds) {
      keys.tenantIds.push(tenantId);
      keys.externalIds.push(externalId);
    }
  }
  const accepted = { from: outcomes.length, hashes: Buffer.concat(hashes), readStamp, runId };
  const decide = (index: number, entry: RecordEntry | undefined): RecordEntry => {
    const sent = outcomes[index];
    const contentHash =
      sent === undefined
        ? accepted.hashes.toString(
            'hex',
            (index - accepted.from) * HASH_BYTES,
            (index - accepted.from + 1) * HASH_BYTES,
          )
        : KNOWN_CONTENT[sent.outcome](sent, entry?.contentHash ?? null);
    return { externalId: keys.externalIds[index]!, contentHash, readStamp, runId };
  };
  await changeRecords(trx, range.mappingId, keys, decide, accepted);
}
