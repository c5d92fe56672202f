/** Sends one batch (platform-api.md 4.8), again where that can help, so that a response that was lost does no harm. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappingOptions } from '../../domain/sync/sync.js';
import { milliseconds, times } from '../../domain/timeouts.js';
import type { IntendedBatch } from '../../ledger/batches/batch-intents.js';
import { callFacts, isInDoubt } from '../../platform/error.js';
import type { Pace } from '../../platform/pace.js';
import { segmentProblem } from '../../platform/path.js';
import { backoffMs } from '../../platform/retry.js';
import type { PartitionContext } from '../partition-context.js';
import { longestKept } from './dependency-wait.js';
import type { UnsentBatches } from './unsent-batches.js';

/** A batch that the platform has accepted. */
export interface SentBatch extends IntendedBatch {
  readonly platformBatchId: string;
  /** Resolves when the ledger has the platform's id. It may reject, so it must be awaited. */
  readonly recorded: Promise<void>;
}

/** Milliseconds that one POST may take, and the age at which its intent is renewed first: both fit into one delay. */
const postTimeoutMs = (inDoubtDelay: number): number => inDoubtDelay * 1000 * times('postShareOfInDoubtDelay');

/** What became of one batch as a whole. */
export type PostResult =
  | { readonly kind: 'sent'; readonly batch: SentBatch }
  /** `failed`: the platform fails at it again and again, but may have taken it. */
  | { readonly kind: 'rejected' | 'failed'; readonly batch: IntendedBatch; readonly error: PartnerSyncError };
/** The platform has not taken it, as far as it says. */
export type FailedPost = Exclude<PostResult, { kind: 'sent' }>;

/**
 * Sends the batch, again and again if that can help. The result has it with its latest intent.
 *
 * @param unsent has the batch; told when it may be on the platform
 * @param isPart of a batch in which the record is searched at which the platform fails: it was sent often enough with the others
 * @throws PartnerSyncError `schema_not_pushed`, `platform_busy` once the platform has been busy for too long, `fenced_off` if another
 *   attempt has taken the partition over, and whatever else the client throws
 */
export async function postBatch(
  context: PartitionContext,
  intended: IntendedBatch,
  unsent: UnsentBatches,
  isPart: boolean,
): Promise<PostResult> {
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
      const next = await afterFailure(context, batch, error, failures, isPart);
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
  isPart: boolean,
): Promise<AfterFailure> {
  const fails = failsAt(error);
  if (isInDoubt(error) && failures.inDoubt < (fails && isPart ? 0 : times('inDoubtRepeats')))
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
  await noteDoubt(context, batch, longestKept(context));
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

/** What is sent of the batch. */
export const bodyOf = ({ records }: IntendedBatch): Buffer => records.joined('{"resources":[', ']}');

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
