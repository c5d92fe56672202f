/**
 * Uploads one batch (platform-api.md 4.8). A batch that is rejected as a whole is halved down to the record at fault.
 */
import { milliseconds, times } from '../../domain/timeouts.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappedRecord } from '../../domain/records/record.js';
import type { MappingOptions } from '../../domain/sync/sync.js';
import { isInDoubt } from '../../platform/error.js';
import { segmentProblem } from '../../platform/path.js';
import type { Pace } from '../../platform/pace.js';
import { backoffMs } from '../../platform/retry.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import type { PartitionContext } from '../partition-context.js';
import { maskedMessage } from './platform-message.js';
import { stopIfAllRefused } from './stop-if-all-refused.js';

/** A batch that the platform has accepted. */
export interface SentBatch extends IntendedBatch {
  readonly platformBatchId: string;
  /** Resolves when the ledger has the platform's id. It may reject, so it must be awaited. */
  readonly recorded: Promise<void>;
}

/** A record that was rejected by itself; the platform's messages in `error.details` are masked. */
export interface RejectedRecord {
  readonly batch: IntendedBatch;
  readonly record: MappedRecord;
  readonly error: PartnerSyncError;
}

/** What became of a batch, which may have been split: its parts. */
export interface UploadResult {
  readonly sent: readonly SentBatch[];
  readonly rejected: readonly RejectedRecord[];
}

/** Milliseconds that one POST may take, and the age at which its intent is renewed first: both fit into one delay. */
const postTimeoutMs = (inDoubtDelay: number): number => inDoubtDelay * 1000 * times('postShareOfInDoubtDelay');

/**
 * If it throws, batches that were certainly not sent are no longer in the ledger as intents.
 *
 * @throws PartnerSyncError `schema_not_pushed`, `platform_refused` if the platform refuses every record
 *   (stop-if-all-refused.ts), `platform_busy` once the platform has been busy for too long,
 *   `fenced_off` if another attempt has taken the partition over, and whatever else the client throws
 */
export async function uploadBatch(context: PartitionContext, intended: IntendedBatch): Promise<UploadResult> {
  const upload: Upload = { batch: intended, mayHaveArrived: false };
  let rejection: PartnerSyncError;
  try {
    const ended = await uploadWhole(context, upload);
    if (!(ended instanceof PartnerSyncError)) return { sent: [ended], rejected: [] };
    rejection = ended;
    if (upload.batch.records.length === 1) {
      const rejected = rejectedAlone(context, upload.batch, rejection);
      await stopIfAllRefused(context, rejected.record, rejected.error);
      return { sent: [], rejected: [rejected] };
    }
  } catch (error) {
    if (!upload.mayHaveArrived) await release(context, [upload.batch]);
    throw error;
  }
  return uploadHalves(context, upload.batch, rejection);
}

/** A batch that is being uploaded. */
interface Upload {
  /** With its latest intent. */
  batch: IntendedBatch;
  /** Whether the platform may have taken it although no response said so. */
  mayHaveArrived: boolean;
}

/** Uploads the batch, again and again if that can help. Returns it if the platform has taken it, else the rejection. */
async function uploadWhole(context: PartitionContext, upload: Upload): Promise<SentBatch | PartnerSyncError> {
  const { sync, mapping, signal } = context;
  const { refusals } = context.earlierChunks;
  let failures: Failures | undefined;
  while (true) {
    let isSent = false;
    try {
      const sent = await sync.requestLimit.run({ queue: upload.batch.tenant, signal }, (pace) =>
        post(context, upload.batch, pace, async () => {
          if (refusals.stopped !== null) throw refusals.stopped;
          // A process that was frozen since the intent must not send: its successor has taken the records over.
          if (Date.now() - upload.batch.intendedAt > postTimeoutMs(sync.spec.upload.inDoubtDelay))
            upload.batch = await context.deps.ledger.batches.renew(context.partition, upload.batch);
          isSent = true;
        }),
      );
      refusals.anyTaken = true;
      return { ...upload.batch, ...sent };
    } catch (error) {
      if (isSent) upload.mayHaveArrived ||= !(error instanceof PartnerSyncError) || isInDoubt(error);
      if (!(error instanceof PartnerSyncError) || error === refusals.stopped) throw error;
      failures ??= { since: Date.now(), inDoubt: 0, busy: 0 };
      const next = afterFailure(context, error, failures);
      if (next === 'rejected') return error;
      sync.onRetry(error.code, Date.now() - failures.since);
      if (next.repeatIn > 0) await sleep(next.repeatIn, undefined, { signal });
      mapping.meter.batchRepeated();
    }
  }
}

/**
 * Closes the intents of batches that the platform certainly does not have, for an attempt that ends here: the next one need
 * not wait for them. If the ledger cannot be told, it waits as after a crash.
 */
export const release = ({ deps }: PartitionContext, batches: readonly IntendedBatch[]): Promise<void> =>
  deps.ledger.batches.release(batches).catch(() => undefined);

