/**
 * Finds the records that changed rows had, and have no more: the row is gone, or belongs to another tenant. They are added to
 * the run's removal plan, which is carried out once all rows have their outcomes (ADR 0037).
 */
import { removesRecords } from '../../domain/sync/sync.js';
import type { MapResult } from '../../domain/records/record.js';
import type { ChangedRow, RowsOfPlan } from '../../ledger/changes/changed-rows.js';
import { deletedRecords } from '../../mapping/compile/deleted-record.js';
import { keyTellsId, keyTellsTenant } from '../../mapping/compile/key-tells.js';
import type { PartitionContext } from '../partition-context.js';
import { isRemoved, type RecordName } from '../removal-record.js';
import { vanishedAmong } from '../vanished-among.js';

/** A changed row that was looked for. */
export interface ReadChangedRow extends ChangedRow {
  /** What the row was mapped to; null if it is gone. */
  readonly result: MapResult | null;
}

/** A row may have had a record in each tenant, of which there may be thousands. */
const CANDIDATES_AT_ONCE = 20_000;

/** A record that a changed row may have had. */
interface Candidate extends RecordName {
  readonly row: ReadChangedRow;
}

/** Rows that are not done with their chunk, each by its `seq`: something is left to do about a record that it had. */
export interface RowsLeft {
  readonly left: ReadonlySet<string>;
  /** Those of them that are done once the run's removal plan is carried out; null if there are none. */
  readonly planned: RowsOfPlan | null;
}

/**
 * To be called before the rows are delivered: afterwards nobody can tell a row that has moved from one that was always there.
 */
export async function rowsToRemove(context: PartitionContext, rows: readonly ReadChangedRow[]): Promise<RowsLeft> {
  const { deps, sync, mapping, partition } = context;
  if (!removesRecords(mapping.spec) || !keyTellsId(mapping.spec)) return { left: new Set(), planned: null };
  const records = await recordsOf(context, rows);
  if (records.length === 0) return { left: new Set(), planned: null };
  const gone = records.filter(({ row }) => row.result === null).map(({ row }) => row.seq);
  const { changedRows } = deps.ledger;
  // Before the records are looked up: what a run has sent that ends in between is found.
  const isReadElsewhere =
    gone.length > 0 && (await changedRows.leaveToOtherRuns(mapping.mappingId, partition.runId, gone));
  const undecided = new Set(isReadElsewhere ? gone : []);
  const removed: Candidate[] = [];
  for (const candidates of candidatesOf(records, await sync.tenants())) {
    const found = await vanishedIn(context, candidates);
    removed.push(...found.removed);
    for (const { row } of found.open) undecided.add(row.seq);
  }
  const planned = await addToPlan(context, removed, undecided);
  return { left: new Set([...undecided, ...removed.map(({ row }) => row.seq)]), planned };
}

/** The record of a row; `tenant` is null if it may be that of any tenant. */
type RecordOfRow = Omit<Candidate, 'tenant'> & { readonly tenant: string | null };

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

/** The records in each tenant that they may be in, not too many at once. */
function* candidatesOf(records: readonly RecordOfRow[], tenants: readonly string[]): Generator<readonly Candidate[]> {
  yield records.flatMap(({ tenant, ...record }) => (tenant === null ? [] : [{ ...record, tenant }]));
  const anywhere = records.filter(({ tenant }) => tenant === null);
  if (anywhere.length === 0) return;
  // By tenants, of which each has its own part of the ledger's index.
  const together = Math.max(1, Math.floor(CANDIDATES_AT_ONCE / anywhere.length));
  for (let from = 0; from < tenants.length; from += together)
    yield tenants
      .slice(from, from + together)
      .flatMap((tenant) =>
        anywhere.flatMap((record) => (record.row.result?.tenant === tenant ? [] : [{ ...record, tenant }])),
      );
}

/**
 * The records without a row. `open`: the platform may still apply them; they are looked at again when it is decided what becomes
 * of them.
 */
async function vanishedIn(
  context: PartitionContext,
  candidates: readonly Candidate[],
): Promise<{ readonly removed: readonly Candidate[]; readonly open: readonly Candidate[] }> {
  if (candidates.length === 0) return { removed: [], open: [] };
  const { deps, sync, mapping } = context;
  const known = await deps.ledger.knownRecords.among(mapping.mappingId, await keysOf(context, candidates));
  const there = candidates.filter((candidate, i) => {
    const contentHash = known.sent.get(i);
    return contentHash !== undefined && !isRemoved(mapping, { ...candidate, contentHash });
  });
  const open = candidates.filter((_, i) => known.undecided.has(i));
  // Rows of other tenants may have records with the same external ids.
  const vanished = new Set(await vanishedAmong(sync, mapping, [...new Set([...there, ...open])]));
  const isVanished = (candidate: Candidate): boolean => vanished.has(candidate);
  return { removed: there.filter(isVanished), open: open.filter(isVanished) };
}

async function keysOf({ deps }: PartitionContext, names: readonly RecordName[]) {
  const numbers = await deps.ledger.ids.tenantIds([...new Set(names.map(({ tenant }) => tenant))]);
  return {
    tenantIds: names.map(({ tenant }) => numbers.get(tenant)!),
    externalIds: names.map(({ externalId }) => externalId),
  };
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
  // What was decided about a plan is about its records: these are looked at again afterwards.
  if (!(await removals.add(plan, await keysOf(context, vanished), null))) return null;
  const seqs = new Set(vanished.map(({ row }) => row.seq));
  return { planId: plan.id, seqs: [...seqs].filter((seq) => !undecided.has(seq)) };
}
