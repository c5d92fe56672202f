/**
 * Claims: which records of a group are sent, and their batches' intents, in one transaction before any POST.
 *
 * A record is claimed only while no unfinished batch holds it, and only if it was read wholly after what was sent
 * last; so no record is in two unfinished batches, and older never overwrites newer.
 */
import type { Knex } from 'knex';
import { isInStep } from '../domain/record.js';
import { HASH_BYTES, type RecordList } from '../domain/record-list.js';
import type { HeldRecords, HeldVerdict } from './held-records.js';
import { insertIntents, type IntendedBatch } from './open-batches.js';
import { prepared } from './prepared.js';
import { holdRange, type TakenRange } from './ranges.js';
import type { RecordEntry } from './record-block.js';
import { changeRecords, readRecords } from './record-blocks.js';
import type { RecordKeys } from './record-key.js';
import { inTransaction } from './transaction.js';

/** Why a record of a group is not sent now. */
export type Verdict =
  | HeldVerdict
  | 'accepted' // this very run delivered this content already (an attempt before this one)
  | 'unchanged' // the platform has this content
  | 'met'; // this very run sent other content: another row has the same id, or the row has changed meanwhile

export interface ClaimRequest {
  /** Stamp drawn before the first page of the group was read. */
  readonly before: string;
  /** Stamp drawn after its last page had arrived. */
  readonly after: string;
  readonly records: RecordList;
  /** Whether the run reads each row once, so that a record which it has sent already is {@link Verdict met}. */
  readonly eachOnce?: boolean;
  readonly tenantIds: ReadonlyMap<string, number>;
  /** Cuts the claimed records into batches of one tenant each. */
  readonly cut: (claimed: RecordList) => readonly RecordList[];
}

export interface Claimed {
  readonly batches: readonly IntendedBatch[];
  /** Verdicts of the request's records; undefined for those that are sent. */
  readonly verdicts: readonly (Verdict | undefined)[];
}

/** Any constant; the second number of the lock is the mapping's. */
const CLAIM_LOCK = 7_160_346;

export async function claimGroup(
  knex: Knex,
  held: HeldRecords,
  range: TakenRange,
  request: ClaimRequest,
): Promise<Claimed> {
  if (!range.keepsRecords) return claimUnkept(request);
  // Before the transaction: a process that is frozen in it must know, on waking, how old its intents are.
  const intendedAt = Date.now();
  const { records, tenantIds } = request;
  const { externalIds } = records;
  const keys = { tenantIds: externalIds.map((_, i) => tenantIds.get(records.tenantAt(i))!), externalIds };
  const claimed = await inTransaction(knex, async (trx) => {
    await holdRange(trx, range);
    if (await lockClaims(trx, range)) await noteSeen(trx, range.mappingId, keys, request);
    // What is held is looked up before what is known: a batch that is settled meanwhile is seen in one of the two.
    const heldBack = await held.verdicts(trx, range.mappingId, keys, request);
    const [before, runId] = [Number(request.before), Number(range.runId)];
    // Of a deleted row the platform has nothing, as far as nothing else is known.
    const verdicts = externalIds.map((_, i): Verdict | undefined =>
      records.deletionAt(i) === undefined ? undefined : 'unchanged',
    );
    const inStep = (known: number): Verdict => (known === runId ? 'accepted' : 'unchanged');
    let hashes: Buffer | undefined;
    const see = (index: number, known: RecordEntry): void => {
      hashes ??= records.hashes;
      const contentHash = hashes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
      if (isInStep({ contentHash, deletion: records.deletionAt(index) }, known.contentHash))
        verdicts[index] = inStep(known.runId);
      else if (request.eachOnce === true && known.runId === runId && known.contentHash !== null)
        verdicts[index] = 'met';
      // Read before, or beside, what was sent last: it might be older.
      else verdicts[index] = known.readStamp >= before ? 'busy' : undefined;
    };
    await readRecords(trx, range.mappingId, keys, see, {
      hashes: () => (hashes ??= records.hashes),
      see: (first, count, known) => verdicts.fill(inStep(known), first, first + count),
    });
    for (const [index, verdict] of heldBack) verdicts[index] = verdict;
    const cut = request.cut(records.pick((index) => verdicts[index] === undefined));
    const batches = await insertIntents(trx, range, request.after, cut, (t) => tenantIds.get(t)!, intendedAt);
    return { batches, verdicts };
  });
  held.note(range.mappingId, claimed.batches);
  return claimed;
}

/**
 * Two claims at once would not see each other's batches. Answers whether another run reads the mapping just now; one
 * that begins to while this waits for the lock reads later than this has read.
 */
async function lockClaims(trx: Knex, { mappingId, runId }: TakenRange): Promise<boolean> {
  const { rows } = await prepared<{ beside: boolean }>(
    trx,
    'lock_claims',
    `SELECT pg_advisory_xact_lock(:lock, :mapping), EXISTS (
       SELECT FROM runs JOIN ranges ON ranges.run_id = runs.id
       WHERE runs.ended_at IS NULL AND runs.id <> :run AND ranges.mapping_id = :mapping AND ranges.epoch > 0) AS beside`,
    { lock: CLAIM_LOCK, mapping: mappingId, run: runId },
  );
  return rows[0]!.beside;
}

/**
 * Records that are seen as the platform has them are noted as read now, or another run that has read their rows before,
 * when they were different for a while, would send that. Alone on the mapping, nobody has: then nothing is written.
 */
async function noteSeen(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  { records, after }: ClaimRequest,
): Promise<void> {
  const { contentHashes } = records;
  await changeRecords(trx, mappingId, keys, (index, entry) =>
    entry !== undefined && entry.contentHash === contentHashes[index]
      ? { ...entry, readStamp: Math.max(entry.readStamp, Number(after)) }
      : undefined,
  );
}

/** Where no records are kept, all are sent, and their batches leave a trace only once the platform holds some back. */
function claimUnkept({ records, tenantIds, cut }: ClaimRequest): Claimed {
  const intendedAt = Date.now();
  const batches = cut(records).map((of): IntendedBatch => {
    const tenant = of.tenantAt(0);
    return { id: null, tenant, tenantId: tenantIds.get(tenant)!, records: of, intendedAt };
  });
  return { batches, verdicts: [] };
}
