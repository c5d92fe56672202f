/**
 * Claims: which records of a chunk are sent, and the intents of their batches, in one transaction before any POST.
 *
 * A record is claimed only while it is in no open batch, and only if its row was read wholly after the reading
 * that was sent last. So no record is in two open batches, and older content never overwrites newer. Content that is in
 * doubt may be claimed a second time, and no other content of its record meanwhile (ADR 0036, ADR 0043).
 *
 * Concurrency. All transactions of the ledger are READ COMMITTED: each statement sees what was committed before it
 * began. A claim first finds the records in open batches, then compares the others with the record index, and this
 * is safe for two reasons. Claims of a mapping exclude each other by the claim lock until they commit, so that the next
 * one sees the intents of this one. Checkpoints do not take that lock, but one transaction closes a batch and writes its
 * outcomes into the index: a batch that is settled between the two statements was still found open by the first.
 * A stricter isolation level would break this, as a transaction would go on seeing what it saw before it got the lock.
 *
 * Locks are taken in this order: the run and the partition (partitions.ts), then the mapping's claim lock or, in a
 * checkpoint or a recovery with waiting records, its waiting lock (lock-entries.ts; no transaction takes both), then
 * blocks of records, then waiting records. Blocks are locked in the ledger's order, and so are waiting records by
 * checkpoints. The database breaks the deadlocks that remain possible, and the transaction is run once more
 * (inTransaction).
 */
import type { Knex } from 'knex';
import { isUpToDate } from '../../domain/records/record.js';
import type { RecordList } from '../../records/record-list.js';
import { insertIntents, type IntendedBatch } from './batch-intents.js';
import { guardCheck, isChangedBy, type ChunkGuard } from '../runs/guards.js';
import type { InFlightReason, InFlightRecords } from './in-flight-records.js';
import { hashAt, inTransaction, prepared } from '../database/statements.js';
import { lockPartition, type AcquiredPartition } from '../runs/partitions.js';
import type { ReadSeqs } from '../read.js';
import { changeRecords, readRecords, type RecordEntry } from '../record-index/index.js';
import type { RecordKeys } from '../record-key.js';
import { pendingAmong } from '../waiting/index.js';

/** Why a record of a chunk is not sent now. `contended` is also the reason if nobody can say which reading is newer. */
export type SkipReason =
  | InFlightReason
  | 'unchanged' // the platform has this content
  | 'delivered_in_this_run' // the same, and it was this run that sent it, in an attempt before this one
  | 'sent_in_this_run' // this run has sent other content: two rows have one external id, or the row has changed since
  | 'deletion'; // its row is marked as deleted, and another row may give the record

/** The records of a chunk; its read sequence numbers are those around all of its pages. */
export interface ClaimRequest extends ReadSeqs {
  readonly records: RecordList;
  /** Whether the run reads each row once: then a record that it has already sent is skipped as `sent_in_this_run`. */
  readonly skipSentInRun?: boolean;
  /** Whether records that would be sent since their rows are marked as deleted are skipped as `deletion`. */
  readonly skipDeletions?: boolean;
  /** The ledger's numbers for all tenants of the records. */
  readonly tenantIds: ReadonlyMap<string, number>;
  /** Cuts the claimed records into batches of one tenant each. */
  readonly cut: (claimed: RecordList) => readonly RecordList[];
  /** Limits that the claim must not exceed; undefined for rows that are read again. */
  readonly guard?: ChunkGuard | undefined;
}

export interface Claimed {
  readonly batches: readonly IntendedBatch[];
  /** By the index of the request's records; undefined for those that are sent. */
  readonly skipReasons: readonly (SkipReason | undefined)[];
}

/** An arbitrary constant; the second number of the advisory lock is the mapping's. */
export const CLAIM_LOCK = 7_160_346;

/**
 * Throws `fenced_off` when a newer attempt has taken the partition over, and {@link GuardExceeded} if the run is to be
 * held.
 */
export async function claimChunk(
  knex: Knex,
  inFlight: InFlightRecords,
  partition: AcquiredPartition,
  request: ClaimRequest,
): Promise<Claimed> {
  const checkGuard = await guardCheck(knex, partition, request.guard);
  if (!partition.keepsRecords) {
    await checkGuard(knex, []);
    return claimAll(request);
  }
  // Taken before the transaction: a process that is frozen in it must know afterwards how old its intents are.
  const intendedAt = Date.now();
  const keys = keysOf(request);
  const claimed = await inTransaction(knex, async (trx) => {
    await lockPartition(trx, partition);
    const isConcurrent = await lockClaims(trx, partition);
    const pending = isConcurrent ? await raiseReadSeqs(trx, partition.mappingId, keys, request) : null;
    // In this order: a batch that is settled in between is seen in at least one of the two.
    const inFlightReasons = await inFlight.find(trx, partition.mappingId, keys, request);
    const { skipReasons, changed } = await compareWithIndex(trx, partition, keys, request);
    for (const [index, reason] of inFlightReasons)
      // What has become pending since the numbers were raised is read again instead.
      skipReasons[index] = reason === 'pending' && pending?.has(index) === false ? 'contended' : reason;
    const isSent = (index: number): boolean => skipReasons[index] === undefined;
    await checkGuard(trx, changed.filter(isSent));
    const sent = request.records.pick(isSent);
    return {
      batches: await insertIntents(trx, partition, request.readSeqEnd, cut(request, sent), intendedAt),
      skipReasons,
    };
  });
  inFlight.add(partition.mappingId, claimed.batches);
  return claimed;
}

