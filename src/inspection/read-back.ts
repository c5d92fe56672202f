/** Compares records with those that the platform returns (4.10). */
import { marksAsDeleted, type MappedRecord } from '../domain/records/record.js';
import type { OpenMapping, OpenSync, Views } from '../delivery/dependencies.js';
import type { Pace } from '../platform/pace.js';
import { milliseconds } from '../domain/timeouts.js';
import { compareStored } from './stored-record.js';

/** How the platform's record differs from the row; null if it does not. */
export type ReadBackDifference = { readonly kind: 'missing' | 'stale'; readonly what: string } | null;

/**
 * How the platform's record differs, for each of `records` by its index; null if it does not. References count as equal
 * in either of their forms. Throws `platform_...` errors: a comparison with gaps would prove nothing.
 */
export function readBack(
  { platform }: Pick<Views, 'platform'>,
  mapping: OpenMapping,
  limit: OpenSync['requestLimit'],
  records: readonly MappedRecord[],
): Promise<ReadBackDifference[]> {
  const compare = async (record: MappedRecord, pace: Pace): Promise<ReadBackDifference> => {
    if (record.deletion === 'ignore') return null;
    const stored = await compareStored(platform, mapping, record, {
      budget: milliseconds('platformReadBack'),
      pace,
    });
    if (stored === null) return marksAsDeleted(record) ? null : { kind: 'missing', what: 'not on the platform' };
    const [field] = stored.differs;
    return field === undefined ? null : { kind: 'stale', what: `field ${field} differs on the platform` };
  };
  return Promise.all(records.map((record) => limit.run({ queue: record.tenant }, (pace) => compare(record, pace))));
}
