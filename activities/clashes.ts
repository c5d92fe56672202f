/**
 * Rows that map to one external id, though they are not read together: noticed where a record is met again with other
 * content, and looked up in the source, since the row itself may only have changed.
 */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { MappedRecord, UnmappableRow } from '../src/domain/record.js';
import type { RecordList } from '../src/domain/record-list.js';
import type { OpenMapping, OpenSync } from './dependencies.js';
import type { TakenRange } from '../src/state/ranges.js';
import { findRows } from './find-rows.js';
import { clash } from './sort-out.js';
import type { UploadScope } from './upload-batch.js';

/** By the index of each record whose id another row has too: dead letters of all these rows, its own first. */
export type Clashes = ReadonlyMap<number, readonly UnmappableRow[]>;

const AT_ONCE = 500;
/** Slices at whose beginning the mapping had no such dead letter: it is not asked for with each group. */
const quiet = new WeakSet<TakenRange>();

export async function clashesAmong(
  { sync, mapping }: Pick<UploadScope, 'sync' | 'mapping'>,
  records: RecordList,
): Promise<Clashes> {
  const clashes = new Map<number, UnmappableRow[]>();
  for (let i = 0; i < records.length; i += AT_ONCE) {
    const some = records.slice(i, i + AT_ONCE);
    const rows = await rowsOf(sync, mapping, some.externalIds);
    for (const [index, record] of [...some].entries()) {
      const own = JSON.stringify(record.sourceKey);
      const others = rows.filter(
        (r) => r.tenant === record.tenant && r.externalId === record.externalId && JSON.stringify(r.sourceKey) !== own,
      );
      if (others.length > 0) clashes.set(i + index, [record, ...others].map(clash));
    }
  }
  return clashes;
}

async function rowsOf(sync: OpenSync, mapping: OpenMapping, ids: readonly string[]): Promise<MappedRecord[]> {
  try {
    return (await findRows(sync, mapping, ids)).results.filter((r) => r.kind === 'record');
  } catch (error) {
    // Without an index on the external id the look-up may take too long: then nobody can tell, and nothing is held up.
    if (error instanceof PartnerSyncError && error.code === 'source_query_failed') return [];
    throw error;
  }
}

/** Clashes that an earlier reading has noticed, and that are there still: none of their rows is sent meanwhile. */
export async function knownClashes(scope: UploadScope, records: RecordList): Promise<Clashes> {
  const { deps, mapping, range } = scope;
  const { deadLetters } = deps.ledger;
  if (quiet.has(range)) return new Map();
  const ids = await deadLetters.clashing(mapping.mappingId, records.externalIds);
  if (ids === null) quiet.add(range);
  if (ids === null || ids.size === 0) return new Map();
  const suspects = [...records.externalIds.keys()].filter((index) => ids.has(records.at(index).externalId));
  const clashes = await clashesAmong(scope, records.only(suspects));
  return new Map([...clashes].map(([index, rows]) => [suspects[index]!, rows]));
}
