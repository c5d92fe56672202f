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

const CLAIM = `
  WITH incoming AS (
    SELECT * FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:hashes AS uuid[])) WITH ORDINALITY AS t(tenant_id, external_id, hash, ord)
  ), claimed AS (
    INSERT INTO records AS r (mapping_id, tenant_id, external_id, claimed_hash, read_stamp, claim, run_id)
    SELECT :mapping, tenant_id, external_id, hash, :after, :claim, :run FROM incoming
    ORDER BY tenant_id, external_id COLLATE "C" -- one order for all, so that claims cannot deadlock
    ON CONFLICT (mapping_id, tenant_id, external_id) DO UPDATE
      SET claimed_hash = excluded.claimed_hash, read_stamp = excluded.read_stamp, claim = excluded.claim
      WHERE r.claim IS NULL AND r.content_hash IS DISTINCT FROM excluded.claimed_hash AND r.read_stamp < :before
    RETURNING r.tenant_id, r.external_id
  )
  SELECT i.ord::int - 1 AS index, r.claimed_hash IS DISTINCT FROM i.hash AS differs,
    CASE
      WHEN w.reason = 'dependency' THEN 'waiting'
      WHEN r.claim IS NULL AND r.content_hash = i.hash THEN CASE WHEN r.run_id = :run THEN 'accepted' ELSE 'unchanged' END
      ELSE 'busy'
    END AS verdict
  FROM incoming i
    LEFT JOIN claimed c USING (tenant_id, external_id)
    LEFT JOIN records r ON r.mapping_id = :mapping AND r.tenant_id = i.tenant_id AND r.external_id = i.external_id
    LEFT JOIN waiting w ON w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id
      AND r.claim IS NOT NULL
  WHERE c.external_id IS NULL`;

interface VerdictRow {
  index: number;
  differs: boolean;
  verdict: Verdict;
}

export async function claimGroup(knex: Knex, range: TakenRange, request: ClaimRequest): Promise<Claimed> {
  return knex.transaction(async (trx) => {
    await holdRange(trx, range);
    const { rows: numbers } = await trx.raw<{ rows: { claim: string }[] }>(`SELECT nextval('claims') AS claim`);
    const claim = numbers[0]!.claim;
    const { records, tenantIds } = request;
    const { rows } = await trx.raw<{ rows: VerdictRow[] }>(CLAIM, {
      tenants: records.map((r) => tenantIds.get(r.tenant)!),
      ids: records.map((r) => r.externalId),
      hashes: records.map((r) => r.contentHash),
      mapping: range.mappingId,
      before: request.before,
      after: request.after,
      claim,
      run: range.runId,
    });
    const verdicts = new Map(rows.map((row) => [row.index, row.verdict]));
    await noteChangedWhileWaiting(trx, range, request, rows);
    const cut = request.cut(verdicts.size === 0 ? records : records.filter((_, index) => !verdicts.has(index)));
    const batches = await insertIntents(trx, range, claim, cut, (tenant) => tenantIds.get(tenant)!);
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
    `UPDATE waiting w SET changed = w.changed OR i.differs,
            source_key = ARRAY(SELECT jsonb_array_elements_text(i.key::jsonb))
     FROM unnest(CAST(:tenants AS int[]), CAST(:ids AS text[]), CAST(:differs AS boolean[]), CAST(:keys AS text[])) AS i(tenant_id, external_id, differs, key)
     WHERE w.mapping_id = :mapping AND w.tenant_id = i.tenant_id AND w.external_id = i.external_id`,
    {
      mapping: range.mappingId,
      tenants: held.map((row) => request.tenantIds.get(of(row).tenant)!),
      ids: held.map((row) => of(row).externalId),
      differs: held.map((row) => row.differs),
      keys: held.map((row) => JSON.stringify(of(row).sourceKey)),
    },
  );
}
