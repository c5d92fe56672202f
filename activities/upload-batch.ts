/** Posts one batch: what the platform refuses as a whole is halved down to the record that is at fault. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../src/domain/errors.js';
import type { MappedRecord } from '../src/domain/record.js';
import type { MappingOptions } from '../src/domain/sync.js';
import { isInDoubt } from '../src/platform/error.js';
import { segmentProblem } from '../src/platform/path.js';
import { backoffMs } from '../src/platform/retry.js';
import type { IntendedBatch } from '../src/state/open-batches.js';
import type { TakenRange } from '../src/state/ranges.js';
import type { Dependencies, OpenMapping, OpenSync } from './dependencies.js';
import { maskedWords } from './platform-words.js';

export interface SentBatch extends IntendedBatch {
  readonly platformBatchId: string;
  /** Resolves when the ledger knows the platform's id; a failure is met by whoever waits for it. */
  readonly noted: Promise<void>;
}

export interface RefusedRecord {
  readonly batch: IntendedBatch;
  readonly record: MappedRecord;
  readonly error: PartnerSyncError;
}

export interface UploadResult {
  readonly sent: readonly SentBatch[];
  readonly refused: readonly RefusedRecord[];
}

export interface UploadScope {
  readonly deps: Dependencies;
  readonly sync: OpenSync;
  readonly mapping: OpenMapping;
  readonly range: TakenRange;
  readonly signal: AbortSignal;
}

/** An answer lost this often in a row is no accident; the activity's retry takes over, from the ledger. */
const DOUBTS_BEFORE_GIVING_UP = 3;
/** Milliseconds of patience with a busy platform before the activity's own, slower retries take over. */
const BUSY_BUDGET = 60_000;

export async function uploadBatch(scope: UploadScope, intended: IntendedBatch): Promise<UploadResult> {
  const { inDoubtDelay } = scope.sync.spec.upload;
  const started = Date.now();
  const wait = (ms: number): Promise<void> => sleep(ms, undefined, { signal: scope.signal });
  let batch = intended;
  for (let doubts = 0, busy = 0; ;) {
    try {
      const sent = await scope.sync.limit.run(() =>
        post(scope, batch, async () => {
          // A process that was frozen since the intent must not send: its successor has taken the records over.
          if (Date.now() - batch.intendedAt > inDoubtDelay * 500)
            batch = await scope.deps.ledger.batches.renew(scope.range, batch);
        }),
      );
      return { sent: [{ ...batch, ...sent }], refused: [] };
    } catch (error) {
      if (!(error instanceof PartnerSyncError)) throw error;
      if (isInDoubt(error) && doubts++ < DOUBTS_BEFORE_GIVING_UP) {
        // The batch may have been taken. Its ghost must be over before the same records are sent again:
        // the platform promises no order between batches.
        await wait(inDoubtDelay * 1000);
        continue;
      }
      // Refused, not in doubt: the same batch goes once there is another token.
      if (scope.deps.platform.awaitsToken(error)) continue;
      if (error.code === 'platform_busy') {
        const asked = error.details['retryAfterMs'];
        const delay = typeof asked === 'number' ? asked : backoffMs(busy++);
        if (Date.now() - started + delay > BUSY_BUDGET) throw error;
        // What the platform asked for holds all requests back, in its client.
        if (typeof asked !== 'number') await wait(delay);
        continue;
      }
      if (error.code !== 'platform_refused' && error.code !== 'platform_too_large') throw error;
      if (error.details['status'] === 404) throw unknownSchema(scope, error);
      if (batch.records.length === 1) return { sent: [], refused: [refusedAlone(scope, batch, error)] };
      return uploadHalves(scope, batch, error);
    }
  }
}

/** The words of a refusal that concerns this record alone go into its dead letter, without its values. */
function refusedAlone({ sync }: UploadScope, batch: IntendedBatch, error: PartnerSyncError): RefusedRecord {
  const record = batch.records.at(0);
  const schemas = sync.spec.mappings.map((m) => m.schema.name);
  const { status, words, errors } = error.details as { status: number; words: string; errors: readonly string[] };
  const masked = (text: string): string => maskedWords(text, record, schemas);
  const details = { ...error.details, words: masked(words), errors: errors.map(masked) };
  return { batch, record, error: new PartnerSyncError(error.code, `answered ${status}`, details) };
}

async function post(
  scope: UploadScope,
  batch: IntendedBatch,
  before: () => Promise<void>,
): Promise<Pick<SentBatch, 'platformBatchId' | 'noted'>> {
  const { deps, mapping, sync, signal } = scope;
  const query = uploadQuery(mapping.spec.options);
  const accepted = await deps.platform.uploadResources(mapping.spec.schema.name, bodyOf(batch), query, {
    tenant: batch.tenant,
    // The ledger is asked before each attempt, and as late as can be: a token or a Retry-After may be waited for long.
    ...{ once: true, before },
    // Not cancelled with the activity once it is on its way: a POST is finished and noted, or its batch would be in
    // doubt. But it ends within one delay of its intent, so that a successor knows when its ghost must be over.
    ...{ signal, finish: true, timeout: sync.spec.upload.inDoubtDelay * 500 },
  });
  const problem = segmentProblem(accepted.batchId);
  if (problem !== undefined)
    throw new PartnerSyncError('platform_answer_invalid', `the platform took a batch, but its batchId ${problem}`, {
      inDoubt: true,
    });
  const noted = deps.ledger.batches.sent(batch, accepted.batchId);
  noted.catch(() => undefined);
  return { platformBatchId: accepted.batchId, noted };
}

async function uploadHalves(
  scope: UploadScope,
  batch: IntendedBatch,
  refusal: PartnerSyncError,
): Promise<UploadResult> {
  const tooLong = refusal.code === 'platform_too_large';
  if (tooLong) scope.mapping.batches.tooLong(bodyOf(batch).length);
  const middle = Math.ceil(batch.records.length / 2);
  const halves = await scope.deps.ledger.batches.split(scope.range, batch, [
    batch.records.slice(0, middle),
    batch.records.slice(middle),
  ]);
  const results = [];
  // One after the other: the first half's fault is no reason to hurry the second.
  for (const half of halves) results.push(await uploadBatch(scope, half));
  const sent = results.flatMap((r) => r.sent);
  const refused = results.flatMap((r) => r.refused);
  // Refused together and taken apart: there were too many of them, whatever words the platform had for it.
  if (!tooLong && refused.length === 0 && sent.length === halves.length)
    scope.mapping.batches.tooMany(batch.records.length);
  return { sent, refused };
}

const bodyOf = ({ records }: IntendedBatch): Buffer => records.joined('{"resources":[', ']}');

const uploadQuery = (options: MappingOptions) => ({
  onconflict: options.onConflict,
  ignoreUnknownFields: options.ignoreUnknownFields,
  dependencyWaitTimeout: options.dependencyWaitTimeout,
});

const unknownSchema = (scope: UploadScope, error: PartnerSyncError): PartnerSyncError =>
  new PartnerSyncError(
    'schema_not_pushed',
    `the platform does not know schema "${scope.mapping.spec.schema.name}" (${error.message}); run: partner-sync schema push ${scope.sync.spec.name}`,
  );
