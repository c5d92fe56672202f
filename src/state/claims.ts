/**
 * Claims: which records of a group are sent, and their batches' intents, in one transaction before any POST.
 *
 * A record is claimed only while no unfinished batch holds it and only if it was read wholly after what was
 * claimed last; so no record is in two unfinished batches, and older never overwrites newer.
 */
import type { Knex } from 'knex';
import type { MappedRecord } from '../domain/record.js';
import { insertIntents, type IntendedBatch } from './open-batches.js';
import { holdRange, type TakenRange } from './ranges.js';

/** Why a record of a group is not sent now. */
export type Verdict =
  | 'accepted' // this very run delivered this content already (an attempt before this one)
  | 'unchanged' // the platform has this content
  | 'waiting' // the platform holds this record for a dependency
  | 'busy'; // in another unfinished batch, or read too early to be sure: read it again later

export interface ClaimRequest {
  /** Stamp drawn before the first page of the group was read. */
  readonly before: string;
  /** Stamp drawn after its last page had arrived. */
  readonly after: string;
  readonly records: readonly MappedRecord[];
  readonly tenantIds: ReadonlyMap<string, number>;
  /** Cuts the claimed records into batches of one tenant each. */
  readonly cut: (claimed: readonly MappedRecord[]) => readonly (readonly MappedRecord[])[];
}

export interface Claimed {
  readonly claim: string;
  readonly batches: readonly IntendedBatch[];
  /** Verdicts of the records that are not sent, by their index in the request. */
  readonly verdicts: ReadonlyMap<number, Verdict>;
}

// Records are looked up one by one, through LATERAL ... LIMIT 1: left to itself the planner, whose statistics lag
// behind a table that grows, scans a mapping's whole part of it for each group (docs/performance.md).
const CLAIM = `
  INSERT INTO records AS r (mapping_id, tenant_id, external_id, claimed_hash, read_stamp, claim, run_id)
  SELECT :mapping, tenant_id, external_id, hash, :after, :claim, :run
  FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:hashes AS uuid[])) AS i(tenant_id, external_id, hash)
  LEFT JOIN LATERAL (SELECT true AS unchanged FROM records k WHERE k.mapping_id = :mapping AND k.tenant_id = i.tenant_id
    AND k.external_id = i.external_id AND k.claim IS NULL AND k.content_hash = i.hash LIMIT 1) k ON true
  -- An unchanged record is not even locked: a pass over an unchanged table must not rewrite the ledger.
  WHERE k.unchanged IS NULL
  ORDER BY tenant_id, external_id COLLATE "C" -- one order for all, so that claims cannot deadlock
  ON CONFLICT (mapping_id, tenant_id, external_id) DO UPDATE
    SET claimed_hash = excluded.claimed_hash, read_stamp = excluded.read_stamp, claim = excluded.claim
    WHERE r.claim IS NULL AND r.content_hash IS DISTINCT FROM excluded.claimed_hash AND r.read_stamp < :before
  RETURNING r.tenant_id`;

/** In a statement of its own: it must see what a claim that CLAIM had to wait for has written. */
const VERDICTS = `
  SELECT i.ord::int - 1 AS index, r.claimed_hash IS DISTINCT FROM i.hash AS differs,
    CASE
      WHEN r.claim IS NULL AND r.content_hash = i.hash THEN CASE WHEN r.run_id = :run THEN 'accepted' ELSE 'unchanged' END
      WHEN r.claim IS NOT NULL AND w.batch_id IS NOT NULL THEN 'waiting'
      ELSE 'busy'
    END AS verdict
  FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:hashes AS uuid[])) WITH ORDINALITY
      AS i(tenant_id, external_id, hash, ord)
    LEFT JOIN LATERAL (SELECT * FROM records r WHERE r.mapping_id = :mapping AND r.tenant_id = i.tenant_id
      AND r.external_id = i.external_id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT * FROM waiting w WHERE w.mapping_id = :mapping AND w.tenant_id = i.tenant_id
      AND w.external_id = i.external_id LIMIT 1) w ON true
  WHERE r.claim IS DISTINCT FROM :claim`;

interface VerdictRow {
  index: number;
  differs: boolean;
  verdict: Verdict;
}

export async function claimGroup(knex: Knex, range: TakenRange, request: ClaimRequest): Promise<Claimed> {
  // Before the transaction: a process that is frozen in it must know, on waking, how old its intents are.
  const intendedAt = Date.now();
  return knex.transaction(async (trx) => {
    await holdRange(trx, range);
    const { rows: numbers } = await trx.raw<{ rows: { claim: string }[] }>(`SELECT nextval('claims') AS claim`);
    const claim = numbers[0]!.claim;
    const { records, tenantIds } = request;
    const bindings = {
      tenants: records.map((r) => tenantIds.get(r.tenant)!),
      ids: records.map((r) => r.externalId),
      hashes: records.map((r) => r.contentHash),
      mapping: range.mappingId,
      before: request.before,
      after: request.after,
      claim,
      run: range.runId,
    };
    const { rowCount } = await trx.raw<{ rowCount: number }>(CLAIM, bindings);
    const rows = rowCount === records.length ? [] : (await trx.raw<{ rows: VerdictRow[] }>(VERDICTS, bindings)).rows;
    const verdicts = new Map(rows.map((row) => [row.index, row.verdict]));
    await noteChangedWhileWaiting(trx, range, request, rows);
    const cut = request.cut(verdicts.size === 0 ? records : records.filter((_, index) => !verdicts.has(index)));
    const batches = await insertIntents(trx, range, claim, cut, (tenant) => tenantIds.get(tenant)!, intendedAt);
    return { claim, batches, verdicts };
  });
}

/** A row that changed while the platform holds its record is read and sent again once the record is free. */
async function noteChangedWhileWaiting(
  trx: Knex,
  range: TakenRange,
  request: ClaimRequest,
  rows: readonly VerdictRow[],
) {
  const held = rows.filter((row) => row.verdict === 'waiting');
  if (held.length === 0) return;
  const of = (row: VerdictRow): MappedRecord => request.records[row.index]!;
  await trx.raw(
    `UPDATE waiting w SET changed = w.changed OR i.differs, read_stamp = greatest(w.read_stamp, :after),
            source_key = ARRAY(SELECT jsonb_array_elements_text(i.key::jsonb))
     FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:differs AS boolean[]), CAST(:keys AS text[])) AS i(tenant_id, external_id, differs, key)
     WHERE w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`,
    {
      mapping: range.mappingId,
      after: request.after,
      tenants: held.map((row) => request.tenantIds.get(of(row).tenant)!),
      ids: held.map((row) => of(row).externalId),
      differs: held.map((row) => row.differs),
      keys: held.map((row) => JSON.stringify(of(row).sourceKey)),
    },
  );
}
