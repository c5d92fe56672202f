/**
 * Uploads one batch (platform-api.md 4.8). A batch that is rejected as a whole, or at which the platform fails again and again, is
 * halved down to the record at fault.
 */
import { milliseconds, times } from '../../domain/timeouts.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../../domain/errors.js';
import { marksAsDeleted, type MappedRecord } from '../../domain/records/record.js';
import type { MappingOptions } from '../../domain/sync/sync.js';
import { callFacts, isInDoubt } from '../../platform/error.js';
import { segmentProblem } from '../../platform/path.js';
import type { Pace } from '../../platform/pace.js';
import { backoffMs } from '../../platform/retry.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import type { PartitionContext } from '../partition-context.js';
import { dependencyWaitOf } from './dependency-wait.js';
import { maskedMessage } from './platform-message.js';
import { notStored } from './not-stored.js';
import { stopIfAllRefused } from './stop-if-all-refused.js';
import type { UnsentBatches } from './unsent-batches.js';

/** A batch that the platform has accepted. */
export interface SentBatch extends IntendedBatch {
  readonly platformBatchId: string;
  /** Resolves when the ledger has the platform's id. It may reject, so it must be awaited. */
  readonly recorded: Promise<void>;
}

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

/** Milliseconds that one POST may take, and the age at which its intent is renewed first: both fit into one delay. */
const postTimeoutMs = (inDoubtDelay: number): number => inDoubtDelay * 1000 * times('postShareOfInDoubtDelay');

/** What became of one batch as a whole. */
type WholeResult =
  | { readonly kind: 'sent'; readonly batch: SentBatch }
  /** `failed`: the platform fails at it again and again, but may have taken it. */
  | { readonly kind: 'rejected' | 'failed'; readonly batch: IntendedBatch; readonly error: PartnerSyncError };
