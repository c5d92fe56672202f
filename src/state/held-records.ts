/**
 * Which records unfinished batches hold. The ids of a batch on its way never change, so each process reads them
 * once, and those of its own batches not at all.
 */
import type { Knex } from 'knex';
import type { Verdict } from './claims.js';
import type { IntendedBatch } from './open-batches.js';
import { compareIds, type RecordKey } from './record-key.js';
import { noteHeldAgain, type Reread } from './waiting-rows.js';

export interface HeldRecords {
  /** Verdicts of those of the keys that are held, by their index: on their way, or waiting on the platform. */
  verdicts(trx: Knex, mappingId: number, keys: readonly RecordKey[], reread: Reread): Promise<Map<number, Verdict>>;
  /** Batches that this process has just written. */
  note(mappingId: number, batches: readonly IntendedBatch[]): void;
}

interface Hold {
  readonly tenantId: number;
  readonly externalIds: readonly string[];
  readonly first: string;
  readonly last: string;
}

export function openHeldRecords(): HeldRecords {
  const known = new Map<number, Map<string, Hold>>();
  const holdsOf = (mappingId: number): Map<string, Hold> => {
    let holds = known.get(mappingId);
    if (holds === undefined) known.set(mappingId, (holds = new Map()));
    return holds;
  };
  return {
    async verdicts(trx, mappingId, keys, reread) {
      const before = holdsOf(mappingId);
      const { batches, waiting } = await open(trx, mappingId, [...before.keys()]);
      const holds = new Map(batches.map((b) => [b.id, before.get(b.id) ?? hold(b.tenantId, b.externalIds!)]));
      known.set(mappingId, holds);
      const verdicts = new Map<number, Verdict>();
      if (waiting)
        for (const index of await noteHeldAgain(trx, mappingId, keys, reread)) verdicts.set(index, 'waiting');
      for (const index of heldBy([...holds.values()], keys)) verdicts.set(index, 'busy');
      return verdicts;
    },
    note(mappingId, batches) {
      const holds = holdsOf(mappingId);
      for (const { id, tenantId, records } of batches)
        holds.set(id, hold(tenantId, records.map((r) => r.externalId))); // prettier-ignore
    },
  };
}

interface OpenNow {
  readonly batches: readonly {
    readonly id: string;
    readonly tenantId: number;
    readonly externalIds: string[] | null;
  }[];
  /** Whether the platform holds any of the mapping's records. */
  readonly waiting: boolean;
}

/** The batches on their way; without the ids of those that are known already. */
async function open(trx: Knex, mappingId: number, knownIds: readonly string[]): Promise<OpenNow> {
  const { rows } = await trx.raw<{ rows: { id: string | null; tenantId: number; externalIds: string[] | null }[] }>(
    `SELECT id, tenant_id AS "tenantId", CASE WHEN id <> ALL (CAST(:known AS bigint[])) THEN external_ids END AS "externalIds"
     FROM batches WHERE mapping_id = :mapping AND state IN ('intended', 'sent')
     UNION ALL (SELECT NULL, NULL, NULL FROM batches WHERE mapping_id = :mapping AND state = 'waiting' LIMIT 1)`,
    { mapping: mappingId, known: [...knownIds] },
  );
  const batches = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ id, ...row }]));
  return { batches, waiting: batches.length < rows.length };
}

function hold(tenantId: number, externalIds: readonly string[]): Hold {
  let [first, last] = [externalIds[0]!, externalIds[0]!];
  for (const id of externalIds) {
    if (compareIds(id, first) < 0) first = id;
    else if (compareIds(id, last) > 0) last = id;
  }
  return { tenantId, externalIds, first, last };
}

/** Indexes of the keys that are in one of the batches. Most lie far from all of them, and are told by a glance. */
function heldBy(holds: readonly Hold[], keys: readonly RecordKey[]): number[] {
  const spans = new Map<number, Hold>();
  for (const [tenantId, ids] of idsByTenant(keys)) spans.set(tenantId, hold(tenantId, ids));
  const near = holds.filter((h) => {
    const span = spans.get(h.tenantId);
    return span !== undefined && compareIds(h.first, span.last) <= 0 && compareIds(span.first, h.last) <= 0;
  });
  if (near.length === 0) return [];
  const ids = new Map<number, Set<string>>();
  for (const { tenantId, externalIds } of near) {
    let set = ids.get(tenantId);
    if (set === undefined) ids.set(tenantId, (set = new Set()));
    for (const id of externalIds) set.add(id);
  }
  return keys.flatMap((key, index) => (ids.get(key.tenantId)?.has(key.externalId) === true ? [index] : []));
}

function idsByTenant(keys: readonly RecordKey[]): Map<number, string[]> {
  const ids = new Map<number, string[]>();
  for (const { tenantId, externalId } of keys) {
    const some = ids.get(tenantId);
    if (some === undefined) ids.set(tenantId, [externalId]);
    else some.push(externalId);
  }
  return ids;
}
