/**
 * Which records unfinished batches hold. The ids of a batch on its way never change, so each process reads them
 * once, and those of its own batches not at all.
 */
import type { Knex } from 'knex';
import type { WrittenIntent } from './open-batches.js';
import { prepared } from './prepared.js';
import { compareIds, type RecordKeys } from './record-key.js';
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

interface Hold extends Readonly<Span> {
  readonly tenantId: number;
  readonly externalIds: readonly string[];
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
      const before = holdsOf(mappingId);
      const { batches, waiting } = await open(trx, mappingId, [...before.keys()]);
      const holds = new Map(batches.map((b) => [b.id, before.get(b.id) ?? hold(b.tenantId, b.externalIds!)]));
      known.set(mappingId, holds);
      const verdicts = new Map<number, HeldVerdict>();
      if (waiting)
        for (const index of await noteHeldAgain(trx, mappingId, keys, reread)) verdicts.set(index, 'waiting');
      for (const index of heldBy([...holds.values()], keys)) verdicts.set(index, 'busy');
      return verdicts;
    },
    note(mappingId, batches) {
      const holds = holdsOf(mappingId);
      for (const { id, tenantId, records } of batches) holds.set(id, hold(tenantId, records.externalIds));
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
  const { rows } = await prepared<{ id: string | null; tenantId: number; externalIds: string[] | null }>(
    trx,
    'open_batches',
    `SELECT id, tenant_id AS "tenantId", CASE WHEN id <> ALL (CAST(:known AS bigint[])) THEN external_ids END AS "externalIds"
     FROM batches WHERE mapping_id = :mapping AND state IN ('intended', 'sent')
     UNION ALL (SELECT NULL, NULL, NULL FROM batches WHERE mapping_id = :mapping AND state = 'waiting' LIMIT 1)`,
    { mapping: mappingId, known: [...knownIds] },
  );
  const batches = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ id, ...row }]));
  return { batches, waiting: batches.length < rows.length };
}

function hold(tenantId: number, externalIds: readonly string[]): Hold {
  const span: Span = { first: externalIds[0]!, last: externalIds[0]! };
  for (const id of externalIds) stretch(span, id);
  return { tenantId, externalIds, ...span };
}

/** Indexes of the keys that are in one of the batches. Most lie far from all of them, and are told by a glance. */
function heldBy(holds: readonly Hold[], { tenantIds, externalIds }: RecordKeys): number[] {
  const spans = new Map<number, Span>();
  externalIds.forEach((id, i) => {
    const span = spans.get(tenantIds[i]!);
    if (span === undefined) spans.set(tenantIds[i]!, { first: id, last: id });
    else stretch(span, id);
  });
  const held = new Map<number, Set<string>>();
  for (const hold of holds) {
    const span = spans.get(hold.tenantId);
    if (span === undefined || compareIds(hold.first, span.last) > 0 || compareIds(span.first, hold.last) > 0) continue;
    let ids = held.get(hold.tenantId);
    if (ids === undefined) held.set(hold.tenantId, (ids = new Set()));
    for (const id of hold.externalIds) ids.add(id);
  }
  if (held.size === 0) return [];
  return externalIds.flatMap((id, i) => (held.get(tenantIds[i]!)?.has(id) === true ? [i] : []));
}

/** The least and the greatest of some external ids, in the ledger's order. */
interface Span {
  first: string;
  last: string;
}

function stretch(span: Span, id: string): void {
  if (compareIds(id, span.first) < 0) span.first = id;
  else if (compareIds(id, span.last) > 0) span.last = id;
}