type Vain = Exclude<WholeResult, { kind: 'sent' }>;

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
  const result = await uploadWhole(context, intended, unsent, search);
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
async function isStored(context: PartitionContext, batch: IntendedBatch, kind: Vain['kind']): Promise<boolean> {
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

/** Uploads the batch, again and again if that can help. Returns it with its latest intent. */
async function uploadWhole(
  context: PartitionContext,
  intended: IntendedBatch,
  unsent: UnsentBatches,
  search: Search | null,
): Promise<WholeResult> {
  const { sync, mapping, signal } = context;
  const { refusals } = context.earlierChunks;
  let batch = intended;
  let failures: Failures | undefined;
  while (true) {
    let isSent = false;
    try {
      const sent = await sync.requestLimit.run({ queue: batch.tenant, signal }, (pace) =>
        post(context, batch, pace, async () => {
          if (refusals.stopped !== null) throw refusals.stopped;
          // A process that was frozen since the intent must not send: its successor has taken the records over.
          if (Date.now() - batch.intendedAt > postTimeoutMs(sync.spec.upload.inDoubtDelay))
            batch = await context.deps.ledger.batches.renew(context.partition, batch);
          isSent = true;
        }),
      );
      unsent.remove(batch);
      refusals.taken++;
      return { kind: 'sent', batch: { ...batch, ...sent } };
    } catch (error) {
      if (isSent && (!(error instanceof PartnerSyncError) || isInDoubt(error))) unsent.remove(batch);
      if (!(error instanceof PartnerSyncError) || error === refusals.stopped) throw error;
      failures ??= { since: Date.now(), inDoubt: 0, busy: 0 };
      const next = await afterFailure(context, batch, error, failures, search);
      if (next.kind === 'rejected') return { kind: next.kind, batch, error };
      sync.onRetry(error.code, Date.now() - failures.since);
      if (next.in > 0) await sleep(next.in, undefined, { signal });
      if (next.kind === 'failed') return { kind: next.kind, batch, error };
      mapping.meter.batchRepeated();
    }
  }
}

/** How the attempts to upload one batch have failed so far. */
interface Failures {
  /** When the first one did, in milliseconds of this process's clock. */
  readonly since: number;
  /** How often the response was lost, and how often the platform was busy. */
  inDoubt: number;
  busy: number;
}

/** What follows a failed attempt, after so many milliseconds: `repeated`: the same batch is sent again. */
type AfterFailure = { readonly kind: 'repeated' | 'failed'; readonly in: number } | { readonly kind: 'rejected' };

/** Rethrows a failure that nothing of this can help. */
async function afterFailure(
  context: PartitionContext,
  batch: IntendedBatch,
  error: PartnerSyncError,
  failures: Failures,
  search: Search | null,
): Promise<AfterFailure> {
  const fails = failsAt(error);
  // A search sends its parts only once: they were sent often enough together.
  if (isInDoubt(error) && failures.inDoubt < (fails && search !== null ? 0 : times('inDoubtRepeats')))
    return { kind: 'repeated', in: await setInDoubt(context, batch, failures.inDoubt++) };
  if (fails) return { kind: 'failed', in: await setLongInDoubt(context, batch) };
  // The client itself waits for a new token before it sends anything.
  if (context.deps.platform.awaitsToken(error)) return { kind: 'repeated', in: 0 };
  if (error.code === 'platform_busy') {
    await doubtGateway(context, batch, error);
    const asked = error.details['retryAfterMs'];
    const delay = typeof asked === 'number' ? asked : backoffMs(failures.busy++);
    if (Date.now() - failures.since + delay > milliseconds('longestBusyWait')) throw error;
    // A delay that the platform asked for is kept by the client, for all requests.
    return { kind: 'repeated', in: typeof asked === 'number' ? 0 : delay };
  }
  if (error.code !== 'platform_refused' && error.code !== 'platform_too_large') throw error;
  if (error.details['status'] === 404) throw await unknownSchema(context, error);
  return { kind: 'rejected' };
}

/** Whether the platform, or a gateway for it, says that it has failed. Other than with a lost connection, that may be due to what was sent. */
const failsAt = (error: PartnerSyncError): boolean =>
  error.code === 'platform_failed' && (callFacts(error).status ?? 0) >= 500;

/**
 * The platform may have taken the batch, and promises no order between batches. The same content may be sent again at once,
 * whichever copy is applied last; the ledger has other content wait (ADR 0043). If the mapping keeps no records there, the batch waits
 * itself, until the platform must be done with it.
 *
 * @param before how often its response was lost before
 * @returns milliseconds until the batch is sent again
 */
async function setInDoubt(context: PartitionContext, batch: IntendedBatch, before: number): Promise<number> {
  if (batch.id === null) return context.sync.spec.upload.inDoubtDelay * 1000;
  await noteDoubt(context, batch);
  return backoffMs(before);
}

/**
 * The same of a batch that is not sent again as a whole: the platform may keep a copy until the parents of its records arrive, of which
 * nothing would tell.
 */
async function setLongInDoubt(context: PartitionContext, batch: IntendedBatch): Promise<number> {
  const { inDoubtDelay } = context.sync.spec.upload;
  if (batch.id === null) return inDoubtDelay * 1000;
  await noteDoubt(context, batch, inDoubtDelay + dependencyWaitOf(context));
  return 0;
}

/**
 * The platform itself says 503 of a request that it did not process. A gateway in front of it may say so of one that it has passed
 * on: the batch counts as not sent, but other content of its records waits.
 */
async function doubtGateway(context: PartitionContext, batch: IntendedBatch, error: PartnerSyncError): Promise<void> {
  const { status, isForeign } = callFacts(error);
  if (status === 503 && isForeign === true && batch.id !== null) await noteDoubt(context, batch);
}

function noteDoubt(
  { deps, sync, partition }: PartitionContext,
  { tenantId, records }: IntendedBatch,
  seconds = sync.spec.upload.inDoubtDelay,
): Promise<void> {
  const { externalIds, contentHashes } = records;
  return deps.ledger.batches.doubt(partition, { tenantId, externalIds, contentHashes }, seconds);
}

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

async function post(
  context: PartitionContext,
  batch: IntendedBatch,
  pace: Pace,
  before: () => Promise<void>,
): Promise<Pick<SentBatch, 'platformBatchId' | 'recorded'>> {
  const { deps, mapping, sync, effort, signal } = context;
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
    onEnd: effort.requestEnded,
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
  { kind, batch, error }: Vain,
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

const bodyOf = ({ records }: IntendedBatch): Buffer => records.joined('{"resources":[', ']}');

const uploadQuery = (options: MappingOptions) => ({
  onconflict: options.onConflict,
  ignoreUnknownFields: options.ignoreUnknownFields,
  dependencyWaitTimeout: options.dependencyWaitTimeout,
});

/** A gateway says the same of all as long as it cannot reach the platform; that passes by if records were taken before. */
async function unknownSchema(
  { deps, sync, mapping, partition, earlierChunks }: PartitionContext,
  error: PartnerSyncError,
): Promise<PartnerSyncError> {
  const { name } = mapping.spec.schema;
  const isKnown = async (): Promise<boolean> =>
    earlierChunks.refusals.taken > 0 ||
    (await deps.ledger.counts.anyAccepted(partition.mappingId, partition.mappingVersion));
  if (callFacts(error).isForeign === true && (await isKnown()))
    return new PartnerSyncError(
      'platform_failed',
      `${error.message}, not in the platform's form, though it knows schema "${name}"; is a gateway in front of it restarting?`,
    );
  return new PartnerSyncError(
    'schema_not_pushed',
    `the platform does not know schema "${name}" (${error.message}); run: partner-sync schema push ${sync.spec.name}`,
  );
}
