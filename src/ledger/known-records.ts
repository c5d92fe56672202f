/** What the ledger knows of records by their external ids: what was accepted, and what is not decided yet. */
import type { Knex } from 'knex';
import { idsInFlight, keysInFlight } from './batches/in-flight-records.js';
import { inTransaction } from './database/statements.js';
import { writeUnknown } from './outcomes/sent-records.js';
import { lockPartition, type AcquiredPartition } from './runs/partitions.js';
import { hasAtMostBlocks, readRecords, scanForIds } from './record-index/index.js';
import { recordKey, type RecordKeys, type RecordPlace } from './record-key.js';

/** A record that was ever sent, or is to be. */
export interface KnownRecord extends RecordPlace {
  /** The accepted hash; null if nothing was accepted, and undefined if it was never sent. */
  readonly contentHash: string | null | undefined;
  /** Whether it is waiting, or in a batch that is not settled. */
  readonly isUndecided: boolean;
}

export interface KnownRecords {
  /**
   * Forgets what was accepted of these records, of any mapping, so that the next reading of their rows is sent. Throws `fenced_off`
   * when a newer attempt has taken the partition over.
   */
  doubt(partition: AcquiredPartition, mappingId: number, keys: RecordKeys): Promise<void>;
  /** Those of these records that are known. */
  among(mappingId: number, keys: RecordKeys): Promise<readonly KnownRecord[]>;
  /** Those that are known of the records with these external ids in these tenants, of which there may be thousands. */
  inTenants(
    mappingId: number,
    tenantIds: readonly number[],
    externalIds: readonly string[],
  ): Promise<readonly KnownRecord[]>;
}

/** Records that are looked for at once. */
const AT_ONCE = 20_000;

/** To look for so many records takes as long as to read one block of the index. */
const RECORDS_PER_BLOCK = 20;

export const openKnownRecords = (knex: Knex): KnownRecords => {
  const among: KnownRecords['among'] = async (mappingId, keys) => {
    if (keys.externalIds.length === 0) return [];
    const known = new Known();
    const at = (index: number): RecordPlace => ({
      tenantId: keys.tenantIds[index]!,
      externalId: keys.externalIds[index]!,
    });
    // In this order: a record that is decided in between is found by a later one.
    for (const index of await keysInFlight(knex, mappingId, keys)) known.undecided(at(index));
    const { rows } = await knex.raw<{ rows: { index: number }[] }>(
      `SELECT k.index::int - 1 AS index FROM unnest(CAST(:tenantIds AS int[]), CAST(:externalIds AS text[]))
         WITH ORDINALITY AS k(tenant_id, external_id, index)
       JOIN waiting w ON w.mapping_id = :mappingId AND w.tenant_id = k.tenant_id AND w.external_id = k.external_id`,
      { mappingId, tenantIds: [...keys.tenantIds], externalIds: [...keys.externalIds] },
    );
    for (const { index } of rows) known.undecided(at(index));
    await readRecords(knex, mappingId, keys, (index, { contentHash }) => known.sent(at(index), contentHash));
    return known.records;
  };
  /** The same for the external ids in whichever tenant. */
  const inAnyTenant = async (mappingId: number, ids: ReadonlySet<string>): Promise<readonly KnownRecord[]> => {
    const known = new Known();
    for (const record of await idsInFlight(knex, mappingId, ids)) known.undecided(record);
    const { rows } = await knex.raw<{ rows: RecordPlace[] }>(
      `SELECT tenant_id AS "tenantId", external_id AS "externalId" FROM waiting
       WHERE mapping_id = ? AND external_id = ANY (CAST(? AS text[]))`,
      [mappingId, [...ids]],
    );
    for (const record of rows) known.undecided(record);
    await scanForIds(knex, mappingId, ids, (record) => known.sent(record, record.contentHash));
    return known.records;
  };
  return {
    doubt: (partition, mappingId, keys) =>
      inTransaction(knex, async (trx) => {
        await lockPartition(trx, partition);
        await writeUnknown(trx, mappingId, keys);
      }),
    among,
    async inTenants(mappingId, tenantIds, externalIds) {
      const wanted = tenantIds.length * externalIds.length;
      if (wanted === 0) return [];
      if (await hasAtMostBlocks(knex, mappingId, Math.floor(wanted / RECORDS_PER_BLOCK))) {
        const tenants = new Set(tenantIds);
        const records = await inAnyTenant(mappingId, new Set(externalIds));
        return records.filter(({ tenantId }) => tenants.has(tenantId));
      }
      const known: KnownRecord[] = [];
      // By tenants, of which each has its own part of the index.
      const together = Math.max(1, Math.floor(AT_ONCE / externalIds.length));
      for (let from = 0; from < tenantIds.length; from += together) {
        const some = tenantIds.slice(from, from + together);
        const keys = {
          tenantIds: some.flatMap((tenantId) => externalIds.map(() => tenantId)),
          externalIds: some.flatMap(() => externalIds),
        };
        known.push(...(await among(mappingId, keys)));
      }
      return known;
    },
  };
};

/** Records, each once, with all that was found out about them. */
class Known {
  readonly #records = new Map<string, KnownRecord>();

  get records(): readonly KnownRecord[] {
    return [...this.#records.values()];
  }

  undecided(record: RecordPlace): void {
    this.#add(record, { isUndecided: true });
  }

  sent(record: RecordPlace, contentHash: string | null): void {
    this.#add(record, { contentHash });
  }

  #add({ tenantId, externalId }: RecordPlace, found: Partial<KnownRecord>): void {
    const key = recordKey({ tenantId, externalId });
    const before = this.#records.get(key) ?? { tenantId, externalId, contentHash: undefined, isUndecided: false };
    this.#records.set(key, { ...before, ...found });
  }
}
