/** Sends the batches of a chunk, and waits for the outcomes of their records. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import { allEnded } from '../all-ended.js';
import { undeliveredParents } from '../parents/parents.js';
import type { PartitionContext } from '../partition-context.js';
import { notAccepted } from '../upload/outcome.js';
import { settleBatch } from '../upload/settle-batch.js';
import { uploadBatch, type RejectedRecord } from '../upload/upload-batch.js';
import type { ChunkResultBuilder } from './chunk-result.js';

/**
 * Adds the outcomes of all records of the batches.
 *
 * @param readSeq the read sequence number drawn after the chunk was read
 * @throws PartnerSyncError `platform_refused` if the platform refuses many records one by one, for another reason than
 *   their parents, and takes no batch of the chunk
 */
export async function sendBatches(
  context: PartitionContext,
  readSeq: string,
  batches: readonly IntendedBatch[],
  outcomes: ChunkResultBuilder,
): Promise<void> {
  const done = await allEnded(
    batches.map((batch) =>
      context.mapping.meter.sending(batch.records.length, async () => {
        const { sent, rejected } = await uploadBatch(context, batch);
        return { settled: await allEnded(sent.map((part) => settleBatch(context, part, readSeq))), rejected };
      }),
    ),
  );
  const settled = done.flatMap((each) => each.settled);
  const rejected = done.flatMap((each) => each.rejected);
  const undelivered = await undeliveredParents(
    context,
    rejected.map(({ record }) => record),
  );
  if (settled.length === 0) stopIfMany(rejected.filter(({ record }) => !undelivered.has(record)));
  for (const { batch, outcomes: ofBatch } of settled) outcomes.addBatch(batch, ofBatch);
  for (const { batch, record, error } of rejected) {
    const message = messageOf(error);
    const outcome = notAccepted('rejected', { raw: message, masked: message }, undelivered.get(record) ?? []);
    outcomes.addBatch(batch, new Map([[record.externalId, outcome]]));
  }
}

/**
 * So many records of a chunk rejected one by one, and not one batch of it taken, are not dead letters but a mistake that
 * concerns them all. If the platform takes those of another tenant, the run goes on for that tenant.
 */
const ALL_REJECTED = 20;

function stopIfMany(rejected: readonly RejectedRecord[]): void {
  if (rejected.length < ALL_REJECTED) return;
  throw new PartnerSyncError(
    'platform_refused',
    `the platform refused every one of ${rejected.length} records: ${rejected[0]!.error.message}`,
  );
}

/** What the platform said about a record that it rejected by itself; upload-batch.ts has masked it. */
const messageOf = ({ message, details }: PartnerSyncError): string =>
  [message, details['platformMessage'], ...((details['errors'] as readonly string[] | undefined) ?? [])]
    .filter(Boolean)
    .join('; ');
