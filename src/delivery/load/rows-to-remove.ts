/**
 * Finds the records that changed rows had, and have no more: the row is gone, or belongs to another tenant. They are added to
 * the run's removal plan, which is carried out once all rows have their outcomes (ADR 0037).
 */
import { groupBy } from '../../domain/values/group-by.js';
import { removesRecords } from '../../domain/sync/sync.js';
import type { MapResult } from '../../domain/records/record.js';
import type { ChangedRow, RowsLeftToRuns, RowsOfPlan } from '../../ledger/changes/changed-rows.js';
import { deletedRecords } from '../../mapping/compile/deleted-record.js';
import { keyTellsId, keyTellsTenant } from '../../mapping/compile/key-tells.js';
import type { KnownRecord } from '../../ledger/known-records.js';
import type { PartitionContext } from '../partition-context.js';
import { goneRecords } from '../gone-records.js';
import { isRemoved, type RecordName } from '../removal-record.js';

/** A changed row that was looked for. */
export interface ReadChangedRow extends ChangedRow {
  /** What the row was mapped to; null if it is gone. */
  readonly result: MapResult | null;
}

/** A record that a changed row may have had, and that the ledger knows. */
interface Candidate extends RecordName, KnownRecord {
  readonly row: ReadChangedRow;
}

/** Rows that are not done with their chunk, each by its `seq`: something is left to do about a record that it had. */
export interface RowsLeft {
  readonly left: ReadonlySet<string>;
  /** Those of them that are done once the run's removal plan is carried out; null if there are none. */
  readonly planned: RowsOfPlan | null;
  /** Those of them that other runs may have read as they were before; null if there are none. */
  readonly leftToRuns: RowsLeftToRuns | null;
}

/**
 * To be called before the rows are delivered: afterwards nobody can tell a row that has moved from one that was always there.
 */
export async function rowsToRemove(context: PartitionContext, rows: readonly ReadChangedRow[]): Promise<RowsLeft> {
  const { deps, mapping, partition } = context;
  if (!removesRecords(mapping.spec) || !keyTellsId(mapping.spec)) return NONE_LEFT;
  const records = await recordsOf(context, rows);
  if (records.length === 0) return NONE_LEFT;
  // Before the records are looked up: what a run has sent that ends in between is found.
  const through = await deps.ledger.changedRows.newestReader(mapping.mappingId, partition.runId);
  const leftToRuns = through === null ? null : { through, seqs: records.map(({ row }) => row.seq) };
  const undecided = new Set(leftToRuns?.seqs);
  const { removed, open } = await vanishedOf(context, await candidatesOf(context, records));
  for (const { row } of open) undecided.add(row.seq);
  const planned = await addToPlan(context, removed, undecided);
  return { left: new Set([...undecided, ...removed.map(({ row }) => row.seq)]), planned, leftToRuns };
}

const NONE_LEFT: RowsLeft = { left: new Set(), planned: null, leftToRuns: null };

/** The record of a row; `tenant` is null if it may be that of any tenant. */
interface RecordOfRow {
  readonly tenant: string | null;
  readonly externalId: string;
  readonly row: ReadChangedRow;
}

/** The record of each row that may have lost it. */
async function recordsOf({ sync, mapping }: PartitionContext, rows: readonly ReadChangedRow[]): Promise<RecordOfRow[]> {
  // Where the key tells the tenant, a row that moves to another one gets another key, and the earlier one is gone.
  const isTenantTold = keyTellsTenant(mapping.spec, sync.spec.tenant);
  const lost = isTenantTold ? rows.filter(({ result }) => result === null) : rows;
  if (lost.length === 0) return [];
  const { columns, externalIdOf, tenantOf } = mapping.compiled(await sync.source.describe(mapping.plan.relation));
  const places = columns.map((column) => mapping.plan.key.indexOf(column));
  return lost.flatMap((row): RecordOfRow[] => {
    const texts = places.map((place) => row.key[place] ?? null);
    const externalId = externalIdOf(texts);
    // The record of a row without a known tenant may be that of any of them.
    if (externalId === null || (row.result !== null && row.result.tenant === null)) return [];
    if (!isTenantTold) return [{ externalId, tenant: null, row }];
    const tenant = tenantOf(texts);
    return tenant === null ? [] : [{ externalId, tenant, row }];
  });
}

/** The records that the ledger knows, without those that the rows have now. */
async function candidatesOf(
  { deps, sync, mapping }: PartitionContext,
  records: readonly RecordOfRow[],
): Promise<readonly Candidate[]> {
  const { ids, knownRecords } = deps.ledger;
  const names = await sync.tenants();
  const tenants = await ids.tenantIds(names);
  const nameOf = new Map(names.map((name) => [tenants.get(name)!, name]));
  const told = records.filter(({ tenant }) => tenant !== null);
  const anywhere = records.filter(({ tenant }) => tenant === null);
  const known = [
    ...(await knownRecords.among(mapping.mappingId, {
      tenantIds: told.map(({ tenant }) => tenants.get(tenant!)!),
      externalIds: told.map(({ externalId }) => externalId),
    })),
    ...(await knownRecords.inTenants(
      mapping.mappingId,
      [...nameOf.keys()],
      [...new Set(anywhere.map(({ externalId }) => externalId))],
    )),
  ];
  const rowsWith = groupBy(records, ({ externalId }) => externalId);
  return known.flatMap((record) => {
    const tenant = nameOf.get(record.tenantId)!;
    return rowsWith
      .get(record.externalId)!
      .filter((ofRow) => (ofRow.tenant ?? tenant) === tenant && ofRow.row.result?.tenant !== tenant)
      .map(({ row }) => ({ ...record, tenant, row }));
  });
}

/**
 * The candidates without a row. `open`: the platform may still apply them, or a row that cannot be mapped may be theirs; they are
 * looked at again until that is decided.
 */
async function vanishedOf(
  { deps, sync, mapping }: PartitionContext,
  candidates: readonly Candidate[],
): Promise<{ readonly removed: readonly Candidate[]; readonly open: readonly Candidate[] }> {
  const isThere = ({ contentHash, ...name }: Candidate): boolean =>
    contentHash !== undefined && !isRemoved(mapping, { ...name, contentHash });
  // Rows of other tenants may have records with the same external ids.
  const { vanished, uncertain } = await goneRecords(
    deps,
    sync,
    mapping,
    candidates.filter((each) => each.isUndecided || isThere(each)),
  );
  const undecided = vanished.filter(({ isUndecided }) => isUndecided);
  return { removed: vanished.filter(isThere), open: [...undecided, ...uncertain] };
}

/** A row of which something else is undecided stays on the list when the plan is carried out. */
async function addToPlan(
  context: PartitionContext,
  vanished: readonly Candidate[],
  undecided: ReadonlySet<string>,
): Promise<RowsOfPlan | null> {
  if (vanished.length === 0) return null;
  const { deps, mapping, partition } = context;
  const { removals } = deps.ledger;
  const { json } = deletedRecords(mapping.spec);
  const plan = await removals.open(partition.runId, mapping.mappingId, json('0'), true);
  const keys = {
    tenantIds: vanished.map(({ tenantId }) => tenantId),
    externalIds: vanished.map(({ externalId }) => externalId),
  };
  // What was decided about a plan is about its records: these are looked at again afterwards.
  if (!(await removals.add(plan, keys, null))) return null;
  const seqs = new Set(vanished.map(({ row }) => row.seq));
  return { planId: plan.id, seqs: [...seqs].filter((seq) => !undecided.has(seq)) };
}
