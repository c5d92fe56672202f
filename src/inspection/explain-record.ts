/**
 * Collects why a record is, or is not, on the platform: what source, ledger and platform say about it now. Writes
 * nothing.
 */
import type { StoredDeadLetter } from '../domain/records/dead-letter.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { MapResult } from '../domain/records/record.js';
import type { SourceKey } from '../domain/source/source.js';
import { maskedShape } from '../mapping/encode/masked-shape.js';
import type { BatchState, WaitingState } from '../ledger/views/record-states.js';
import type { OpenMapping, OpenSync, Views } from '../delivery/dependencies.js';
import { findRows } from '../reading/find-rows.js';
import { acceptedHashesOf } from '../delivery/accepted-hashes-of.js';
import { isRemoved } from '../delivery/removal-record.js';
import { compareStored } from './stored-record.js';

/** Most tenants in which an id is looked up if neither source nor ledger knows it: each costs a request to the platform. */
const MOST_TENANTS = 10;

/** A row of the source, as it is now and as it is mapped now. */
export interface ExplainedRow {
  readonly key: SourceKey;
  /** Columns and fields: masked shapes, unless values were asked for. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** null if the row cannot be mapped; `unmappable` says why. */
  readonly record: Readonly<Record<string, unknown>> | null;
  readonly unmappable: { readonly pointer: string; readonly rule: string; readonly reason: string } | null;
  /** Whether the row is marked as deleted, and if so, what the mapping says: apply `deletes`, or ignore it. */
  readonly deletion: 'apply' | 'ignore' | null;
}

/**
 * What the platform accepted last, by the ledger.
 * - `equal`: what the row says now.
 * - `removed`: that the row is gone.
 * - `different`: something else.
 * - `none`: nothing that we know of.
 * - `not_kept`: the mapping keeps no records in the ledger.
 */
export type AcceptedHashState = 'equal' | 'removed' | 'different' | 'none' | 'not_kept';

/**
 * What the platform returns now.
 * - `equal`: the same as the row.
 * - `different`: `field` is the first field that differs.
 * - `absent`: it does not have the record.
 * - `there`: it has the record, as `data` shows it, but there is no row to compare it with. Values are masked shapes,
 *   unless they were asked for.
 * - `unknown`: it could not be queried.
 */
export type PlatformState =
  | { readonly kind: 'equal' | 'absent' }
  | { readonly kind: 'there'; readonly data: Readonly<Record<string, unknown>> }
  | { readonly kind: 'different'; readonly field: string }
  | { readonly kind: 'unknown'; readonly error: string };

/** One record with the id: each tenant has at most one. `tenant` is null for a row whose tenant is not known. */
export interface ExplainedRecord {
  readonly tenant: string | null;
  readonly row: ExplainedRow | null;
  readonly acceptedHash: AcceptedHashState;
  readonly waiting: WaitingState | null;
  /** The open batch that the record is in. */
  readonly batch: BatchState | null;
  /** What was sent last got no response: until then, the platform may apply it, and newer content waits. ISO 8601. */
  readonly inDoubtUntil: string | null;
  readonly deadLetters: readonly StoredDeadLetter[];
  /** The removal plan that awaits approval, and has the record. */
  readonly removalPlan: string | null;
  readonly platform: PlatformState;
}

/** All that is known of an external id, in whichever tenants it occurs. */
export interface Explanation {
  readonly mapping: string;
  readonly schema: string;
  readonly externalId: string;
  /** Whether an id without a row certainly has none; false if the mapping transforms the id (see external-id-look-up.ts). */
  readonly certain: boolean;
  /** Whether there is a row that may have the id, but has no tenant, or another id by now: no tenant's record is certainly gone. */
  readonly hasUnknownRow: boolean;
  /** In how many tenants the platform was not asked for an id of which nothing is known. */
  readonly tenantsNotAsked: number;
  readonly records: readonly ExplainedRecord[];
}

/**
 * Asks source, ledger and platform about an external id of a mapping. A platform that cannot be queried is part of the
 * result; a source or ledger that cannot be read throws its error. Values are masked unless `showValues` is true.
 */
