/**
 * Records in open batches. The records of a batch do not change while it is in flight, so each process reads them
 * once, only for batches whose range touches what it claims, and never for batches that it has written itself.
 */
import type { Knex } from 'knex';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import type { WrittenIntent } from './batch-intents.js';
import { prepared } from '../database/statements.js';
import {
  idHex,
  outermost,
  intersect,
  rangeOf,
  type IdRange,
  type RecordKeys,
  type RecordPlace,
} from '../record-key.js';
import { recordReadingOfPending, type RowReading } from '../waiting/index.js';

/** Why a record in an open batch is not sent again. */
export type InFlightReason =
  | 'pending' // the platform keeps it until its parent arrives
  | 'contended'; // it is in another batch that is not settled yet

export interface InFlightRecords {
  /**
   * Finds the keys whose records are in open batches; returns the reasons by the index of the key. The mapping's
   * claims must be locked. `reading` is what was read of their rows, which is written down for those that are pending.
   */
  find(
    trx: Knex,
    mappingId: number,
    keys: RecordKeys,
    reading: RowReading,
  ): Promise<ReadonlyMap<number, InFlightReason>>;
  /** To be called for batches whose intents this process has just committed. */
  add(mappingId: number, batches: readonly WrittenIntent[]): void;
}

interface InFlightBatch {
  readonly tenantId: number;
  readonly externalIds: readonly string[];
  readonly range: IdRange;
}

export function openInFlightRecords(): InFlightRecords {
  /** By mapping, then by the batch's id. */
  const known = new Map<number, Map<string, InFlightBatch>>();
  const knownOf = (mappingId: number): Map<string, InFlightBatch> =>
    getOrInsert(known, mappingId, () => new Map<string, InFlightBatch>());
  return {
    async find(trx, mappingId, keys, reading) {
      const reasons = new Map<number, InFlightReason>();
      if (keys.externalIds.length === 0) return reasons;
      const before = knownOf(mappingId);
      const { rows, anyPending } = await readInFlight(trx, mappingId, keys, [...before.keys()]);
      const batches = new Map<string, InFlightBatch>();
      for (const { id, tenantId, externalIds } of rows)
        batches.set(id, before.get(id) ?? { tenantId, externalIds: externalIds!, range: rangeOf(externalIds!) });
      // This forgets settled batches, and others that these keys do not touch, which may have to be read again.
      known.set(mappingId, batches);
      if (anyPending)
        for (const index of await recordReadingOfPending(trx, mappingId, keys, reading)) reasons.set(index, 'pending');
      if (batches.size > 0) for (const index of keysIn([...batches.values()], keys)) reasons.set(index, 'contended');
      return reasons;
    },
    add(mappingId, batches) {
      const inFlight = knownOf(mappingId);
      for (const { id, tenantId, records, range } of batches)
        inFlight.set(id, { tenantId, externalIds: records.externalIds, range });
    },
  };
}

/** Which of the keys, by their index, are those of records in batches that are not settled. */
export async function keysInFlight(knex: Knex, mappingId: number, keys: RecordKeys): Promise<readonly number[]> {
  if (keys.externalIds.length === 0) return [];
  const { rows } = await readInFlight(knex, mappingId, keys, []);
  const batches = rows.map(({ tenantId, externalIds }) => ({
    tenantId,
    externalIds: externalIds!,
    range: rangeOf(externalIds!),
  }));
  return batches.length === 0 ? [] : keysIn(batches, keys);
}

/** The records with one of these external ids in batches that are not settled, of whichever tenant. */
export async function idsInFlight(
  knex: Knex,
  mappingId: number,
  ids: ReadonlySet<string>,
): Promise<readonly RecordPlace[]> {
  const { rows } = await knex.raw<{ rows: { tenantId: number; externalIds: readonly string[] }[] }>(
    `SELECT tenant_id AS "tenantId", external_ids AS "externalIds" FROM batches
     WHERE mapping_id = ? AND state IN ('intended', 'sent')`,
    [mappingId],
  );
  return rows.flatMap(({ tenantId, externalIds }) =>
    externalIds.filter((id) => ids.has(id)).map((externalId) => ({ tenantId, externalId })),
  );
}

interface InFlightRow {
  readonly id: string;
  readonly tenantId: number;
  /** null if the batch is known already. */
  readonly externalIds: readonly string[] | null;
}

/** The batches in flight that lie between the outermost keys, and whether any of the mapping's records is pending. */
async function readInFlight(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  knownIds: readonly string[],
): Promise<{ readonly rows: readonly InFlightRow[]; readonly anyPending: boolean }> {
  const [lowest, highest] = outermost(keys);
  const { rows } = await prepared<InFlightRow | { readonly id: null }>(
    trx,
    'in_flight_batches',
    `SELECT id, tenant_id AS "tenantId", CASE WHEN id <> ALL (CAST(:known AS bigint[])) THEN external_ids END AS "externalIds"
     FROM batches WHERE mapping_id = :mapping AND state IN ('intended', 'sent') AND (low IS NULL OR (
       (tenant_id, high) >= (CAST(:firstTenant AS int), decode(:first, 'hex'))
       AND (tenant_id, low) <= (CAST(:lastTenant AS int), decode(:last, 'hex'))))
     UNION ALL (SELECT NULL, NULL, NULL FROM batches WHERE mapping_id = :mapping AND state = 'pending' LIMIT 1)`,
    {
      mapping: mappingId,
      known: [...knownIds],
      firstTenant: keys.tenantIds[lowest]!,
      first: idHex(keys.externalIds[lowest]!),
      lastTenant: keys.tenantIds[highest]!,
      last: idHex(keys.externalIds[highest]!),
    },
  );
  const batches = rows.filter((row): row is InFlightRow => row.id !== null);
  return { rows: batches, anyPending: batches.length < rows.length };
}

/** Indexes of the keys that are in one of the batches. With many tenants, comparing ranges rules out most batches. */
function keysIn(batches: readonly InFlightBatch[], { tenantIds, externalIds }: RecordKeys): number[] {
  const idsOfTenants = new Map<number, string[]>();
  externalIds.forEach((id, i) => {
    const ids = idsOfTenants.get(tenantIds[i]!);
    if (ids === undefined) idsOfTenants.set(tenantIds[i]!, [id]);
    else ids.push(id);
  });
  const ranges = new Map([...idsOfTenants].map(([tenantId, ids]) => [tenantId, rangeOf(ids)]));
  const inFlight = new Map<number, Set<string>>();
  for (const batch of batches) {
    const range = ranges.get(batch.tenantId);
    if (range === undefined || !intersect(range, batch.range)) continue;
    const ids = getOrInsert(inFlight, batch.tenantId, () => new Set<string>());
    for (const id of batch.externalIds) ids.add(id);
  }
  if (inFlight.size === 0) return [];
  return externalIds.flatMap((id, i) => (inFlight.get(tenantIds[i]!)?.has(id) === true ? [i] : []));
}
