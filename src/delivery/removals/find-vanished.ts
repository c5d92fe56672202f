/** Finds accepted records whose rows are gone: scans the ledger and looks their rows up in the source. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappedRecord } from '../../domain/records/record.js';
import type { SourceColumn } from '../../domain/source/source.js';
import type { IndexedRecord } from '../../ledger/record-index/index.js';
import type { OpenPlan } from '../../ledger/removals.js';
import type { Dependencies, OpenMapping, OpenSync } from '../dependencies.js';
import { EVERYTHING } from '../../reading/read-bounds.js';
import { inKeyOrder } from '../../reading/reading-order.js';
import { readMappedPages, type MappedRow } from '../../reading/read-mapped-pages.js';
import { goneRecords } from '../gone-records.js';
import { isRemoved, type RecordName } from '../removal-record.js';
import { nameOf, withoutRow } from '../without-row.js';

/** Blocks of the ledger that are looked through at once: about 500 records, and one query of the source. */
const BLOCKS_AT_ONCE = 8;
const SAMPLE_ROWS = 100;

/**
 * Adds vanished records to the plan until `shouldContinue` returns false, at least those among the next few records, so that
 * each time slice comes further. Returns whether all records are looked through.
 */
export async function findVanished(
  deps: Dependencies,
  sync: OpenSync,
  mapping: OpenMapping,
  plan: OpenPlan,
  run: { readonly runId: string; readonly shouldContinue: () => boolean },
): Promise<boolean> {
  const { removals } = deps.ledger;
  const names = await tenantNames(deps, sync, mapping, run.runId);
  const trustsOwn = await deps.ledger.feeds.isOwnTrusted(mapping.mappingId, run.runId);
  do {
    const scanned = await removals.scan(plan, BLOCKS_AT_ONCE);
    if (scanned === null) return true;
    const open = scanned.records
      .filter((r) => !trustsOwn || r.runId !== Number(run.runId))
      .flatMap((r) => withTenant(r, names));
    const { vanished } = await goneRecords(
      deps,
      sync,
      mapping,
      open.filter((r) => !isRemoved(mapping, r)),
    );
    const keys = { tenantIds: vanished.map((r) => r.tenantId), externalIds: vanished.map((r) => r.externalId) };
    await removals.add(plan, keys, scanned.next);
  } while (run.shouldContinue());
  return false;
}

/**
 * The tenants that the sync declares, and those that the run was told no row belongs to any more, by their numbers in the ledger.
 * Records of other tenants are left alone, and so are those of former ones that another sync delivers by now.
 */
async function tenantNames(
  { ledger }: Pick<Dependencies, 'ledger'>,
  sync: OpenSync,
  { spec }: OpenMapping,
  runId: string,
): Promise<ReadonlyMap<number, string>> {
  const declared = new Set(await sync.tenants());
  for (const tenant of (await ledger.runs.find(runId))?.input.formerTenants ?? [])
    if ((await ledger.tenantCounts.otherSyncsWith(sync.spec.name, tenant, spec.schema.name)).length === 0)
      declared.add(tenant);
  const ids = await ledger.ids.tenantIds([...declared]);
  return new Map([...ids].flatMap(([name, id]) => (declared.has(name) ? [[id, name] as const] : [])));
}

const withTenant = <R extends IndexedRecord>(record: R, names: ReadonlyMap<number, string>): (R & RecordName)[] => {
  const tenant = names.get(record.tenantId);
  return tenant === undefined ? [] : [{ ...record, tenant }];
};

/**
 * Throws `config_invalid` if existing rows are not found by their external ids (a date or a float has more than one
 * spelling): then it could not be told which are gone.
 */
export async function assertFindable(sync: OpenSync, mapping: OpenMapping): Promise<void> {
  const recordsOf = async (): Promise<MappedRecord[]> =>
    (await firstRows(sync, mapping)).flatMap(({ result }) => (result.kind === 'record' ? [result] : []));
  const { vanished: missed } = await withoutRow(sync, mapping, await recordsOf());
  if (missed.length === 0) return;
  // A row may have vanished between the two readings, but not if a third one finds it.
  const there = new Set((await recordsOf()).map((r) => nameOf(r.tenant, r.externalId)));
  if (missed.some((r) => there.has(nameOf(r.tenant, r.externalId))))
    throw new PartnerSyncError(
      'config_invalid',
      `mapping ${mapping.spec.name}: rows are not found by their external id ${mapping.spec.schema.externalIdField}, so nobody can tell which are gone; fill it from a text, a whole number or a uuid`,
    );
}

async function firstRows(sync: OpenSync, mapping: OpenMapping): Promise<readonly MappedRow[]> {
  const plan = inKeyOrder(mapping.plan);
  const reading = { source: sync.source, plan, mapper: (columns: readonly SourceColumn[]) => mapping.mapper(columns) };
  for await (const { rows } of readMappedPages(reading, EVERYTHING, SAMPLE_ROWS)) return rows;
  return [];
}
