/**
 * Applies records of one schema definition and tenant: decides the outcome of each, then writes those that pass in one
 * statement.
 */
import type { JsonObject } from '../../domain/values/json.js';
import type { Queryable } from '../database.js';
import type { StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import { failed, failedFor, mergeRecord, type Dependency, type IncomingRecord, type Outcome } from './incoming.js';
import { dependenciesOf, dependencyKey, withPlainReferences } from './record-references.js';
import { presentParents, storedRecords, storeRecords } from './resource-store.js';

type Rules = Pick<SandboxSettings, 'records' | 'longest'>;

/** The result of applying a list of records. */
export interface Applied {
  /** One outcome for each record, in their order. */
  readonly outcomes: readonly Outcome[];
  /** External ids of the records that are stored now. */
  readonly stored: readonly string[];
}

/**
 * Decides the outcomes and stores the records that pass (sections 3 and 4.8). Records of the same upload may refer to each
 * other, and a later record with the same external id is merged into the earlier one.
 *
 * The caller must hold the tenant's lock (`lockTenant`), so that what is read here stays true until the commit.
 */
export async function applyRecords(
  db: Queryable,
  tenantId: string,
  schema: StoredSchema,
  records: readonly IncomingRecord[],
  rules: Rules,
): Promise<Applied> {
  const { merge, validated, referencesWithinUpload } = rules.records;
  const ids = [...new Set(records.map((record) => record.externalId))];
  const dependencies = records.map((record) => dependenciesOf(schema, record.sent, rules));
  const named = new Map<string, Dependency>();
  for (const list of dependencies)
    if (!('kind' in list)) for (const dependency of list) named.set(dependencyKey(dependency), dependency);
  const existing = await storedRecords(db, tenantId, schema.id, ids);
  const parents = await presentParents(db, tenantId, [...named.values()]);

  const withinUpload = referencesWithinUpload && schema.references.some((r) => r.schemaName === schema.name);
  /** Decides every record under the assumption that the records named by `assumed` will be stored. */
  const decide = (assumed: ReadonlySet<string>): { outcomes: Outcome[]; written: Map<string, JsonObject> } => {
    const written = new Map<string, JsonObject>();
    const isPresent = (d: Dependency, { externalId }: IncomingRecord) =>
      parents.has(dependencyKey(d)) ||
      // Also of a record that waits for another one: it cannot wait for itself.
      (d.schemaName === schema.name && (assumed.has(d.externalId) || (withinUpload && d.externalId === externalId)));
    const outcomes = records.map((record, i): Outcome => {
      const wanted = dependencies[i]!;
      if ('kind' in wanted) return wanted;
      const stored = written.get(record.externalId) ?? existing.get(record.externalId);
      if (record.onConflict === 'reject' && stored !== undefined)
        return failed('already_exists', 'a resource with this external id exists and onconflict is reject');
      const merged = mergeRecord(stored, record.sent, merge);
      const problem = schema.validate(validated === 'merged' ? merged : mergeRecord(undefined, record.sent, merge));
      if (problem !== undefined) return failed(problem.rule, problem.reason);
      const missing = wanted.filter((dependency) => !isPresent(dependency, record));
      if (missing.length === 0 || record.waitIsOver === true) {
        written.set(record.externalId, withPlainReferences(schema, merged));
        return { kind: 'stored' };
      }
      if (record.expiresAt !== null) return { kind: 'waiting', missing };
      const list = missing.map((d) => `${d.schemaName} "${d.externalId}"`).join(', ');
      return failedFor(list, 'missing_dependency', `missing dependency ${list}`);
    });
    return { outcomes, written };
  };

  // Records may refer to others of the same upload, even in cycles. At first all of them are assumed to be stored;
  // those that turn out to fail are removed from the assumption until it is consistent.
  const consistentPart = (of: ReadonlySet<string>, written: ReadonlyMap<string, unknown>) =>
    new Set([...of].filter((id) => written.has(id) || existing.has(id)));
  let assumed = new Set(withinUpload ? ids : []);
  let decided = decide(assumed);
  let remaining = consistentPart(assumed, decided.written);
  while (remaining.size < assumed.size) {
    assumed = remaining;
    decided = decide(assumed);
    remaining = consistentPart(assumed, decided.written);
  }
  await storeRecords(db, tenantId, schema.id, decided.written);
  return { outcomes: decided.outcomes, stored: [...decided.written.keys()] };
}
