/** Takes a group of mapped rows to their outcomes: claim, upload, settle; what is to be written is returned. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { MappedRecord, UnmappableRow } from '../src/domain/record.js';
import type { Column, DeadLetter, GroupOutcome, RowEnd, WaitingRecord } from '../src/state/group-outcome.js';
import type { Verdict } from '../src/state/claims.js';
import type { RecordOutcome } from '../src/state/open-batches.js';
import { cutBatches } from './cut-batches.js';
import type { Group } from './read-groups.js';
import { settleBatch, type RecordFate } from './settle-batch.js';
import { uploadBatch, type RefusedRecord, type SentBatch, type UploadScope } from './upload-batch.js';

/** What is to be written of a group, but for where it stands in its range. */
export type Delivery = Omit<GroupOutcome, 'reading' | 'readTwice' | 'position' | 'done'>;

/** Seconds until a record that was busy elsewhere, or whose fate is unclear, is read again. */
const READ_AGAIN_IN = 1;
/** Seconds until a record that expired on the platform is sent again. */
const EXPIRED_AGAIN_IN = 600;

export async function deliverGroup(scope: UploadScope, group: Group): Promise<Delivery> {
  const { deps, range } = scope;
  const { records, letters } = sortOut(group);
  const tenants = [...new Set(group.results.flatMap((r) => (r.tenant === null ? [] : [r.tenant])))];
  const tenantIds = await deps.ledger.catalog.tenantIds(tenants);
  const build = startDelivery((tenant) => (tenant === null ? 0 : tenantIds.get(tenant)!));
  for (const letter of letters) build.dead(letter);
  const claimed = await deps.ledger.claim(range, {
    before: group.before,
    after: group.after,
    records,
    tenantIds,
    cut: (sendable) => cutBatches(sendable, limitsOf(scope)),
  });
  for (const [index, verdict] of claimed.verdicts) build.verdict(records[index]!, verdict);
  // Everything that was begun is waited for, even if one batch fails: no POST may outlive its attempt.
  const uploads = await Promise.allSettled(
    claimed.batches.map(async (batch) => {
      const { sent, refused } = await uploadBatch(scope, batch);
      const fates = await Promise.all(sent.map(async (s) => ({ batch: s, fates: await settleBatch(scope, s) })));
      return { sent: fates, refused };
    }),
  );
  for (const upload of uploads) if (upload.status === 'rejected') throw upload.reason;
  for (const upload of uploads) {
    if (upload.status === 'rejected') continue;
    stopIfAllRefused(upload.value.sent.length, upload.value.refused);
    for (const { batch, fates } of upload.value.sent) build.batch(batch, fates);
    for (const { batch, record, error } of upload.value.refused) build.refused(batch.id, record, wordsOf(error));
  }
  return build.finish();
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

function limitsOf({ sync, mapping }: UploadScope) {
  const { batchSize, batchBytes } = sync.spec.upload;
  return { batchSize: mapping.spec.options.batchSize ?? batchSize, batchBytes };
}

/** Records that can be sent, and the rows that cannot: unmappable ones and clashes of external ids. */
function sortOut(group: Group): { records: MappedRecord[]; letters: UnmappableRow[] } {
  const letters: UnmappableRow[] = [];
  const byId = new Map<string, MappedRecord[]>();
  for (const result of group.results) {
    if (result.kind === 'unmappable') letters.push(result);
    else {
      const id = `${result.tenant}/${result.externalId}`;
      const same = byId.get(id);
      if (same === undefined) byId.set(id, [result]);
      else same.push(result);
    }
  }
  const records: MappedRecord[] = [];
  for (const same of byId.values()) {
    // One row read twice (it changed meanwhile): the later reading counts. Two rows with one id: neither does.
    if (same.length === 1 || new Set(same.map((r) => JSON.stringify(r.sourceKey))).size === 1)
      records.push(same.at(-1)!);
    else for (const record of same) letters.push(clash(record));
  }
  return { records, letters };
}

const clash = (record: MappedRecord): UnmappableRow => ({
  kind: 'unmappable',
  tenant: record.tenant,
  externalId: record.externalId,
  sourceKey: record.sourceKey,
  code: 'duplicate_external_id',
  pointer: '',
  rule: 'unique external id',
  reason: 'another row maps to the same external id',
  shape: '',
});

/** Of a record that is to be read and sent again. */
const AGAIN = { batchId: null, contentHash: null, missing: [], expiresAt: null };

/** Collects what becomes of a group's rows. */
function startDelivery(tenantIdOf: (tenant: string | null) => number) {
  const outcomes: RecordOutcome[] = [];
  const settled: string[] = [];
  const held: { id: string; externalIds: string[] }[] = [];
  const waiting: WaitingRecord[] = [];
  const deadLetters: DeadLetter[] = [];
  const ends: RowEnd[] = [];

  const sent = ({ tenant, externalId, contentHash }: MappedRecord) => ({
    ...{ tenantId: tenantIdOf(tenant), externalId, contentHash },
  });
  const end = (record: MappedRecord, column: Column): void => {
    const { externalId, sourceKey } = record;
    ends.push({ tenantId: tenantIdOf(record.tenant), externalId, sourceKey, column });
  };
  const wait = (record: MappedRecord, rest: Omit<WaitingRecord, 'tenantId' | 'externalId' | 'sourceKey'>): void => {
    waiting.push({
      tenantId: tenantIdOf(record.tenant),
      externalId: record.externalId,
      sourceKey: record.sourceKey,
      ...rest,
    });
    end(record, 'waiting');
  };
  const readAgain = (record: MappedRecord, reason: 'busy' | 'unclear'): void =>
    wait(record, { ...AGAIN, reason, dueIn: READ_AGAIN_IN });

  const dead = (row: UnmappableRow): void => {
    const { kind: _, tenant, ...letter } = row;
    deadLetters.push({ ...letter, tenantId: tenantIdOf(tenant) });
    ends.push({
      tenantId: tenantIdOf(tenant),
      externalId: row.externalId,
      sourceKey: row.sourceKey,
      column: 'deadLettered',
    });
  };
  const rejected = (record: MappedRecord, words: string): void => {
    outcomes.push({ ...sent(record), outcome: 'rejected' });
    dead({
      kind: 'unmappable',
      tenant: record.tenant,
      externalId: record.externalId,
      sourceKey: record.sourceKey,
      code: 'platform_refused',
      pointer: /(\/[\w/-]+)/.exec(words)?.[1] ?? '',
      rule: 'refused by the platform',
      reason: words,
      shape: '',
    });
  };
  const fate = (record: MappedRecord, fates: ReadonlyMap<string, RecordFate>, batchId: string): boolean => {
    const known = fates.get(record.externalId) ?? { kind: 'unclear' };
    switch (known.kind) {
      case 'accepted':
        outcomes.push({ ...sent(record), outcome: 'accepted' });
        end(record, 'accepted');
        return false;
      case 'rejected':
        rejected(record, known.words);
        return false;
      case 'unclear':
        outcomes.push({ ...sent(record), outcome: 'unclear' });
        readAgain(record, 'unclear');
        return false;
      case 'waiting': {
        const missing = known.pending.missingDependencies.map((d) => ({
          schemaName: d.schemaName ?? '',
          externalId: d.externalId,
        }));
        wait(record, {
          reason: 'dependency',
          batchId,
          contentHash: record.contentHash,
          missing,
          expiresAt: known.pending.expiresAt,
          dueIn: EXPIRED_AGAIN_IN,
        });
        return true;
      }
    }
  };
  return {
    dead,
    verdict(record: MappedRecord, verdict: Verdict): void {
      if (verdict === 'busy') readAgain(record, 'busy');
      else end(record, verdict);
    },
    batch(batch: SentBatch, fates: ReadonlyMap<string, RecordFate>): void {
      const open = batch.records.filter((record) => fate(record, fates, batch.id));
      if (open.length > 0) held.push({ id: batch.id, externalIds: open.map((r) => r.externalId) });
      else settled.push(batch.id);
    },
    refused(batchId: string, record: MappedRecord, words: string): void {
      rejected(record, words);
      settled.push(batchId);
    },
    finish: (): Delivery => ({
      records: outcomes,
      settled,
      held,
      waiting,
      deadLetters,
      ends,
    }),
  };
}
