/**
 * The first of two passes over a mapping whose references form a circle (ADR 0018): records that the platform does not
 * have yet are sent without those references, so that others can refer to them. The second pass reads all rows again.
 */
import { encodeJson } from '../../domain/json.js';
import type { MappedRecord } from '../../domain/record.js';
import type { CheckpointInput } from '../../ledger/checkpoint-input.js';
import type { SentRecord } from '../../ledger/sent-records.js';
import { withResults, type Chunk } from '../../reading/chunk.js';
import { recordOf } from '../../records/record-list.js';
import { acceptedHashesOf } from '../accepted-hashes-of.js';
import type { ChunkResult } from './chunk-result.js';
import { deliverChunk } from './deliver-chunk.js';
import type { PartitionContext } from '../partition-context.js';

/** Leaves accepted hashes and pending records only: rows get their outcomes, and are counted, in the second pass. */
export async function deliverFirstPass(
  context: PartitionContext,
  chunk: Chunk,
): Promise<Omit<CheckpointInput, 'position' | 'done'>> {
  const live = [...chunk.records].filter((record) => record.deletion === undefined);
  const acceptedHashes = await acceptedHashesOf(context.deps, context.mapping, live);
  const unknown = live.filter((record) => !acceptedHashes.has(record));
  const results = unknown.map((record) => withoutFields(record, context.mapping.deferred));
  const delivery = await deliverChunk(context, withResults(chunk, results));
  return {
    reading: { kind: 'reread', readSeqStart: chunk.readSeqStart, readSeqEnd: chunk.readSeqEnd },
    bulkOutcomes: [],
    // Why others were not accepted, the second pass finds out itself.
    records: acceptedOf(delivery),
    settled: delivery.settled,
    pending: delivery.pending,
    waiting: delivery.waiting.filter((record) => record.kind === 'pending'),
    deadLetters: [],
    rowOutcomes: [],
    readTwice: 0,
  };
}

/** The same for rows that were read by their keys. Does nothing if the mapping's references form no circle. */
export async function deliverFirstPassOfRows(context: PartitionContext, chunk: Chunk): Promise<void> {
  if (context.mapping.deferred.size === 0) return;
  const outcome = await deliverFirstPass(context, chunk);
  await context.deps.ledger.checkpoint(context.partition, { ...outcome, position: null, done: false });
}

/** The accepted records one by one: as `bulkOutcomes` they would give their rows an outcome. */
const acceptedOf = ({ records, bulkOutcomes }: ChunkResult): SentRecord[] => [
  ...records.filter((record) => record.outcome === 'accepted'),
  ...bulkOutcomes
    .filter((batch) => batch.sent)
    .flatMap(({ tenantId, records }) =>
      records.map(({ externalId, contentHash }): SentRecord => ({
        tenantId,
        externalId,
        contentHash,
        outcome: 'accepted',
      })),
    ),
];

/** The record without these fields. A NULL field is kept, since it refers to nothing. */
function withoutFields(record: MappedRecord, fields: ReadonlySet<string>): MappedRecord {
  const { tenant, externalId, sourceKey, data } = record;
  const kept = Object.entries(data).filter(([name, value]) => value === null || !fields.has(name));
  if (kept.length === Object.keys(data).length) return record;
  return recordOf(tenant, externalId, sourceKey, encodeJson(Object.fromEntries(kept)));
}
