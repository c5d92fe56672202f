/** Cuts records into batches: one tenant each, at most so many records and bytes. */
import type { RecordList } from '../src/domain/record-list.js';

export interface BatchLimits {
  readonly batchSize: number;
  /** Bytes of a request's body. */
  readonly batchBytes: number;
}

/** `{"resources":[]}` */
const ENVELOPE_BYTES = 16;

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
