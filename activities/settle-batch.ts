/** Follows one batch until each of its records has a fate: accepted, rejected, waiting, orphaned or unclear. */
import type { ParentName } from '../src/domain/parent.js';
import type { BatchStatus, PendingResource } from '../src/platform/contract/batches.js';
import { countedIn, isAllAccepted, pollUntilSettled } from './batch-status.js';
import { undeliveredParents } from './parents.js';
import { maskedWords } from './platform-words.js';
import { notStored, provenFates, type ProvenFate } from './proven-fates.js';
import { refusalOf } from './refusal.js';
import type { SentBatch, UploadScope } from './upload-batch.js';

export type RecordFate =
  | { readonly kind: 'accepted' }
  /** `words`: the platform's own message about the record, masked. */
  | { readonly kind: 'rejected'; readonly words: string }
  | { readonly kind: 'waiting'; readonly expiresAt: string | null; readonly missing: readonly ParentName[] }
  /** Not taken, while parents of it are not delivered: it may be for want of them, whatever the platform says. */
  | {
      readonly kind: 'orphaned';
      readonly outcome: 'rejected' | 'unclear';
      readonly missing: readonly ParentName[];
      /** Masked; null where the platform's words speak of the parents, or there are none. */
      readonly refusal: string | null;
    }
  /** Nobody can tell: the record is read and sent again. */
  | { readonly kind: 'unclear' };

/** Fates by external id, or that every record is accepted: nearly all batches are, and need no word on each. */
export type Fates = ReadonlyMap<string, RecordFate> | typeof ALL_ACCEPTED;
export const ALL_ACCEPTED = 'all accepted';

export async function settleBatch(scope: UploadScope, batch: SentBatch): Promise<Fates> {
  const { status, settled } = await pollUntilSettled(scope, batch.platformBatchId, batch.tenant);
  if (settled && isAllAccepted(status!, batch.records.length)) return ALL_ACCEPTED;
  const proven = settled ? await provenFates(scope, batch, status!) : await unsettledFates(scope, batch, status);
  return withParents(scope, batch, proven);
}

/** Of a batch that stays open or unseen past its deadline: what is listed as pending, and what is stored. */
async function unsettledFates(
  scope: UploadScope,
  batch: SentBatch,
  status: BatchStatus | null,
): Promise<Map<string, ProvenFate>> {
  const { externalIds } = batch.records;
  const listed = status === null ? new Map<string, never>() : countedIn(status, externalIds, externalIds.length).listed;
  const open = [...batch.records].filter((r) => !listed.has(r.externalId));
  const absent = new Set((await notStored(scope, batch.tenant, open)).map((r) => r.externalId));
  const fates = new Map<string, ProvenFate>();
  for (const [id, pending] of listed) fates.set(id, { kind: 'waiting', pending });
  for (const { externalId: id } of open) fates.set(id, { kind: absent.has(id) ? 'unclear' : 'accepted' });
  return fates;
}

/** The same fates, with the parents that records lack, and without a value of a record in the platform's words. */
async function withParents(
  scope: UploadScope,
  { records }: SentBatch,
  proven: ReadonlyMap<string, ProvenFate>,
): Promise<Map<string, RecordFate>> {
  const all = [...records];
  const open = all.filter((r) => proven.get(r.externalId)?.kind !== 'accepted');
  const undelivered = await undeliveredParents(scope, open);
  const schemas = scope.sync.spec.mappings.map((m) => m.schema.name);
  const fates = new Map<string, RecordFate>();
  for (const record of all) {
    const fate = proven.get(record.externalId) ?? { kind: 'unclear' };
    const missing = undelivered.get(record) ?? [];
    if (fate.kind === 'waiting')
      fates.set(record.externalId, {
        kind: 'waiting',
        expiresAt: fate.pending?.expiresAt ?? null,
        missing: listedParents(fate.pending) ?? missing,
      });
    else if (fate.kind === 'accepted' || (fate.kind === 'unclear' && missing.length === 0))
      fates.set(record.externalId, { kind: fate.kind });
    else {
      const words = fate.kind === 'rejected' ? fate.words : '';
      const masked = maskedWords(words, record, schemas);
      if (missing.length === 0) fates.set(record.externalId, { kind: 'rejected', words: masked });
      else
        fates.set(record.externalId, {
          ...{ kind: 'orphaned', outcome: fate.kind, missing },
          refusal: refusalOf(words, masked, missing),
        });
    }
  }
  return fates;
}

/** The parents that the platform lists, if it names their schemas. */
function listedParents(pending: PendingResource | null): ParentName[] | null {
  const listed = (pending?.missingDependencies ?? []).flatMap(({ schemaName, externalId }) =>
    schemaName == null ? [] : [{ schemaName, externalId }],
  );
  return listed.length > 0 && listed.length === pending?.missingDependencies?.length ? listed : null;
}
