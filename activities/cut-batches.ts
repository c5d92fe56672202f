/** Cuts records into batches: one tenant each, at most so many records and bytes. */
import type { MappedRecord } from '../src/domain/record.js';

export interface BatchLimits {
  readonly batchSize: number;
  /** Bytes of a request's body. */
  readonly batchBytes: number;
}

/** `{"resources":[]}` */
const ENVELOPE_BYTES = 16;

export function cutBatches(records: readonly MappedRecord[], limits: BatchLimits): MappedRecord[][] {
  const batches: MappedRecord[][] = [];
  const open = new Map<string, { records: MappedRecord[]; bytes: number }>();
  for (const record of records) {
    const bytes = record.end - record.start + 1;
    let batch = open.get(record.tenant);
    if (batch === undefined || batch.records.length >= limits.batchSize || batch.bytes + bytes > limits.batchBytes) {
      batch = { records: [], bytes: ENVELOPE_BYTES };
      batches.push(batch.records);
      open.set(record.tenant, batch);
    }
    batch.records.push(record);
    batch.bytes += bytes;
  }
  return batches;
}