/** How the attempts to upload one batch have failed so far. */
interface Failures {
  /** When the first one did, in milliseconds of this process's clock. */
  readonly since: number;
  /** How often the response was lost, and how often the platform was busy. */
  inDoubt: number;
  busy: number;
}

/**
 * What follows a failed attempt: the same batch is sent again after so many milliseconds, or the platform rejects this
 * batch. Rethrows a failure that neither can help.
 */
function afterFailure(
  context: PartitionContext,
  error: PartnerSyncError,
  failures: Failures,
): { readonly repeatIn: number } | 'rejected' {
  // The platform may have taken the batch, and must have finished it before the records are sent again: it promises no
  // order between batches.
  if (isInDoubt(error) && failures.inDoubt++ < times('inDoubtRepeats'))
    return { repeatIn: context.sync.spec.upload.inDoubtDelay * 1000 };
  // The client itself waits for a new token before it sends anything.
  if (context.deps.platform.awaitsToken(error)) return { repeatIn: 0 };
  if (error.code === 'platform_busy') {
    const asked = error.details['retryAfterMs'];
    const delay = typeof asked === 'number' ? asked : backoffMs(failures.busy++);
    if (Date.now() - failures.since + delay > milliseconds('longestBusyWait')) throw error;
    // A delay that the platform asked for is kept by the client, for all requests.
    return { repeatIn: typeof asked === 'number' ? 0 : delay };
  }
  if (error.code !== 'platform_refused' && error.code !== 'platform_too_large') throw error;
  if (error.details['status'] === 404) throw unknownSchema(context, error);
  return 'rejected';
}

/** The rejection of a single record. Its messages go into the record's dead letter, so the record's values are masked. */
function rejectedAlone({ sync }: PartitionContext, batch: IntendedBatch, error: PartnerSyncError): RejectedRecord {
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

async function post(
  context: PartitionContext,
  batch: IntendedBatch,
  pace: Pace,
  before: () => Promise<void>,
): Promise<Pick<SentBatch, 'platformBatchId' | 'recorded'>> {
  const { deps, mapping, sync, signal } = context;
  const query = uploadQuery(mapping.spec.options);
  const accepted = await deps.platform.uploadResources(mapping.spec.schema.name, bodyOf(batch), query, {
    tenant: batch.tenant,
    // The intent's age is checked right before the request: waiting for a token or a Retry-After may take long.
    once: true,
    pace,
    before,
    // Once it has begun, a POST is finished and recorded even if the activity is cancelled, or the batch would be in
    // doubt. It ends within one delay of its intent, so that a successor knows when it must be over.
    signal,
    onRetry: sync.onRetry,
    finish: true,
    timeout: postTimeoutMs(sync.spec.upload.inDoubtDelay),
  });
  const problem = segmentProblem(accepted.batchId);
  if (problem !== undefined)
    throw new PartnerSyncError('platform_response_invalid', `the platform took a batch, but its batchId ${problem}`, {
      inDoubt: true,
    });
  mapping.meter.batchSent();
  const recorded = deps.ledger.batches.markSent(batch, accepted.batchId);
  recorded.catch(() => undefined);
  return { platformBatchId: accepted.batchId, recorded };
}

async function uploadHalves(
  context: PartitionContext,
  batch: IntendedBatch,
  rejection: PartnerSyncError,
): Promise<UploadResult> {
  const tooLong = rejection.code === 'platform_too_large';
  if (tooLong) context.mapping.batchLimits.tooLong(bodyOf(batch).length);
  const middle = Math.ceil(batch.records.length / 2);
  const halves = await context.deps.ledger.batches.split(context.partition, batch, [
    batch.records.slice(0, middle),
    batch.records.slice(middle),
  ]);
  const results: UploadResult[] = [];
  // Not side by side: what is wrong with the first half may be wrong with the second too.
  for (const [i, half] of halves.entries()) {
    try {
      results.push(await uploadBatch(context, half));
    } catch (error) {
      const rejected = results.flatMap((result) => result.rejected);
      await release(context, [...rejected.map((each) => each.batch), ...halves.slice(i + 1)]);
      throw error;
    }
  }
  const sent = results.flatMap((r) => r.sent);
  const rejected = results.flatMap((r) => r.rejected);
  // Refused together and accepted in halves: there were too many of them, whatever the platform's message said.
  if (!tooLong && rejected.length === 0 && sent.length === halves.length)
    context.mapping.batchLimits.tooMany(batch.records.length);
  return { sent, rejected };
}

const bodyOf = ({ records }: IntendedBatch): Buffer => records.joined('{"resources":[', ']}');

const uploadQuery = (options: MappingOptions) => ({
  onconflict: options.onConflict,
  ignoreUnknownFields: options.ignoreUnknownFields,
  dependencyWaitTimeout: options.dependencyWaitTimeout,
});

const unknownSchema = (context: PartitionContext, error: PartnerSyncError): PartnerSyncError =>
  new PartnerSyncError(
    'schema_not_pushed',
    `the platform does not know schema "${context.mapping.spec.schema.name}" (${error.message}); run: partner-sync schema push ${context.sync.spec.name}`,
  );
