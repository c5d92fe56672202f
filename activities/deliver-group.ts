/** Takes a group of mapped rows to their outcomes: claim, upload, settle; what is to be written is returned. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { RecordList } from '../src/domain/record-list.js';
import { clashesAmong, knownClashes } from './clashes.js';
import { cutBatches } from './cut-batches.js';
import { startDelivery, type Delivery } from './delivery.js';
import type { Group } from '../src/reading/group.js';
import { knownOrphans } from './known-orphans.js';
import { undeliveredParents } from './parents.js';
import { refusalOf } from './refusal.js';
import { ALL_ACCEPTED, settleBatch, type Fates } from './settle-batch.js';
import { sortOut } from './sort-out.js';
import { uploadBatch, type RefusedRecord, type SentBatch, type UploadScope } from './upload-batch.js';

export async function deliverGroup(scope: UploadScope, group: Group): Promise<Delivery> {
  const { deps, range } = scope;
  const sorted = sortOut(group);
  const known = await knownClashes(scope, sorted.records);
  const unique = known.size === 0 ? sorted.records : sorted.records.pick((index) => !known.has(index));
  const orphans = await knownOrphans(scope, unique, sorted.letters);
  const records = orphans.size === 0 ? unique : unique.pick((index) => !orphans.has(index));
  const tenants = [...group.records.tenants, ...group.letters.tenants];
  const tenantIds = await deps.ledger.catalog.tenantIds([...new Set(tenants)]);
  const build = startDelivery(
    (tenant) => (tenant === null ? 0 : tenantIds.get(tenant)!),
    scope.mapping.spec.options.dependencyWaitTimeout,
  );
  build.unmapped(sorted.letters);
  for (const letter of orphans.values()) build.dead(letter);
  build.clashes(known);
  const claim = async (some: RecordList, eachOnce: boolean) => {
    const { batches, verdicts } = await deps.ledger.claim(range, {
      before: group.before,
      after: group.after,
      records: some,
      eachOnce,
      tenantIds,
      cut: (sendable) => cutBatches(sendable, scope.mapping.batches.now()),
    });
    build.verdicts(some, verdicts);
    return { batches: [...batches], met: some.pick((index) => verdicts[index] === 'met') };
  };
  // A second pass sends again what the first has sent without some fields.
  const { batches, met } = await claim(records, scope.mapping.deferred.size === 0);
  if (met.length > 0) {
    const clashes = await clashesAmong(scope, met);
    build.clashes(clashes);
    // The others have changed since they were sent.
    const changed = await claim(
      met.pick((index) => !clashes.has(index)),
      false,
    );
    batches.push(...changed.batches);
  }
  // Everything that was begun is waited for, even if one batch fails: no POST may outlive its attempt.
  const uploads = await Promise.allSettled(
    batches.map(async (batch) => {
      const { sent, refused } = await uploadBatch(scope, batch);
      return { sent: await Promise.all(sent.map((s) => settle(scope, s, group.after))), refused };
    }),
  );
  for (const upload of uploads) if (upload.status === 'rejected') throw upload.reason;
  const uploaded = uploads.flatMap((upload) => (upload.status === 'fulfilled' ? [upload.value] : []));
  const undelivered = await undeliveredParents(
    scope,
    uploaded.flatMap(({ refused }) => refused.map(({ record }) => record)),
  );
  for (const { sent, refused } of uploaded) {
    stopIfAllRefused(
      sent.length,
      refused.filter(({ record }) => !undelivered.has(record)),
    );
    for (const { batch, fates } of sent) build.batch(batch, fates);
    for (const { batch, record, error } of refused) {
      const words = wordsOf(error);
      const missing = undelivered.get(record);
      const orphan = missing && { outcome: 'rejected' as const, missing, refusal: refusalOf(words, words, missing) };
      build.refused(batch.id, record, words, orphan ?? null);
    }
  }
  return build.finish();
}

/** A batch with its fates; one that holds records back is in the ledger from then on, so that it can be followed. */
async function settle(
  scope: UploadScope,
  batch: SentBatch,
  readStamp: string,
): Promise<{ readonly batch: SentBatch; readonly fates: Fates }> {
  const fates = await settleBatch(scope, batch);
  // Written beside the wait for the status, and before any outcome is.
  await batch.noted;
  const holdsBack = fates !== ALL_ACCEPTED && [...fates.values()].some((fate) => fate.kind === 'waiting');
  if (batch.id !== null || !holdsBack) return { batch, fates };
  const id = await scope.deps.ledger.batches.note(scope.range, readStamp, batch, batch.platformBatchId);
  return { batch: { ...batch, id }, fates };
}

/** So many records refused one by one, and none taken, are no dead letters but a mistake that concerns them all. */
const ALL_REFUSED = 20;

function stopIfAllRefused(sent: number, refused: readonly RefusedRecord[]): void {
  if (sent > 0 || refused.length < ALL_REFUSED) return;
  throw new PartnerSyncError(
    'platform_refused',
    `the platform refused every one of ${refused.length} records: ${refused[0]!.error.message}`,
  );
}

/** What the platform said, which may quote the record: for the dead letter only. */
const wordsOf = ({ message, details }: PartnerSyncError): string =>
  [message, details['words'], ...((details['errors'] as readonly string[] | undefined) ?? [])]
    .filter(Boolean)
    .join('; ');
