/** Follows one batch until each of its records has an outcome: accepted, rejected, waiting or unclear. */
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '@temporalio/activity';
import { differingField } from '../src/domain/compare.js';
import { ERROR_CATALOGUE } from '../src/domain/errors.js';
import type { MappedRecord } from '../src/domain/record.js';
import type { BatchStatus, PendingResource } from '../src/platform/contract/batches.js';
import { deliveredParents, parentKey, parentsOf, type MissedParent } from './parents.js';
import { maskedWords } from './platform-words.js';
import type { SentBatch, UploadScope } from './upload-batch.js';

export type RecordFate =
  | { readonly kind: 'accepted' }
  /** `words`: the platform's own message about the record, masked where it comes from {@link settleBatch}. */
  | { readonly kind: 'rejected'; readonly words: string }
  | { readonly kind: 'waiting'; readonly pending: PendingResource }
  /** Rejected at once for want of its parents, where the platform was not asked to wait for them. */
  | { readonly kind: 'orphaned'; readonly missing: readonly MissedParent[] }
  /** Nobody can tell: the record is read and sent again. */
  | { readonly kind: 'unclear' };

/** What a batch's status alone can say. */
type StatedFate = Exclude<RecordFate, { kind: 'orphaned' }>;

/** Fates by external id, or that every record is accepted: nearly all batches are, and need no word on each. */
export type Fates = ReadonlyMap<string, RecordFate> | typeof ALL_ACCEPTED;
export const ALL_ACCEPTED = 'all accepted';

const FIRST_POLL = 40;
const LONGEST_POLL = 2_000;

export async function settleBatch(scope: UploadScope, batch: SentBatch): Promise<Fates> {
  const status = await pollUntilSettled(scope, batch.platformBatchId, batch.tenant);
  if (status !== null && isAllAccepted(status, batch.records.length)) return ALL_ACCEPTED;
  const ids = batch.records.externalIds;
  const fates = new Map<string, RecordFate>(status === null ? [] : fatesOf(status, ids, ids.length));
  const open = [...batch.records].filter((r) => !fates.has(r.externalId));
  if (status !== null && open.length > 0) warn('batch_inconsistent', scope, batch.platformBatchId, status);
  if (scope.mapping.spec.options.onConflict === 'reject')
    // "Exists" may be our own earlier attempt whose answer was lost; what is stored tells.
    for (const record of batch.records) if (fates.get(record.externalId)?.kind === 'rejected') open.push(record);
  await Promise.all(
    open.map(async (record) => {
      const fate = await scope.sync.limit.run(() => fateByReadingBack(scope, batch.tenant, record), scope.signal);
      if (fate.kind === 'accepted' || !fates.has(record.externalId)) fates.set(record.externalId, fate);
    }),
  );
  if (status !== null) nameTheNameless(status, batch, fates);
  await findOrphans(scope, batch, fates);
  const schemas = scope.sync.spec.mappings.map((m) => m.schema.name);
  for (const record of batch.records) {
    const fate = fates.get(record.externalId);
    if (fate?.kind === 'rejected')
      fates.set(record.externalId, { kind: 'rejected', words: maskedWords(fate.words, record, schemas) });
  }
  return fates;
}

/**
 * Failures that name no record belong to those that turned out not to be stored, if there are as many: then each
 * is rejected. What one of several is accused of is told to all of them.
 */
function nameTheNameless(status: BatchStatus, { records }: SentBatch, fates: Map<string, RecordFate>): void {
  const nameless = (status.errors?.recordErrors ?? []).filter((words) => failedIdIn(words) === undefined);
  const unclear = [...records].filter((r) => fates.get(r.externalId)?.kind === 'unclear');
  const { successfulRecords, failedRecords, pendingRecords } = status.progress;
  const addsUp = successfulRecords + failedRecords + pendingRecords === records.length;
  if (nameless.length === 0 || nameless.length !== unclear.length || !addsUp) return;
  const words = [...new Set(nameless)].slice(0, 5).join('; or ');
  for (const { externalId } of unclear) fates.set(externalId, { kind: 'rejected', words });
}

/** What the platform may call a reference that leads nowhere, beside the parent's own name. */
const OF_REFERENCES = /dependenc|referenc|parent/i;

/** Of the rejected records, those that the platform could not take since their parents are not delivered yet. */
async function findOrphans(scope: UploadScope, { records }: SentBatch, fates: Map<string, RecordFate>): Promise<void> {
  const rejected = [...records].flatMap((record) => {
    const fate = fates.get(record.externalId);
    const parents = fate?.kind === 'rejected' ? parentsOf(scope.mapping, record) : [];
    return fate?.kind === 'rejected' && parents.length > 0 ? [{ record, words: fate.words, parents }] : [];
  });
  if (rejected.length === 0) return;
  const there = await deliveredParents(
    scope,
    rejected.flatMap((r) => r.parents),
  );
  for (const { record, words, parents } of rejected) {
    const missing = parents.filter((parent) => !there.has(parentKey(parent)));
    if (missing.length > 0 && (OF_REFERENCES.test(words) || missing.some((m) => words.includes(m.externalId))))
      fates.set(record.externalId, { kind: 'orphaned', missing });
  }
}

