/** How large the batches of a mapping are cut: as configured, and no larger than the platform has shown to take. */
import type { MappingSpec, UploadConfig } from '../src/domain/sync.js';
import type { BatchLimits } from './cut-batches.js';

/** Kept per process: what was refused for its size once is not tried again until the process starts anew. */
export interface LearntLimits {
  now(): BatchLimits;
  /** A request of so many bytes was refused for its length (413). */
  tooLong(bytes: number): void;
  /** A batch of so many records was refused, and each part of it was taken. */
  tooMany(records: number): void;
}

/** A refusal that only looked like "too many" must not leave batches of one record for good. */
const FEWEST = 10;

export function openBatchLimits({ options }: MappingSpec, upload: UploadConfig): LearntLimits {
  let batchSize = options.batchSize ?? upload.batchSize;
  let { batchBytes } = upload;
  return {
    now: () => ({ batchSize, batchBytes }),
    tooLong: (bytes) => void (batchBytes = Math.min(batchBytes, Math.ceil(bytes / 2))),
    tooMany: (records) => void (batchSize = Math.min(batchSize, Math.max(FEWEST, Math.ceil(records / 2)))),
  };
}
