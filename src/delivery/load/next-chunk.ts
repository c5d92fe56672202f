/** The next chunk of a partition. */
import type { ResumePoint } from '../../ledger/runs/resume-point.js';
import type { Chunk } from '../../reading/chunk.js';

/** A chunk, and the resume point that the partition gets with its checkpoint. */
export interface NextChunk {
  readonly chunk: Chunk;
  readonly resumePoint: ResumePoint;
}
