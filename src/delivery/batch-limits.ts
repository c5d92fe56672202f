/** How large batches may be: as configured, and as the platform has shown that it takes them. */
import type { MappingSpec, UploadConfig } from '../domain/sync/sync.js';

export interface BatchLimits {
  /** Most records of a batch. */
  readonly batchSize: number;
  /** Most bytes of a request's body; a single record may exceed them. */
  readonly batchBytes: number;
}

/** Kept per process: a size that was rejected is not tried again until the process starts anew. */
export interface LearntLimits {
  now(): BatchLimits;
  /** Call it when a request of this many bytes was rejected for its length (413). */
  tooLong(bytes: number): void;
  /** Call it when a batch of this many records was rejected, and each half of it was accepted. */
  tooMany(records: number): void;
}

/** Fewest records that a rejection can lead to: one that only looked like "too many" must not leave batches of one. */
const FEWEST = 10;

export function openBatchLimits({ options }: MappingSpec, upload: UploadConfig): LearntLimits {
  let batchSize = options.batchSize ?? upload.batchSize;
  let { batchBytes } = upload;
  return {
    now: () => ({ batchSize, batchBytes }),
    tooLong(bytes) {
      batchBytes = Math.min(batchBytes, Math.ceil(bytes / 2));
    },
    tooMany(records) {
      batchSize = Math.min(batchSize, Math.max(FEWEST, Math.ceil(records / 2)));
    },
  };
}
