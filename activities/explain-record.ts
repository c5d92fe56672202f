/** Why a record is, or is not, on the platform: what source, ledger and platform say of it now. Only looks. */
import { differingField } from '../src/domain/compare.js';
import type { StoredLetter } from '../src/domain/dead-letter.js';
import { PartnerSyncError } from '../src/domain/errors.js';
import type { JsonObject } from '../src/domain/json.js';
import type { MapResult } from '../src/domain/record.js';
import type { SourceKey } from '../src/domain/source.js';
import { maskedShape } from '../src/mapping/mask.js';
import type { BatchStanding, WaitingStanding } from '../src/state/record-standing.js';
import type { OpenMapping, OpenSync, Views } from './dependencies.js';
import { findRows } from './find-rows.js';
import { receiptsOf } from './receipts-of.js';
import { isRemoved } from './removal.js';

/** Tenants that are asked for an id of which nobody knows the tenant. */
const MOST_TENANTS = 10;

export interface ExplainedRow {
  readonly key: SourceKey;
  /** Columns and fields: masked shapes, unless values were asked for. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** null where the row cannot be mapped; `unmappable` says why. */
  readonly record: Readonly<Record<string, unknown>> | null;
  readonly unmappable: { readonly pointer: string; readonly rule: string; readonly reason: string } | null;
}

/**
 * `equal`: the platform accepted what the row says now; `removed`: that the row is gone; `different`: something else;
 * `none`: nothing that we know of; `not_kept`: the mapping keeps no records in the ledger.
 */
export type ReceiptState = 'equal' | 'removed' | 'different' | 'none' | 'not_kept';

export type PlatformState =
  | { readonly kind: 'equal' | 'absent' | 'there' }
  | { readonly kind: 'different'; readonly field: string }
  | { readonly kind: 'unknown'; readonly error: string };

/** One record of the id: a tenant has at most one. */
export interface ExplainedRecord {
  readonly tenant: string | null;
  readonly row: ExplainedRow | null;
  readonly receipt: ReceiptState;
  readonly waiting: WaitingStanding | null;
  /** The open batch that holds the record. */
  readonly batch: BatchStanding | null;
  readonly deadLetters: readonly StoredLetter[];
  readonly platform: PlatformState;
}

export interface Explanation {
  readonly mapping: string;
  readonly schema: string;
  readonly externalId: string;
  /** Whether an id without a row surely has none. */
  readonly certain: boolean;
  readonly records: readonly ExplainedRecord[];
}

export async function explainRecord(
  views: Views,
  sync: OpenSync,
  mapping: OpenMapping,
  externalId: string,
  { showValues }: { readonly showValues: boolean },
): Promise<Explanation> {
  const [found, standing, letters] = await Promise.all([
    findRows(sync, mapping, [externalId]),
    views.ledger.standings.ofRecord(mapping.mappingId, externalId),
    views.ledger.deadLetters.ofRecord(mapping.mappingId, externalId),
  ]);
  const keeps = mapping.spec.options.ledger === 'full';
  const candidates = await sync.tenants();
  const receipts = await receiptsOf(
    views,
    mapping,
    candidates.map((tenant) => ({ tenant, externalId })),
  );
  const receipted = new Map([...receipts].map(([{ tenant }, hash]) => [tenant, hash]));
  const tenants = new Set<string | null>([
    ...found.results.map((r) => r.tenant),
    ...standing.waiting.map((w) => w.tenant),
    ...standing.batches.map((b) => b.tenant),
    ...letters.map((l) => l.tenant),
    ...receipted.keys(),
  ]);
  if (tenants.size === 0) for (const tenant of candidates.slice(0, MOST_TENANTS)) tenants.add(tenant);
  const records = [...tenants].map(async (tenant): Promise<ExplainedRecord> => {
    const at = found.results.findIndex((r) => r.tenant === tenant);
    const result = found.results[at];
    const hash = tenant === null ? undefined : receipted.get(tenant);
    const same = result?.kind === 'record' && hash === result.contentHash;
    const removed = result === undefined && hash !== undefined && isRemoved(mapping, { externalId, contentHash: hash });
    const accepted = hash === undefined ? 'none' : same ? 'equal' : removed ? 'removed' : 'different';
    return {
      tenant,
      row: result === undefined ? null : explainedRow(mapping, found.page.rows.at(at)!, result, showValues),
      receipt: keeps ? accepted : 'not_kept',
      waiting: standing.waiting.find((w) => w.tenant === tenant) ?? null,
      batch: standing.batches.find((b) => b.tenant === tenant) ?? null,
      deadLetters: letters.filter((l) => l.tenant === tenant),
      platform: await onPlatform(views, mapping, externalId, tenant, result),
    };
  });
  return {
    mapping: mapping.spec.name,
    schema: mapping.spec.schema.name,
    externalId,
    certain: found.certain,
    records: await Promise.all(records),
  };
}

function explainedRow(
  mapping: OpenMapping,
  row: readonly (string | null)[],
  result: MapResult,
  showValues: boolean,
): ExplainedRow {
  const shown = (value: unknown): unknown => (showValues ? value : value === null ? 'null' : maskedShape(value));
  const columns = Object.fromEntries(mapping.plan.columns.map((name, i) => [name, shown(row[i] ?? null)]));
  if (result.kind === 'unmappable') {
    const { pointer, rule, reason } = result;
    return { key: result.sourceKey, columns, record: null, unmappable: { pointer, rule, reason } };
  }
  const record = Object.fromEntries(Object.entries(result.data).map(([name, value]) => [name, shown(value)]));
  return { key: result.sourceKey, columns, record, unmappable: null };
}

async function onPlatform(
  { platform }: Views,
  mapping: OpenMapping,
  externalId: string,
  tenant: string | null,
  result: MapResult | undefined,
): Promise<PlatformState> {
  if (tenant === null) return { kind: 'unknown', error: 'no tenant to ask for' };
  try {
    const stored = await platform.findResource(mapping.spec.schema.name, externalId, { tenant });
    if (stored === null) return { kind: 'absent' };
    if (result?.kind !== 'record') return { kind: 'there' };
    const field = differingField(result.data, stored.result.data as JsonObject, mapping.referenceFields);
    return field === null ? { kind: 'equal' } : { kind: 'different', field };
  } catch (error) {
    // A platform that cannot be asked is no reason to keep back what is known here.
    if (!(error instanceof PartnerSyncError)) throw error;
    return { kind: 'unknown', error: `${error.code}: ${error.message}` };
  }
}
