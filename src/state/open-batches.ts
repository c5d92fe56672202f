/** Batches on their way: sent, left behind by a dead attempt, or held by the platform for dependencies. */
import { isKeepable } from '../domain/external-id.js';
import type { Knex } from 'knex';
import { HASH_BYTES, type RecordList } from '../domain/record-list.js';
import { holdRange, type TakenRange } from './ranges.js';
import { writeOutcomes, type RecordOutcome } from './record-outcomes.js';
import { coalesced } from './coalesced.js';
import { prepared } from './prepared.js';
import { hashAt, SEPARATOR } from './record-block.js';
import { idHex, spanOf, type IdSpan } from './record-key.js';
import { inTransaction } from './transaction.js';
import { heldUntil } from './waiting-rows.js';

export interface IntendedBatch {
  /** null where the ledger keeps no records: then it knows nothing of the batch. */
  readonly id: string | null;
  readonly tenant: string;
  readonly tenantId: number;
  readonly records: RecordList;
  /** Milliseconds of this process's clock, taken before the intent was written. */
  readonly intendedAt: number;
}

/** A batch that the ledger knows. */
export interface WrittenIntent extends IntendedBatch {
  readonly id: string;
  /** Between which external ids its records lie. */
  readonly span: IdSpan;
}

export interface OpenBatch {
  readonly id: string;
  readonly runId: string;
  readonly tenant: string;
  readonly tenantId: number;
  readonly state: 'intended' | 'sent' | 'waiting';
  readonly platformBatchId: string | null;
  /** How many records it was sent with. */
  readonly records: number;
  /** When its rows were read, by the logical clock. */
  readonly readStamp: string;
  /** The records that are open still. */
  readonly externalIds: readonly string[];
  /** What was sent, by the index in `externalIds`; a waiting batch's are with its waiting records. */
  readonly contentHashes: readonly string[];
  /** Milliseconds since the intent was written, by the state database's clock. */
  readonly age: number;
}

export interface OpenBatches {
  /** Notes the id that the platform gave a batch, of those that are written. */
  sent(batch: IntendedBatch, platformBatchId: string): Promise<void>;
  /** Writes a batch that was not, since the platform holds some of its records back; answers its id. */
  note(range: TakenRange, readStamp: string, batch: IntendedBatch, platformBatchId: string): Promise<string>;
  /** The intent, written anew for a POST that had to wait; throws `fenced_off` when another attempt took over. */
  renew(range: TakenRange, batch: IntendedBatch): Promise<IntendedBatch>;
  /** Replaces an intent by intents of its parts. */
  split(range: TakenRange, batch: IntendedBatch, parts: readonly RecordList[]): Promise<readonly IntendedBatch[]>;
  /**
   * Batches whose settling is not finished, and that nobody works on: those of the range itself, and those that
   * runs of its mapping left behind which are over. Attempts that outlived such a run are fenced off first.
   */
  leftBehind(range: TakenRange): Promise<readonly OpenBatch[]>;
  /** The batch as it is now; a predecessor's last word may have come in meanwhile. */
  again(batch: OpenBatch): Promise<OpenBatch | undefined>;
  /** Batches of a mapping that the platform holds for dependencies, of any run. */
  waitingOf(mappingId: number): Promise<readonly OpenBatch[]>;
  /**
   * Frees the records of a batch that an earlier attempt left behind; the `held` ones go on waiting for dependencies, for
   * so many seconds at most.
   */
  recover(
    range: TakenRange,
    batch: OpenBatch,
    outcomes: readonly RecordOutcome[],
    held: readonly string[],
    holdFor?: number,
  ): Promise<void>;
}

interface Row {
  id: string;
  run_id: string;
  tenant: string;
  tenant_id: number;
  state: OpenBatch['state'];
  platform_batch_id: string | null;
  records: number;
  read_stamp: string;
  external_ids: string[];
  content_hashes: Buffer | null;
  age: number;
}

/** Of a run that ended without settling it: failed, cancelled or terminated. */
const ABANDONED = `state IN ('intended', 'sent') AND b.mapping_id = ?
  AND EXISTS (SELECT FROM runs WHERE runs.id = b.run_id AND runs.ended_at IS NOT NULL)`;

