/** Reads the list of tenants from the source's table that sync.yaml names under `tenant.from`. */
import { PartnerSyncError } from '../domain/errors.js';
import { isTenantId, TENANT_ID_PATTERN } from '../domain/values/names.js';
import type { ReadBounds, ReadPlan, Source, SourceColumn } from '../domain/source/source.js';
import type { TenantConfig, TenantRule } from '../domain/sync/sync.js';
import { textForm } from '../mapping/encode/value-kind.js';
import { EVERYTHING } from './read-bounds.js';

/** A tenant configuration that names a table or query of the source. */
export type TenantTable = Extract<TenantConfig, { kind: 'table' }>;

const PAGE_ROWS = 1000;

/**
 * Gives the map from the partner's values to platform tenant ids. Throws `tenant_list_unusable` for a list that leaves a
 * row's tenant in doubt: NULL, a value that occurs twice, an invalid tenant id, a type without text form, no rows at all.
 */
export async function readTenantList(
  source: Pick<Source, 'readPage' | 'hasNull'>,
  { column, relation, value, tenant }: TenantTable,
): Promise<TenantRule> {
  const where = 'table' in relation ? relation.table : 'the query of tenant.from';
  const refuse = (what: string): PartnerSyncError => new PartnerSyncError('tenant_list_unusable', `${where}: ${what}`);
  const plan: ReadPlan = { relation, columns: [value, tenant], key: [value], cursor: null };
  for (const name of [value, tenant]) if (await source.hasNull(plan, name)) throw refuse(`${name} is NULL in a row`);
  const values = new Map<string, string>();
  let bounds: ReadBounds = EVERYTHING;
  while (true) {
    const page = await source.readPage(plan, bounds, PAGE_ROWS).catch((error: unknown) => {
      if (error instanceof PartnerSyncError && error.code === 'source_key_unusable') throw refuse(twice(value));
      throw error;
    });
    const last = page.rows.at(-1);
    if (last === undefined) break;
    const textOf = page.columns.map((c) => asText(c, refuse));
    for (const row of page.rows) {
      const [from, to] = [textOf[0]!(row[0]!), textOf[1]!(row[1]!)];
      if (values.has(from)) throw refuse(twice(value));
      if (!isTenantId(to)) throw refuse(`${tenant} holds what is no tenant id: one must match ${TENANT_ID_PATTERN}`);
      values.set(from, to);
    }
    bounds = { ...EVERYTHING, after: { cursor: null, key: [last[0]!] } };
  }
  if (values.size === 0) throw refuse('has no rows, so that no row of any mapping has a tenant');
  return { kind: 'column', column, values };
}

const twice = (value: string): string =>
  `several rows have the same ${value}; SELECT ${value}, count(*) ... GROUP BY ${value} HAVING count(*) > 1 finds them`;

/** Must give the same text as tenant-reader.ts does for the tenant column of a row, since the two are compared. */
function asText({ name, type, databaseType }: SourceColumn, refuse: (what: string) => PartnerSyncError) {
  const form = textForm(type);
  if (form === undefined) throw refuse(`${name} is ${databaseType}, which has no text form`);
  return (value: string): string => {
    const text = form.step === null ? value : form.step(value);
    if (typeof text !== 'string') throw refuse(`${name} holds a value that has no text form`);
    return text;
  };
}
