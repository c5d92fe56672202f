/** Says in the log what is wrong with the platform's batches: once for each run, mapping and cause, not for each batch. */
import { log } from '@temporalio/activity';
import { ERROR_CATALOGUE } from '../src/domain/errors.js';
import type { BatchStatus } from '../src/platform/contract/batches.js';
import type { UploadScope } from './upload-batch.js';

const KEPT = 1000;
const told = new Set<string>();

export function warnOnce(
  code: 'batch_stuck' | 'batch_inconsistent',
  { sync, mapping, range }: Pick<UploadScope, 'sync' | 'mapping' | 'range'>,
  platformBatchId: string,
  status: BatchStatus | null,
): void {
  const cause = `${range.runId} ${sync.spec.name} ${mapping.spec.name} ${code}`;
  if (told.has(cause)) return;
  if (told.size >= KEPT) told.clear();
  told.add(cause);
  const place = { code, sync: sync.spec.name, mapping: mapping.spec.name, platformBatchId };
  log.warn(ERROR_CATALOGUE[code].meaning, { ...place, visible: status !== null, ...status?.progress });
}
