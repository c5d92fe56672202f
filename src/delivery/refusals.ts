/** What an attempt at a partition knows of records that the platform refuses one by one (upload/stop-if-all-refused.ts). */
import type { PartnerSyncError } from '../domain/errors.js';
import type { MappedRecord } from '../domain/records/record.js';

export class Refusals {
  /** How many batches the platform has taken in this attempt. */
  taken = 0;
  /** Records that were refused, though they lack no parent, until a batch is taken. */
  readonly refused = new Set<MappedRecord>();
  /** Whether the platform has accepted records of the mapping before, made with the same files; null until that is asked. */
  acceptedBefore: boolean | null = null;
  /** Why no more batches are sent: the platform refuses every record. */
  stopped: PartnerSyncError | null = null;
}
