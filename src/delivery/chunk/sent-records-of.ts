/** The records of a chunk that were sent, for checkpoints that do not give their rows an outcome. */
import type { ChunkResult } from '../../ledger/checkpoint/checkpoint-input.js';
import { isOfRecords } from '../../ledger/outcomes/row-outcomes.js';
import type { SentRecord } from '../../ledger/outcomes/sent-records.js';

/** Also those in bulk, which are all accepted: as `bulkOutcomes` they would give their rows an outcome. */
export const sentRecordsOf = ({ sent, bulkOutcomes }: Pick<ChunkResult, 'sent' | 'bulkOutcomes'>): SentRecord[] => [
  ...sent,
  ...bulkOutcomes
    .filter(isOfRecords)
    .filter((bulk) => bulk.sent)
    .flatMap(({ tenantId, records }) =>
      records.map(({ externalId, contentHash }): SentRecord => ({
        tenantId,
        externalId,
        contentHash,
        outcome: 'accepted',
      })),
    ),
];