export async function explainRecord(
  views: Views,
  sync: OpenSync,
  mapping: OpenMapping,
  externalId: string,
  { showValues }: { readonly showValues: boolean },
): Promise<Explanation> {
  const [found, status, deadLetters] = await Promise.all([
    findRows(sync, mapping, [externalId]),
    views.ledger.recordStates.ofRecord(mapping.mappingId, externalId),
    views.ledger.deadLetters.ofRecord(mapping.mappingId, externalId),
  ]);
  const shown = (value: unknown): unknown => (showValues ? value : value === null ? 'null' : maskedShape(value));
  const keeps = mapping.spec.options.ledger === 'full';
  const candidates = await sync.tenants();
  const acceptedHashes = await acceptedHashesOf(
    views,
    mapping,
    candidates.map((tenant) => ({ tenant, externalId })),
  );
  const hashOf = new Map([...acceptedHashes].map(([{ tenant }, hash]) => [tenant, hash]));
  // A dead letter from before the row's tenant was known is about the row, whichever tenant that has now.
  const tenantOf = ({ tenant, sourceKey }: StoredDeadLetter): string | null =>
    tenant ?? found.results.find((r) => isSameKey(r.sourceKey, sourceKey))?.tenant ?? null;
  const tenants = new Set<string | null>([
    ...found.results.map((r) => r.tenant),
    ...status.waiting.map((w) => w.tenant),
    ...status.batches.map((b) => b.tenant),
    ...deadLetters.map(tenantOf),
    ...hashOf.keys(),
  ]);
  const isUnknown = tenants.size === 0;
  if (isUnknown) for (const tenant of candidates.slice(0, MOST_TENANTS)) tenants.add(tenant);
  const records = [...tenants].map(async (tenant): Promise<ExplainedRecord> => {
    const ofTenant = found.results.flatMap((r, i) => (r.tenant === tenant ? [i] : []));
    // A row that is marked as deleted has no say beside another one.
    const at = ofTenant.find((i) => !isDeletedRow(found.results[i]!)) ?? ofTenant[0] ?? -1;
    const result = found.results[at];
    const hash = tenant === null ? undefined : hashOf.get(tenant);
    const isSame = result?.kind === 'record' && hash === result.contentHash;
    const isRemovedRow =
      result === undefined && hash !== undefined && isRemoved(mapping, { externalId, contentHash: hash });
    const accepted = hash === undefined ? 'none' : isSame ? 'equal' : isRemovedRow ? 'removed' : 'different';
    return {
      tenant,
      row: result === undefined ? null : explainedRow(mapping, found.page.rows.at(at)!, result, shown),
      acceptedHash: keeps ? accepted : 'not_kept',
      waiting: status.waiting.find((w) => w.tenant === tenant) ?? null,
      batch: status.batches.find((b) => b.tenant === tenant) ?? null,
      inDoubtUntil: status.doubts.find((d) => d.tenant === tenant)?.until ?? null,
      deadLetters: deadLetters.filter((l) => tenantOf(l) === tenant),
      removalPlan: status.removals.find((r) => r.tenant === tenant)?.plan ?? null,
      platform: await onPlatform(views, mapping, { tenant, externalId }, result, shown),
    };
  });
  return {
    mapping: mapping.spec.name,
    schema: mapping.spec.schema.name,
    externalId,
    certain: found.certain,
    hasUnknownRow: found.unnamed > 0 || found.results.some((r) => r.tenant === null),
    tenantsNotAsked: isUnknown ? Math.max(0, candidates.length - MOST_TENANTS) : 0,
    records: await Promise.all(records),
  };
}

const isDeletedRow = (result: MapResult): boolean => result.kind === 'record' && result.deletion !== undefined;

const isSameKey = (a: SourceKey, b: SourceKey): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);

function explainedRow(
  mapping: OpenMapping,
  row: readonly (string | null)[],
  result: MapResult,
  shown: Shown,
): ExplainedRow {
  const columns = Object.fromEntries(mapping.plan.columns.map((name, i) => [name, shown(row[i] ?? null)]));
  if (result.kind === 'failed') {
    const { pointer, rule, reason } = result;
    return { key: result.sourceKey, columns, record: null, unmappable: { pointer, rule, reason }, deletion: null };
  }
  const { sourceKey: key, deletion = null } = result;
  return { key, columns, record: eachShown(result.data, shown), unmappable: null, deletion };
}

/** A value as it is shown. */
type Shown = (value: unknown) => unknown;

const eachShown = (values: object, shown: Shown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shown(value)]));

/** Reads the record back (4.10) and compares it with the row's. */
async function onPlatform(
  { platform }: Views,
  mapping: OpenMapping,
  { tenant, externalId }: { readonly tenant: string | null; readonly externalId: string },
  result: MapResult | undefined,
  shown: Shown,
): Promise<PlatformState> {
  if (tenant === null) return { kind: 'unknown', error: 'no tenant to ask for' };
  try {
    const data = result?.kind === 'record' ? result.data : null;
    const stored = await compareStored(platform, mapping, { tenant, externalId, data: data ?? {} });
    if (stored === null) return { kind: 'absent' };
    if (data === null) return { kind: 'there', data: eachShown(stored.data, shown) };
    const [field] = stored.differs;
    return field === undefined ? { kind: 'equal' } : { kind: 'different', field };
  } catch (error) {
    // What is known without the platform is worth showing without it.
    if (!(error instanceof PartnerSyncError)) throw error;
    return { kind: 'unknown', error: `${error.code}: ${error.message}` };
  }
}
