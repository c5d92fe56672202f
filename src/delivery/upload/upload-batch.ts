/**
 * Uploads one batch. One that is rejected as a whole, or at which the platform fails again and again, is halved down to the record
 * at fault.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import { marksAsDeleted, type MappedRecord } from '../../domain/records/record.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import type { PartitionContext } from '../partition-context.js';
import { notStored } from './not-stored.js';
import { maskedMessage } from './platform-message.js';
import { bodyOf, postBatch, type FailedPost, type SentBatch } from './post-batch.js';
import { stopIfAllRefused } from './stop-if-all-refused.js';
import type { UnsentBatches } from './unsent-batches.js';

/** A record that was sent by itself in vain; the platform's messages in `error.details` are masked. */
export interface RefusedRecord {
  readonly batch: IntendedBatch;
  readonly record: MappedRecord;
  readonly error: PartnerSyncError;
}

export interface FailedRecord extends RefusedRecord {
  /** Whether the record waits already, as it failed before: then it says nothing about how the platform is now. */
  readonly isKnown: boolean;
}

/** What became of a batch, which may have been split: its parts. */
export interface UploadResult {
  readonly sent: readonly SentBatch[];
  readonly rejected: readonly RefusedRecord[];
  /** Single records at which the platform fails, again and again. */
  readonly failed: readonly FailedRecord[];
  /**
   * Single records that the platform refuses and that leave nothing to be done: marks of records that it does not have, and
   * records that it has as they were sent.
   */
  readonly settled: readonly IntendedBatch[];
}

const NOTHING: UploadResult = { sent: [], rejected: [], failed: [], settled: [] };

/** In the parts of a batch, the record is searched at which the platform fails. */
interface Search {
  /** How many batches the platform had taken in this attempt when the search began. */
  readonly takenBefore: number;
  /** At how many single records it has failed since, of which none was known before. */
  failed: number;
}

/** So many single records failed, and nothing taken since the search began: then it is not the records at which the platform fails. */
const SEARCHED_IN_VAIN = 3;

/**
 * @param unsent has the batch; told when that, or a part of it, may be on the platform
 * @throws PartnerSyncError `schema_not_pushed`, `platform_refused` if the platform refuses every record
 *   (stop-if-all-refused.ts), `platform_busy` once the platform has been busy for too long, `platform_failed` if it fails at everything,
 *   `fenced_off` if another attempt has taken the partition over, and whatever else the client throws
 */
export async function uploadBatch(
  context: PartitionContext,
  intended: IntendedBatch,
  unsent: UnsentBatches,
  search: Search | null = null,
): Promise<UploadResult> {
  const result = await postBatch(context, intended, unsent, search !== null);
  if (result.kind === 'sent') return { ...NOTHING, sent: [result.batch] };
  const { kind, batch } = result;
  if (batch.records.length > 1) return uploadHalves(context, result, unsent, search);
  const record = batch.records.at(0);
  // An earlier copy, whose response was lost, may have been taken: then the record "exists".
  const mayBeStored =
    kind === 'failed' || marksAsDeleted(record) || context.mapping.spec.options.onConflict === 'reject';
  if (mayBeStored && (await isStored(context, batch, kind))) return { ...NOTHING, settled: [batch] };
  const alone = refusedAlone(context, batch, result.error);
  if (kind === 'rejected') {
    await stopIfAllRefused(context, record, alone.error);
    return { ...NOTHING, rejected: [alone] };
  }
  const isKnown = await waits(context, batch);
  if (search !== null && !isKnown && ++search.failed >= SEARCHED_IN_VAIN && search.takenBefore === takenIn(context))
    throw result.error;
  return { ...NOTHING, failed: [{ ...alone, isKnown }] };
}

/** Whether the platform has the single record of the batch as it was sent. One at which it fails may make it fail here, too. */
async function isStored(context: PartitionContext, batch: IntendedBatch, kind: FailedPost['kind']): Promise<boolean> {
  const how = { isProcessed: kind === 'rejected', once: kind === 'failed' };
  try {
    return (await notStored(context, batch.tenant, [batch.records.at(0)], how)).length === 0;
  } catch (error) {
    if (kind === 'failed' && error instanceof PartnerSyncError && error.code === 'platform_failed') return false;
    throw error;
  }
}

/** Whether the single record of the batch waits already. */
async function waits({ deps, partition }: PartitionContext, batch: IntendedBatch): Promise<boolean> {
  const key = { tenantId: batch.tenantId, externalId: batch.records.at(0).externalId };
  return (await deps.ledger.waiting.among(partition.mappingId, [key])).size > 0;
}

const takenIn = ({ earlierChunks }: PartitionContext): number => earlierChunks.refusals.taken;

/** The failure of a single record. Its messages go into the ledger, so the record's values are masked. */
function refusedAlone({ sync }: PartitionContext, batch: IntendedBatch, error: PartnerSyncError): RefusedRecord {
  const record = batch.records.at(0);
  const schemas = sync.spec.mappings.map((m) => m.schema.name);
  const { status, platformMessage, errors } = error.details as {
    status: number;
    platformMessage: string;
    errors: readonly string[];
  };
  const masked = (text: string): string => maskedMessage(text, record, schemas);
  const details = { ...error.details, platformMessage: masked(platformMessage), errors: errors.map(masked) };
  return { batch, record, error: new PartnerSyncError(error.code, `returned ${status}`, details) };
}

async function uploadHalves(
  context: PartitionContext,
  { kind, batch, error }: FailedPost,
  unsent: UnsentBatches,
  search: Search | null,
): Promise<UploadResult> {
  const tooLong = error.code === 'platform_too_large';
  const begun = kind === 'failed' ? (search ?? { takenBefore: takenIn(context), failed: 0 }) : search;
  if (tooLong) context.mapping.batchLimits.tooLong(bodyOf(batch).length);
  const middle = Math.ceil(batch.records.length / 2);
  const halves = await context.deps.ledger.batches.split(context.partition, batch, [
    batch.records.slice(0, middle),
    batch.records.slice(middle),
  ]);
  unsent.replace(batch, halves);
  const results: UploadResult[] = [];
  // Not side by side: what is wrong with the first half may be wrong with the second too.
  for (const half of halves) results.push(await uploadBatch(context, half, unsent, begun));
  const sent = results.flatMap((r) => r.sent);
  const rejected = results.flatMap((r) => r.rejected);
  const failed = results.flatMap((r) => r.failed);
  const settled = results.flatMap((r) => r.settled);
  // Refused together and accepted in halves: there were too many of them, whatever the platform's message said.
  if (kind === 'rejected' && !tooLong && rejected.length === 0 && sent.length === halves.length)
    context.mapping.batchLimits.tooMany(batch.records.length);
  return { sent, rejected, failed, settled };
}
