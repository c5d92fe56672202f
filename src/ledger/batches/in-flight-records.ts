/**
 * Records in open batches. The records of a batch do not change while it is in flight, so each process reads them
 * once, only for batches whose range touches what it claims, and never for batches that it has written itself.
 */
import type { Knex } from 'knex';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import type { WrittenIntent } from './batch-intents.js';
import { keysInDoubt } from './doubts.js';
import { prepared } from '../database/statements.js';
import { outermostKeys, INTERSECTS_KEYS } from './range-of-batch.js';
import { intersect, rangeOf, type IdRange, type RecordKeys, type RecordPlace } from '../record-key.js';
import { recordReadingOfPending, type RowReading } from '../waiting/index.js';

/** Why a record in an open batch, or in doubt, is not sent again. */
export type InFlightReason =
  | 'pending' // the platform keeps it until its parent arrives
  | 'contended'; // it is in another batch that is not settled yet, or the platform may still be applying other content

export interface InFlightRecords {
  /**
   * Finds the keys whose records are in open batches, or in doubt with other content; returns the reasons by the index of the
   * key. The mapping's claims must be locked. `reading` is what was read of their rows, which is written down for those that
   * are pending.
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
      const { rows, anyPending, anyDoubt } = await readInFlight(trx, mappingId, keys, [...before.keys()]);
      const batches = new Map<string, InFlightBatch>();
      for (const { id, tenantId, externalIds } of rows)
        batches.set(id, before.get(id) ?? { tenantId, externalIds: externalIds!, range: rangeOf(externalIds!) });
      // This forgets settled batches, and others that these keys do not touch, which may have to be read again.
      known.set(mappingId, batches);
      if (anyPending)
        for (const index of await recordReadingOfPending(trx, mappingId, keys, reading)) reasons.set(index, 'pending');
      if (anyDoubt)
        for (const index of await keysInDoubt(trx, mappingId, keys, reading.records.contentHashes))
          reasons.set(index, 'contended');
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

/** What the ledger knows of a mapping's records on their way. */
interface InFlight {
  /** The batches in flight that lie between the outermost keys. */
  readonly rows: readonly InFlightRow[];
  /** Whether any of the mapping's records is pending, or in doubt. */
  readonly anyPending: boolean;
  readonly anyDoubt: boolean;
}

async function readInFlight(
  trx: Knex,
  mappingId: number,
  keys: RecordKeys,
  knownIds: readonly string[],
): Promise<InFlight> {
  const { rows } = await prepared<InFlightRow | { readonly id: null; readonly any: 'pending' | 'doubt' }>(
    trx,
    'in_flight_batches',
    `SELECT id, tenant_id AS "tenantId", CASE WHEN id <> ALL (CAST(:known AS bigint[])) THEN external_ids END AS "externalIds",
       NULL AS any
     FROM batches WHERE mapping_id = :mapping AND state IN ('intended', 'sent') AND ${INTERSECTS_KEYS}
     UNION ALL (SELECT NULL, NULL, NULL, 'pending' FROM batches WHERE mapping_id = :mapping AND state = 'pending' LIMIT 1)
     UNION ALL (SELECT NULL, NULL, NULL, 'doubt' FROM doubts WHERE mapping_id = :mapping AND until > clock_timestamp() LIMIT 1)`,
    {
      mapping: mappingId,
      known: [...knownIds],
      ...outermostKeys(keys),
    },
  );
  const isAny = (what: 'pending' | 'doubt'): boolean => rows.some((row) => row.id === null && row.any === what);
  return {
    rows: rows.filter((row): row is InFlightRow => row.id !== null),
    anyPending: isAny('pending'),
    anyDoubt: isAny('doubt'),
  };
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
