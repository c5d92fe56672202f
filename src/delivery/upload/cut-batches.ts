/** Cuts records into batches of one tenant each, within the limits of `batch-limits.ts`. */
import type { RecordList } from '../../records/record-list.js';
import type { BatchLimits } from '../batch-limits.js';

/** `{"resources":[]}` */
const ENVELOPE_BYTES = 16;

/** Returns the batches in the order of their first records. */
export function cutBatches(records: RecordList, limits: BatchLimits): RecordList[] {
  const batches: number[][] = [];
  const open = new Map<string, { indexes: number[]; bytes: number }>();
  for (let i = 0; i < records.length; i++) {
    const bytes = records.sizeAt(i) + 1;
    let batch = open.get(records.tenantAt(i));
    if (batch === undefined || batch.indexes.length >= limits.batchSize || batch.bytes + bytes > limits.batchBytes) {
      batch = { indexes: [], bytes: ENVELOPE_BYTES };
      batches.push(batch.indexes);
      open.set(records.tenantAt(i), batch);
    }
    batch.indexes.push(i);
    batch.bytes += bytes;
  }
  return batches.map((indexes) => records.only(indexes));
}
