/**
 * The first of two passes over a mapping whose references lead in a circle: records that the platform does not have
 * are sent without them, so that they are there when others refer to them. The second pass reads all rows again.
 */
import { encodeJson } from '../src/domain/json.js';
import type { MappedRecord } from '../src/domain/record.js';
import { recordOf } from '../src/domain/record-list.js';
import type { GroupOutcome } from '../src/state/group-outcome.js';
import { deliverGroup } from './deliver-group.js';
import { rowByRow } from './delivery.js';
import { withResults, type Group } from '../src/reading/group.js';
import { receiptsOf } from './receipts-of.js';
import type { UploadScope } from './upload-batch.js';

/** What it leaves are receipts, and records that the platform holds: no row ends here, and none is counted. */
export async function deliverAhead(scope: UploadScope, group: Group): Promise<Omit<GroupOutcome, 'position' | 'done'>> {
  const live = [...group.records].filter((r) => r.deletion === undefined);
  const receipts = await receiptsOf(scope.deps, scope.mapping, live);
  const results = live.filter((r) => !receipts.has(r)).map((r) => withoutFields(r, scope.mapping.deferred));
  const delivery = rowByRow(await deliverGroup(scope, withResults(group, results)));
  return {
    ...delivery,
    reading: { kind: 'again', before: group.before, after: group.after },
    // Of what was not taken nothing is known that the second pass, or a second delivery, would not find out itself.
    records: delivery.records.filter((record) => record.outcome === 'accepted'),
    waiting: delivery.waiting.filter((record) => record.batchId !== null),
    ...{ bulk: [], ends: [], deadLetters: [], readTwice: 0 },
  };
}

/** The same, for rows that are read by their keys; where no reference leads in a circle, nothing is done. */
export async function deliverAheadNow(scope: UploadScope, group: Group): Promise<void> {
  if (scope.mapping.deferred.size === 0) return;
  const outcome = await deliverAhead(scope, group);
  await scope.deps.ledger.checkpoint(scope.range, { ...outcome, position: null, done: false });
}

/** A record that has none of the fields is complete as it is. */
function withoutFields(record: MappedRecord, fields: ReadonlySet<string>): MappedRecord {
  const { tenant, externalId, sourceKey, data } = record;
  const kept = Object.entries(data).filter(([name, value]) => value === null || !fields.has(name));
  if (kept.length === Object.keys(data).length) return record;
  return recordOf(tenant, externalId, sourceKey, encodeJson(Object.fromEntries(kept)));
}