/** A batch that is not as it should be gets a name in the log; its records are looked at one by one. */
function warn(
  code: 'batch_stuck' | 'batch_inconsistent',
  { sync, mapping }: UploadScope,
  platformBatchId: string,
  status: BatchStatus | null,
): void {
  const place = { code, sync: sync.spec.name, mapping: mapping.spec.name, platformBatchId };
  log.warn(ERROR_CATALOGUE[code].meaning, { ...place, visible: status !== null, ...status?.progress });
}

/**
 * The status once only waiting records are open; null when the batch stays invisible or incomplete past its
 * deadline (`upload.batchDeadline`).
 */
export async function pollUntilSettled(
  scope: UploadScope,
  platformBatchId: string,
  tenant: string,
): Promise<BatchStatus | null> {
  const { deps, sync, signal } = scope;
  const deadline = performance.now() + sync.spec.upload.batchDeadline * 1000;
  let status: BatchStatus | null = null;
  for (let delay = FIRST_POLL; performance.now() < deadline; delay = Math.min(LONGEST_POLL, delay * 1.7)) {
    await sleep(delay * (0.75 + Math.random() / 2), undefined, { signal });
    status = await deps.platform.findBatch(platformBatchId, { tenant, signal });
    // 404 soon after 202 is "not visible yet".
    if (status !== null && isSettled(status)) return status;
  }
  warn('batch_stuck', scope, platformBatchId, status);
  return null;
}

/** Whether all of the batch's records count as successful, and none as anything else. */
const isAllAccepted = ({ progress, errors, pendingResources }: BatchStatus, sent: number): boolean =>
  progress.successfulRecords === sent &&
  progress.failedRecords + progress.pendingRecords === 0 &&
  (errors?.recordErrors?.length ?? 0) + (pendingResources?.length ?? 0) === 0;

/** Settled: complete, or nothing open but records that wait for others. */
export function isSettled({ completedAt, progress }: BatchStatus): boolean {
  if (completedAt != null) return true;
  return progress.pendingRecords > 0 && progress.processedRecords + progress.pendingRecords >= progress.totalRecords;
}

/**
 * What a batch's status proves about each of the given records; a record that is not in the answer is not
 * proved. Failures name their record (`externalId "X": ...`, docs/assumptions.md). Only if as many failures and
 * pending records are named as the counters say, and the counters add up, are the others known to be accepted.
 *
 * @param sent how many records the batch was sent with
 */
export function fatesOf(status: BatchStatus, externalIds: readonly string[], sent: number): Map<string, StatedFate> {
  const pending = new Map((status.pendingResources ?? []).map((p) => [p.resourceExternalId, p]));
  const failures = new Map<string, string>();
  for (const words of status.errors?.recordErrors ?? []) {
    const id = failedIdIn(words);
    if (id !== undefined) failures.set(id, words);
  }
  const { successfulRecords, failedRecords, pendingRecords } = status.progress;
  const allNamed = failures.size === failedRecords && pending.size === pendingRecords;
  const addsUp = successfulRecords + failedRecords + pendingRecords === sent;
  const fates = new Map<string, StatedFate>();
  for (const id of externalIds) {
    const wait = pending.get(id);
    const words = failures.get(id);
    if (wait !== undefined) fates.set(id, { kind: 'waiting', pending: wait });
    else if (words !== undefined) fates.set(id, { kind: 'rejected', words });
    else if (allNamed && addsUp) fates.set(id, { kind: 'accepted' });
  }
  return fates;
}

/** The record that a failure names, if it names one. */
function failedIdIn(words: string): string | undefined {
  const quoted = /externalId ("(?:[^"\\]|\\.)*")/.exec(words)?.[1];
  try {
    return quoted === undefined ? undefined : (JSON.parse(quoted) as string);
  } catch {
    return undefined;
  }
}

async function fateByReadingBack(
  { deps, mapping, signal }: UploadScope,
  tenant: string,
  record: MappedRecord,
): Promise<RecordFate> {
  const stored = await deps.platform.findResource(mapping.spec.schema.name, record.externalId, { tenant, signal });
  const same =
    stored !== null &&
    differingField(record.data, stored.result.data as MappedRecord['data'], mapping.referenceFields) === null;
  return same ? { kind: 'accepted' } : { kind: 'unclear' };
}
