/** Finds records that the platform has accepted and whose rows are gone: the ledger is walked, the source is asked. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { MappedRecord } from '../src/domain/record.js';
import type { SourceColumn } from '../src/domain/source.js';
import { isSurelyFound, lookUpOf } from '../src/mapping/look-up.js';
import type { OpenPlan, WalkedRecord } from '../src/state/removals.js';
import type { Dependencies, OpenMapping, OpenSync } from './dependencies.js';
import { findRows } from './find-rows.js';
import { EVERYTHING, mappedPages, type MappedRow } from './mapped-pages.js';
import { isRemoved, type Named } from './removal.js';

/** Blocks of the ledger that are looked through at once: about 500 records, one query of the source. */
const BLOCKS_AT_ONCE = 8;
const SAMPLE_ROWS = 100;

/** Carries the finding on until `deadline`; true when the whole ledger is looked through. */
export async function findVanished(
  deps: Dependencies,
  sync: OpenSync,
  mapping: OpenMapping,
  plan: OpenPlan,
  run: { readonly runId: string; readonly goesOn: () => boolean },
): Promise<boolean> {
  const { removals } = deps.ledger;
  const names = await tenantNames(deps, sync);
  while (run.goesOn()) {
    const walked = await removals.walk(plan, BLOCKS_AT_ONCE);
    if (walked === null) return true;
    const open = walked.records.filter((r) => r.runId !== Number(run.runId)).flatMap((r) => named(r, names));
    const vanished = await withoutRows(
      sync,
      mapping,
      open.filter((r) => !isRemoved(mapping, r)),
    );
    const keys = { tenantIds: vanished.map((r) => r.tenantId), externalIds: vanished.map((r) => r.externalId) };
    await removals.add(plan, keys, walked);
  }
  return false;
}

/** The tenants that the sync declares, by their numbers in the ledger; others are not its business any more. */
async function tenantNames(
  { ledger }: Pick<Dependencies, 'ledger'>,
  sync: OpenSync,
): Promise<ReadonlyMap<number, string>> {
  const declared = new Set(await sync.tenants());
  const ids = await ledger.catalog.tenantIds([...declared]);
  return new Map([...ids].flatMap(([name, id]) => (declared.has(name) ? [[id, name] as const] : [])));
}

const named = <R extends WalkedRecord>(record: R, names: ReadonlyMap<number, string>): (R & Named)[] => {
  const tenant = names.get(record.tenantId);
  return tenant === undefined ? [] : [{ ...record, tenant }];
};

/** Those of the records that surely have no row in the source now. A row that cannot be mapped is a row. */
export async function withoutRows<R extends Named>(
  sync: OpenSync,
  mapping: OpenMapping,
  records: readonly R[],
): Promise<R[]> {
  const how = lookUpOf(mapping.spec);
  const sure = records.filter((r) => how !== null && isSurelyFound(how, r.externalId));
  if (sure.length === 0) return [];
  const { results, unnamed } = await findRows(
    sync,
    mapping,
    sure.map((r) => r.externalId),
  );
  if (unnamed > 0) {
    if (sure.length === 1) return [];
    const middle = sure.length >> 1;
    const [a, b] = [sure.slice(0, middle), sure.slice(middle)];
    return [...(await withoutRows(sync, mapping, a)), ...(await withoutRows(sync, mapping, b))];
  }
  const there = new Set(results.map((r) => idOf(r.tenant, r.externalId!)));
  // A row without a known tenant may be anybody's.
  return sure.filter((r) => !there.has(idOf(r.tenant, r.externalId)) && !there.has(idOf(null, r.externalId)));
}

const idOf = (tenant: string | null, externalId: string): string => JSON.stringify([tenant, externalId]);

/** Whether the source has no row of the mapping. */
export const isEmpty = async (sync: OpenSync, mapping: OpenMapping): Promise<boolean> =>
  (await firstRows(sync, mapping)).length === 0;

/**
 * Throws `config_invalid` where rows that are there are not found by their external ids (a date or a float as an id
 * has more than one spelling): then nobody could say which are gone.
 */
export async function assertFindable(sync: OpenSync, mapping: OpenMapping): Promise<void> {
  const recordsOf = async (): Promise<MappedRecord[]> =>
    (await firstRows(sync, mapping)).flatMap(({ result }) => (result.kind === 'record' ? [result] : []));
  const missed = await withoutRows(sync, mapping, await recordsOf());
  if (missed.length === 0) return;
  // A row may have gone between the two looks: one that is read again has not.
  const there = new Set((await recordsOf()).map((r) => idOf(r.tenant, r.externalId)));
  if (missed.some((r) => there.has(idOf(r.tenant, r.externalId))))
    throw new PartnerSyncError(
      'config_invalid',
      `mapping ${mapping.spec.name}: rows are not found by their external id ${mapping.spec.schema.externalIdField}, so nobody can tell which are gone; fill it from a text, a whole number or a uuid`,
    );
}

async function firstRows(sync: OpenSync, mapping: OpenMapping): Promise<readonly MappedRow[]> {
  const plan = { ...mapping.plan, cursor: null };
  const reading = { source: sync.source, plan, mapper: (columns: readonly SourceColumn[]) => mapping.mapper(columns) };
  for await (const { rows } of mappedPages(reading, EVERYTHING, SAMPLE_ROWS)) return rows;
  return [];
}
