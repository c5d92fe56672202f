/**
 * What became of each record of a batch, proved by the counters, the list of pending records and the records
 * themselves. Messages only say which records to read back first, and why a rejected one was rejected.
 */
import { differingField } from '../src/domain/compare.js';
import type { MappedRecord } from '../src/domain/record.js';
import type { BatchStatus, PendingResource } from '../src/platform/contract/batches.js';
import { countedIn } from './batch-status.js';
import { namedFailures, type NamedFailures } from './named-failures.js';
import type { SentBatch, UploadScope } from './upload-batch.js';
import { warnOnce } from './warn-once.js';

export type ProvenFate =
  | { readonly kind: 'accepted' }
  /** `words`: the platform's messages that seem to speak of it, as they came. */
  | { readonly kind: 'rejected'; readonly words: string }
  /** `pending`: what the platform says of it; null where it only counts it. */
  | { readonly kind: 'waiting'; readonly pending: PendingResource | null }
  /** Nobody can tell: the record is read and sent again. */
  | { readonly kind: 'unclear' };

export async function provenFates(
  scope: UploadScope,
  batch: SentBatch,
  status: BatchStatus,
): Promise<Map<string, ProvenFate>> {
  const { externalIds, length: sent } = batch.records;
  const { listed, addsUp, others } = countedIn(status, externalIds, sent);
  const fates = new Map<string, ProvenFate>();
  for (const [id, pending] of listed) fates.set(id, { kind: 'waiting', pending });
  const open = [...batch.records].filter((r) => !listed.has(r.externalId));
  const named = namedFailures(status.errors?.recordErrors ?? [], new Set(externalIds));
  const rejected = (id: string): ProvenFate => ({ kind: 'rejected', words: wordsOf(id, named) });
  // "Exists" may be our own earlier attempt whose answer was lost: then what is stored decides.
  const mayExist = scope.mapping.spec.options.onConflict === 'reject';
  if (others === 'accepted' || (others === 'rejected' && !mayExist)) {
    for (const { externalId } of open)
      fates.set(externalId, others === 'accepted' ? { kind: others } : rejected(externalId));
    return fates;
  }

  const { failedRecords, pendingRecords } = status.progress;
  const unlisted = pendingRecords - listed.size;
  const suspects = open.filter((r) => named.byId.has(r.externalId));
  let absent = await notStored(scope, batch.tenant, suspects);
  // As many as the platform counts: then all others are the successful ones.
  if (!(addsUp && unlisted === 0 && absent.length === failedRecords)) {
    const rest = open.filter((r) => !named.byId.has(r.externalId));
    absent = [...absent, ...(await notStored(scope, batch.tenant, rest))];
  }
  const isAbsent = new Set(absent.map((r) => r.externalId));
  for (const { externalId } of open) if (!isAbsent.has(externalId)) fates.set(externalId, { kind: 'accepted' });
  // Fewer is right as well: what failed may be stored as it is from an earlier attempt.
  const isCounted = addsUp && absent.length <= failedRecords + unlisted;
  if (!isCounted) warnOnce('batch_inconsistent', scope, batch.platformBatchId, status);
  const failedByName = absent.filter((r) => named.byId.has(r.externalId));
  for (const { externalId } of absent) {
    if (!isCounted) fates.set(externalId, { kind: 'unclear' });
    else if (unlisted === 0) fates.set(externalId, rejected(externalId));
    // The platform counts pending records that it does not list. It holds what it does not name as failed.
    else if (failedByName.length === failedRecords && named.byId.has(externalId))
      fates.set(externalId, rejected(externalId));
    else fates.set(externalId, { kind: 'waiting', pending: null });
  }
  return fates;
}

/** Those of the records that the platform has not stored as they were sent. */
export async function notStored(
  { deps, sync, mapping, signal }: UploadScope,
  tenant: string,
  records: readonly MappedRecord[],
): Promise<MappedRecord[]> {
  const isThere = await Promise.all(
    records.map((record) =>
      sync.limit.run(async () => {
        const stored = await deps.platform.findResource(mapping.spec.schema.name, record.externalId, {
          tenant,
          signal,
        });
        return (
          stored !== null &&
          differingField(record.data, stored.result.data as MappedRecord['data'], mapping.referenceFields) === null
        );
      }),
    ),
  );
  return records.filter((_, index) => !isThere[index]);
}

/** What one of several is accused of is told to all that it may mean: a number in a message may be the id of another one. */
function wordsOf(externalId: string, { byId, nameless }: NamedFailures): string {
  const words = byId.get(externalId) ?? (nameless.length > 0 ? nameless : [...byId.values()].flat());
  return [...new Set(words)].slice(0, 5).join('; or ');
}
