/** Holds records against what the platform answers when it is asked for them. */
import pLimit from 'p-limit';
import { differingField } from '../src/domain/compare.js';
import type { JsonObject } from '../src/domain/json.js';
import type { MappedRecord } from '../src/domain/record.js';
import type { OpenMapping, Views } from './dependencies.js';

/** null: the platform has the record as its row says. */
export type ReadBackVerdict = { readonly kind: 'missing' | 'stale'; readonly what: string } | null;

const READS_AT_ONCE = 16;
/** Milliseconds: a proof of an hour is not given up for a platform that asks for some minutes of patience. */
const BUDGET = 15 * 60_000;

/** The platform's word on each of the records. */
export function readBack(
  { platform }: Pick<Views, 'platform'>,
  mapping: OpenMapping,
  records: readonly MappedRecord[],
): Promise<ReadBackVerdict[]> {
  const limit = pLimit(READS_AT_ONCE);
  const compare = async ({ tenant, externalId, data, deletion }: MappedRecord): Promise<ReadBackVerdict> => {
    if (deletion === 'ignore') return null;
    const stored = await platform.findResource(mapping.spec.schema.name, externalId, { tenant, budget: BUDGET });
    if (stored === null) return deletion === 'apply' ? null : { kind: 'missing', what: 'not on the platform' };
    const field = differingField(data, stored.result.data as JsonObject, mapping.referenceFields);
    return field === null ? null : { kind: 'stale', what: `field ${field} differs on the platform` };
  };
  return Promise.all(records.map((record) => limit(() => compare(record))));
}