/** Milliseconds until a batch's id is written: no longer than its first status is waited for. */
const NOTED_WITHIN = 30;

export function openBatches(knex: Knex): OpenBatches {
  const find = async (condition: string, ...values: (string | number)[]): Promise<OpenBatch[]> => {
    const { rows } = await knex.raw<{ rows: Row[] }>(
      `SELECT b.*, t.platform_id AS tenant, (1000 * extract(epoch FROM clock_timestamp() - intended_at))::float8 AS age
       FROM batches b JOIN tenants t ON t.id = b.tenant_id WHERE ${condition} ORDER BY b.id`,
      values,
    );
    return rows.map((row) => {
      const digits = row.content_hashes?.toString('hex');
      return {
        id: row.id,
        runId: row.run_id,
        tenant: row.tenant,
        tenantId: row.tenant_id,
        state: row.state,
        platformBatchId: row.platform_batch_id,
        records: row.records,
        readStamp: row.read_stamp,
        externalIds: row.external_ids,
        contentHashes: digits === undefined ? [] : row.external_ids.map((_, i) => hashAt(digits, i)),
        age: row.age,
      };
    });
  };
  const noteSent = coalesced<[string, string]>(NOTED_WITHIN, async (notes) => {
    await prepared(
      knex,
      'note_sent',
      `UPDATE batches SET state = 'sent', platform_batch_id = n.platform_id, sent_at = now()
       FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])) AS n(id, platform_id) WHERE batches.id = n.id AND state = 'intended'`,
      [notes.map(([id]) => id), notes.map(([, platformId]) => platformId)],
    );
  });
  return {
    sent: async ({ id }, platformBatchId) => (id === null ? undefined : noteSent([id, platformBatchId])),
    async note(range, readStamp, { records, tenantId, intendedAt }, platformBatchId) {
      return inTransaction(knex, async (trx) => {
        await holdRange(trx, range);
        const [intent] = await insertIntents(trx, range, readStamp, [records], () => tenantId, intendedAt);
        const { id } = intent!;
        await trx('batches')
          .where({ id })
          .update({ state: 'sent', platform_batch_id: platformBatchId, sent_at: trx.fn.now() });
        return id;
      });
    },
    async renew(range, batch) {
      const intendedAt = Date.now();
      await inTransaction(knex, async (trx) => {
        await holdRange(trx, range);
        if (batch.id !== null) await trx('batches').where({ id: batch.id }).update({ intended_at: trx.fn.now() });
      });
      return { ...batch, intendedAt };
    },
    async split(range, batch, parts) {
      const intendedAt = Date.now();
      if (batch.id === null) return parts.map((records) => ({ ...batch, records, intendedAt }));
      return inTransaction(knex, async (trx) => {
        await holdRange(trx, range);
        const [whole] = await trx('batches')
          .where({ id: batch.id })
          .update({ ...CLOSED, state: 'released', settled_at: trx.fn.now() })
          .returning<{ read_stamp: string }[]>('read_stamp');
        return insertIntents(trx, range, whole!.read_stamp, parts, () => batch.tenantId, intendedAt);
      });
    },
    async leftBehind(range) {
      await knex.raw(
        `UPDATE ranges SET epoch = epoch + 1 WHERE id IN (SELECT range_id FROM batches b WHERE ${ABANDONED})`,
        [range.mappingId],
      );
      return find(`state IN ('intended', 'sent') AND (range_id = ? OR ${ABANDONED})`, range.id, range.mappingId);
    },
    again: async (batch) => (await find('b.id = ?', batch.id))[0],
    waitingOf: (mappingId) => find(`mapping_id = ? AND state = 'waiting'`, mappingId),
    async recover(range, batch, allOutcomes, allHeld, holdFor = 0) {
      // Whatever the batch holds: an id that cannot be kept is read again with its row, and refused with its reason.
      const outcomes = allOutcomes.filter(({ externalId }) => isKeepable(externalId));
      const held = allHeld.filter(isKeepable);
      await inTransaction(knex, async (trx) => {
        await holdRange(trx, range);
        const recovered = await trx('batches')
          .where({ id: batch.id })
          .whereIn('state', ['intended', 'sent'])
          .update({
            ...CLOSED,
            ...(held.length > 0
              ? { state: 'waiting', external_ids: JSON.stringify(held) }
              : { state: allOutcomes.some((o) => o.outcome === 'unclear') ? 'released' : 'settled' }),
            settled_at: held.length > 0 ? null : trx.fn.now(),
          });
        // What a run left behind is found by several of its successor's ranges: one of them recovers it.
        if (recovered === 0) return;
        await writeOutcomes(trx, range, batch.readStamp, outcomes);
        if (held.length === 0) return;
        const hashes = new Map(batch.externalIds.map((id, i) => [id, batch.contentHashes[i]!]));
        // Their rows lie behind the position: they count in the books when they are read again. An entry that is
        // there already is of a row that is to be sent again, once the platform lets go of the record.
        await trx.raw(
          `INSERT INTO waiting AS w (mapping_id, tenant_id, external_id, source_key, reason, batch_id, content_hash, range_id,
             read_stamp, booked, due_at)
           SELECT :mapping, :tenant, id, '{}', 'dependency', :batch, hash, :range, 0, false,
             ${heldUntil('CAST(NULL AS timestamptz)', 'CAST(:holdFor AS float8)')}
           FROM unnest(CAST(:held AS text[]), CAST(:hashes AS text[])) AS h(id, hash)
           ON CONFLICT (mapping_id, tenant_id, external_id) DO UPDATE
             SET reason = excluded.reason, batch_id = excluded.batch_id, content_hash = excluded.content_hash, changed = true,
               due_at = excluded.due_at`,
          {
            ...{ mapping: range.mappingId, tenant: batch.tenantId, batch: batch.id, range: range.id, holdFor },
            ...{ held: [...held], hashes: held.map((id) => hashes.get(id)!) },
          },
        );
      });
    },
  };
}

