/**
 * The first of two passes over a mapping whose references form a cycle (ADR 0018): records that the platform does not
 * have yet are sent without those references, so that others can refer to them. The second pass reads all rows again.
 */
import type { MappedRecord } from '../../domain/records/record.js';
import { removesRecords } from '../../domain/sync/sync.js';
import type { EarlyCheckpoint } from '../../ledger/checkpoint/checkpoint-input.js';
import type { ResumePoint } from '../../ledger/runs/resume-point.js';
import { withResults, type Chunk } from '../../reading/chunk.js';
import { acceptedHashesOf } from '../accepted-hashes-of.js';
import { deliverChunk } from './deliver-chunk.js';
import { sentRecordsOf } from './sent-records-of.js';
import type { PartitionContext } from '../partition-context.js';
import { isRemoved } from '../removal-record.js';
import { withoutFields } from './without-fields.js';

/** Delivers the chunk. Returns the checkpoint to write, which contains accepted hashes and pending records only. */
export async function firstPassCheckpointOf(
  context: PartitionContext,
  chunk: Chunk,
  resumePoint: ResumePoint | null,
): Promise<EarlyCheckpoint> {
  const live = [...chunk.records].filter((record) => record.deletion === undefined);
  const { deps, mapping } = context;
  const acceptedHashes = await acceptedHashesOf(deps, mapping, live);
  const isThere = (record: MappedRecord): boolean => {
    const contentHash = acceptedHashes.get(record);
    if (contentHash === undefined) return false;
    // The platform may never have had a record that counts as marked.
    const { externalId } = record;
    return !(removesRecords(mapping.spec) && isRemoved(mapping, { externalId, contentHash }));
  };
  const unknown = live.filter((record) => !isThere(record));
  const results = unknown.map((record) => withoutFields(record, mapping.deferred));
  const delivery = await deliverChunk(context, withResults(chunk, results));
  return {
    kind: 'early',
    readSeqs: chunk,
    result: {
      // Why others were not accepted, the second pass finds out itself.
      sent: sentRecordsOf(delivery).filter(({ outcome }) => outcome === 'accepted' || outcome === 'pending'),
      batches: delivery.batches,
      waiting: delivery.waiting.filter((record) => record.kind === 'pending'),
    },
    resumePoint,
  };
}
