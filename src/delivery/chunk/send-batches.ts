/** Sends the batches of a chunk, and waits for the outcomes of their records. */
import type { PartnerSyncError } from '../../domain/errors.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import { allEnded } from '../all-ended.js';
import { missingParents } from '../parents/missing-parents.js';
import type { PartitionContext } from '../partition-context.js';
import { ALL_ACCEPTED, notAccepted } from '../upload/outcome.js';
import { settleBatch, type SettledBatch } from '../upload/settle-batch.js';
import { UnsentBatches } from '../upload/unsent-batches.js';
import { uploadBatch, type FailedRecord, type RefusedRecord } from '../upload/upload-batch.js';
import type { ChunkResultBuilder } from './chunk-result.js';

/**
 * Adds the outcomes of all records of the batches.
 *
 * @param readSeq the read sequence number drawn after the chunk was read
 * @throws PartnerSyncError what {@link uploadBatch} throws
 */
export async function sendBatches(
  context: PartitionContext,
  readSeq: string,
  batches: readonly IntendedBatch[],
  outcomes: ChunkResultBuilder,
): Promise<void> {
  const rejected: RefusedRecord[] = [];
  const failed: FailedRecord[] = [];
  const { refusals } = context.earlierChunks;
  const takenBefore = refusals.taken;
  const unsent = new UnsentBatches(batches);
  const send = async (batch: IntendedBatch): Promise<SettledBatch[]> => {
    const uploaded = await uploadBatch(context, batch, unsent);
    rejected.push(...uploaded.rejected);
    failed.push(...uploaded.failed);
    for (const single of uploaded.settled) outcomes.addBatch(single, ALL_ACCEPTED);
    return allEnded(uploaded.sent.map((part) => settleBatch(context, part, readSeq)));
  };
  let settled: SettledBatch[];
  try {
    const { meter } = context.mapping;
    settled = (await allEnded(batches.map((batch) => meter.sending(batch.records.length, () => send(batch))))).flat();
    // As long as it takes nothing, the platform fails, and not at these records.
    const unknown = failed.find(({ isKnown }) => !isKnown);
    if (unknown !== undefined && refusals.taken === takenBefore) throw unknown.error;
  } catch (error) {
    await unsent.release(context);
    throw error;
  }
  const parentsOf = await missingParents(
    context,
    rejected.map(({ batch }) => batch),
    rejected.map(({ record }) => record),
  );
  for (const { batch, outcomes: ofBatch } of settled) outcomes.addBatch(batch, ofBatch);
  for (const { batch, record, error } of rejected) {
    const message = messageOf(error);
    const outcome = notAccepted('rejected', { raw: message, masked: message }, parentsOf(record));
    outcomes.addBatch(batch, new Map([[record.externalId, outcome]]));
  }
  for (const { batch, record, error } of failed)
    outcomes.addBatch(batch, new Map([[record.externalId, { kind: 'failed', message: messageOf(error) }]]));
}

/** What the platform said about a record that was sent by itself; upload-batch.ts has masked it. */
const messageOf = ({ message, details }: PartnerSyncError): string =>
  [message, details['platformMessage'], ...((details['errors'] as readonly string[] | undefined) ?? [])]
    .filter(Boolean)
    .join('; ');