/** The columns that only an open batch fills. */
export const CLOSED = { external_ids: null, content_hashes: null, low: null, high: null };

/** Writes intents, one a batch; each batch holds records of one tenant. */
export async function insertIntents(
  trx: Knex,
  range: TakenRange,
  readStamp: string,
  batches: readonly RecordList[],
  tenantIdOf: (tenant: string) => number,
  intendedAt: number,
): Promise<WrittenIntent[]> {
  if (batches.length === 0) return [];
  const tenantIds = batches.map((records) => tenantIdOf(records.tenantAt(0)));
  let sum = 0;
  const before = batches.map((records) => (sum += records.length) - records.length);
  const ids = batches.map((records) => records.externalIds);
  const spans = ids.map(spanOf);
  const { rows } = await prepared<{ id: string }>(
    trx,
    'insert_intents',
    // One text and one row of bytes for all: quoting each as an array's element costs more than everything else here.
    `INSERT INTO batches (run_id, range_id, mapping_id, tenant_id, state, records, read_stamp, external_ids, content_hashes,
       low, high)
     SELECT :run, :range, :mapping, tenant_id, 'intended', records, :stamp, CAST(ids AS json),
       substring(CAST(:hashes AS bytea) FROM 1 + ${HASH_BYTES} * before FOR ${HASH_BYTES} * records),
       decode(low, 'hex'), decode(high, 'hex')
     FROM unnest(CAST(:tenants AS int[]), CAST(:records AS int[]), CAST(:before AS int[]), string_to_array(:ids, :separator),
       CAST(:lows AS text[]), CAST(:highs AS text[])) AS b(tenant_id, records, before, ids, low, high)
     ORDER BY before
     RETURNING id`,
    {
      ...{ run: range.runId, range: range.id, mapping: range.mappingId, stamp: readStamp, separator: SEPARATOR },
      hashes: Buffer.concat(batches.map((records) => records.hashes)),
      tenants: tenantIds,
      records: batches.map((records) => records.length),
      before,
      ids: ids.map((of) => JSON.stringify(of)).join(SEPARATOR),
      lows: spans.map(({ first }) => idHex(first)),
      highs: spans.map(({ last }) => idHex(last)),
    },
  );
  return batches.map((records, i) => ({
    ...{ id: rows[i]!.id, tenant: records.tenantAt(0), tenantId: tenantIds[i]! },
    ...{ records, span: spans[i]!, intendedAt },
  }));
}