function keysOf({ records, tenantIds: numbers }: ClaimRequest): RecordKeys {
  const tenantIds = new Array<number>(records.length);
  // Neighbours mostly are of one tenant.
  let [tenant, tenantId]: [string | undefined, number] = [undefined, 0];
  for (let i = 0; i < tenantIds.length; i++) {
    if (records.tenantAt(i) !== tenant) {
      tenant = records.tenantAt(i);
      tenantId = numbers.get(tenant)!;
    }
    tenantIds[i] = tenantId;
  }
  return { tenantIds, externalIds: records.externalIds };
}

const cut = (request: ClaimRequest, claimed: RecordList): { tenantId: number; records: RecordList }[] =>
  request.cut(claimed).map((records) => ({ tenantId: request.tenantIds.get(records.tenantAt(0))!, records }));

/**
 * Locks the claims of the mapping until the transaction ends, since two at once would not see each other's batches.
 * Returns whether rows are being read twice: by another run of the mapping, or for small tenants. A run that
 * begins while this claim waits for the lock need not be seen: it reads later than this claim's rows were read.
 */
async function lockClaims(trx: Knex, { mappingId, runId }: AcquiredPartition): Promise<boolean> {
  const { rows } = await prepared<{ concurrent: boolean }>(
    trx,
    'lock_claims',
    `SELECT pg_advisory_xact_lock(:lock, :mapping), EXISTS (
       SELECT FROM runs JOIN partitions ON partitions.run_id = runs.id
       WHERE runs.ended_at IS NULL AND partitions.mapping_id = :mapping AND partitions.fencing_token > 0
         AND (runs.id <> :run OR partitions.kind = 'small_tenants' AND NOT partitions.done)) AS concurrent`,
    { lock: CLAIM_LOCK, mapping: mappingId, run: runId },
  );
  return rows[0]!.concurrent;
}

/** In place of the run that has sent a record, which none has. */
const NO_RUN = 0;

/**
 * Gives records that this reading found unchanged its read sequence number. Otherwise somebody else who has read their
 * rows earlier, while they were different, would send what they read (ADR 0023). So do records that are pending, as somebody else
 * may read them once they are accepted, and records that were never sent and whose rows are marked as deleted by now: they count
 * as marked. If nobody else reads the mapping, this is unnecessary.
 *
 * Returns the indexes of the records that are pending.
 */
async function raiseReadSeqs(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  { records, readSeqEnd }: ClaimRequest,
): Promise<ReadonlySet<number>> {
  const { contentHashes } = records;
  const readSeq = Number(readSeqEnd);
  const pending = await pendingAmong(trx, mappingId, keys, records);
  await changeRecords(trx, mappingId, keys, (index, entry) => {
    const contentHash = contentHashes[index]!;
    if (entry !== undefined && (entry.contentHash === contentHash || pending.has(index)))
      return { ...entry, readSeq: Math.max(entry.readSeq, readSeq) };
    if (entry !== undefined || records.deletionAt(index) !== 'apply') return undefined;
    return { externalId: keys.externalIds[index]!, contentHash, readSeq, runId: NO_RUN };
  });
  return pending;
}

/** What the record index knows of the records. */
interface Compared {
  /** Why records are not sent. */
  readonly skipReasons: (SkipReason | undefined)[];
  /** Records that the platform has accepted, in an earlier run, with other content. */
  readonly changed: readonly number[];
}

async function compareWithIndex(
  trx: Knex,
  { mappingId, runId }: AcquiredPartition,
  keys: RecordKeys,
  { records, readSeqStart, skipSentInRun, skipDeletions, guard }: ClaimRequest,
): Promise<Compared> {
  const thisRun = Number(runId);
  // If the index does not know the record of a deleted row, it was never sent: there is nothing to mark.
  const reasons = keys.externalIds.map((_, i): SkipReason | undefined =>
    records.deletionAt(i) === undefined ? undefined : 'unchanged',
  );
  const changed: number[] = [];
  let hashes: Buffer | undefined;
  const ownHashes = (): Buffer => (hashes ??= records.hashes);
  const upToDate = (sentBy: number): SkipReason => (sentBy === thisRun ? 'delivered_in_this_run' : 'unchanged');
  const compare = (index: number, known: RecordEntry): SkipReason | undefined => {
    const own = { contentHash: hashAt(ownHashes(), index), deletion: records.deletionAt(index) };
    if (isUpToDate(own, known.contentHash)) return upToDate(known.runId);
    const isDeletion = skipDeletions === true && own.deletion !== undefined;
    if (!isDeletion && skipSentInRun === true && known.runId === thisRun && known.contentHash !== null)
      return 'sent_in_this_run';
    if (isChangedBy(thisRun, known) && guard?.isIncomplete(index, known.contentHash!) !== true) changed.push(index);
    if (isDeletion) return 'deletion';
    // If the two readings took place at the same time, it cannot be told which is newer.
    return known.readSeq > Number(readSeqStart) ? 'contended' : undefined;
  };
  await readRecords(trx, mappingId, keys, (index, known) => (reasons[index] = compare(index, known)), {
    hashes: ownHashes,
    sameContent: (first, count, sentBy) => reasons.fill(upToDate(sentBy), first, first + count),
  });
  return { skipReasons: reasons, changed };
}

/** If the mapping keeps no records, all are sent, and only batches with pending records are written to the ledger. */
function claimAll(request: ClaimRequest): Claimed {
  const intendedAt = Date.now();
  const batches = cut(request, request.records).map(({ tenantId, records }): IntendedBatch => ({
    id: null,
    tenant: records.tenantAt(0),
    tenantId,
    records,
    intendedAt,
  }));
  return { batches, skipReasons: [] };
}
