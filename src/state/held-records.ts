/**
 * Which records unfinished batches hold. The ids of a batch on its way never change, so each process reads them
 * once, of those batches only that its keys may meet, and those of its own batches not at all.
 */
import type { Knex } from 'knex';
import type { WrittenIntent } from './open-batches.js';
import { prepared } from './prepared.js';
import { compareIds, idHex, outermost, spanOf, type IdSpan, type RecordKeys } from './record-key.js';
import { noteHeldAgain, type Reread } from './waiting-rows.js';

export type HeldVerdict =
  | 'waiting' // the platform holds this record for a dependency
  | 'busy'; // in another unfinished batch, or read too early to be sure: read it again later

export interface HeldRecords {
  /** Verdicts of those of the keys that are held, by their index: on their way, or waiting on the platform. */
  verdicts(trx: Knex, mappingId: number, keys: RecordKeys, reread: Reread): Promise<Map<number, HeldVerdict>>;
  /** Batches that this process has just written. */
  note(mappingId: number, batches: readonly WrittenIntent[]): void;
}

interface Hold {
  readonly tenantId: number;
  readonly externalIds: readonly string[];
  readonly span: IdSpan;
}

export function openHeldRecords(): HeldRecords {
  const known = new Map<number, Map<string, Hold>>();
  const holdsOf = (mappingId: number): Map<string, Hold> => {
    let holds = known.get(mappingId);
    if (holds === undefined) known.set(mappingId, (holds = new Map<string, Hold>()));
    return holds;
  };
  return {
    async verdicts(trx, mappingId, keys, reread) {
      const verdicts = new Map<number, HeldVerdict>();
      if (keys.externalIds.length === 0) return verdicts;
      const before = holdsOf(mappingId);
      const { batches, waiting } = await open(trx, mappingId, keys, [...before.keys()]);
      const holds = new Map(
        batches.map(({ id, tenantId, externalIds }) => [
          id,
          before.get(id) ?? { tenantId, externalIds: externalIds!, span: spanOf(externalIds!) },
        ]),
      );
      known.set(mappingId, holds);
      if (waiting)
        for (const index of await noteHeldAgain(trx, mappingId, keys, reread)) verdicts.set(index, 'waiting');
      if (holds.size > 0) for (const index of heldBy([...holds.values()], keys)) verdicts.set(index, 'busy');
      return verdicts;
    },
    note(mappingId, batches) {
      const holds = holdsOf(mappingId);
      for (const { id, tenantId, records, span } of batches)
        holds.set(id, { tenantId, externalIds: records.externalIds, span });
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

/** The batches on their way that lie between the outermost keys; without the ids of those that are known already. */
async function open(trx: Knex, mappingId: number, keys: RecordKeys, knownIds: readonly string[]): Promise<OpenNow> {
  const [least, greatest] = outermost(keys);
  const { rows } = await prepared<{ id: string | null; tenantId: number; externalIds: string[] | null }>(
    trx,
    'open_batches',
    `SELECT id, tenant_id AS "tenantId", CASE WHEN id <> ALL (CAST(:known AS bigint[])) THEN external_ids END AS "externalIds"
     FROM batches WHERE mapping_id = :mapping AND state IN ('intended', 'sent') AND (low IS NULL OR (
       (tenant_id, high) >= (CAST(:firstTenant AS int), decode(:first, 'hex'))
       AND (tenant_id, low) <= (CAST(:lastTenant AS int), decode(:last, 'hex'))))
     UNION ALL (SELECT NULL, NULL, NULL FROM batches WHERE mapping_id = :mapping AND state = 'waiting' LIMIT 1)`,
    {
      ...{ mapping: mappingId, known: [...knownIds] },
      ...{ firstTenant: keys.tenantIds[least]!, first: idHex(keys.externalIds[least]!) },
      ...{ lastTenant: keys.tenantIds[greatest]!, last: idHex(keys.externalIds[greatest]!) },
    },
  );
  const batches = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ id, ...row }]));
  return { batches, waiting: batches.length < rows.length };
}

/** Indexes of the keys that are in one of the batches. Of many tenants most lie far from all of them, and are told by a glance. */
function heldBy(holds: readonly Hold[], { tenantIds, externalIds }: RecordKeys): number[] {
  const ofTenants = new Map<number, string[]>();
  externalIds.forEach((id, i) => {
    const ids = ofTenants.get(tenantIds[i]!);
    if (ids === undefined) ofTenants.set(tenantIds[i]!, [id]);
    else ids.push(id);
  });
  const spans = new Map([...ofTenants].map(([tenantId, ids]) => [tenantId, spanOf(ids)]));
  const held = new Map<number, Set<string>>();
  for (const hold of holds) {
    const span = spans.get(hold.tenantId);
    if (span === undefined || !meet(span, hold.span)) continue;
    let ids = held.get(hold.tenantId);
    if (ids === undefined) held.set(hold.tenantId, (ids = new Set()));
    for (const id of hold.externalIds) ids.add(id);
  }
  if (held.size === 0) return [];
  return externalIds.flatMap((id, i) => (held.get(tenantIds[i]!)?.has(id) === true ? [i] : []));
}

const meet = (a: IdSpan, b: IdSpan): boolean => compareIds(a.first, b.last) <= 0 && compareIds(b.first, a.last) <= 0;
