/**
 * `partner-sync platform batches wait`: polls a batch until it is complete (4.14).
 *
 * Needs the platform only. Exit codes: 0 all records are stored, 1 some failed or are pending, or the batch was not
 * complete in time or does not exist, 2 wrong usage or configuration.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import { countsOf, isComplete } from '../../platform/batch-progress.js';
import type { BatchStatus } from '../../platform/contract/batches.js';
import { operations } from '../../platform/contract/operations.js';
import { duration } from '../arguments.js';
import { withParts, EXIT } from '../command-context.js';
import { tenantOf, type OperationFlags } from './run-operation.js';
import { withPlatformMessage } from './with-platform-message.js';
import { responseLines } from './show.js';
import { durationText, milliseconds, times } from '../../domain/timeouts.js';

interface WaitFlags extends OperationFlags {
  readonly for: number;
}

export function addWait(batches: Command): void {
  batches
    .command('wait')
    .argument('<batch-id>', 'id that the upload returned')
    .summary('wait until a batch is complete')
    .description('Polls a batch until `completedAt` is set, and shows the result.')
    .option('--tenant <id>', 'tenant to act for (default: PLATFORM_TENANT)')
    .addOption(
      new Option('--for <duration>', 'how long to wait at most, such as 90s or 10m')
        .argParser(duration)
        .default(milliseconds('batchesWait'), durationText('batchesWait')),
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExit codes: 0 all stored; 1 some failed or still pending, or not complete in time; 2 wrong usage',
    )
    .action(
      withParts<[string], WaitFlags>(async ({ parts, output }, batchId, flags) => {
        const tenant = await tenantOf(parts.env, operations.getBatch, flags);
        const platform = await parts.platform();
        const poll = () => platform.findBatch(batchId, { ...(tenant === undefined ? {} : { tenant }) });
        try {
          const batch = await untilComplete(poll, flags.for, (line) => output.note(line));
          output.result({ data: batch }, () => responseLines(batch));
          const { failedRecords, pendingRecords } = countsOf(batch);
          return failedRecords + pendingRecords === 0 ? EXIT.done : EXIT.failed;
        } catch (error) {
          throw withPlatformMessage(error);
        }
      }),
    );
}

/**
 * Polls at growing intervals and reports each change. Throws `platform_refused` if the batch does not exist, and
 * `platform_failed` if it is not complete after `longest` milliseconds.
 */
async function untilComplete(
  poll: () => Promise<BatchStatus | null>,
  longest: number,
  note: (line: string) => void,
): Promise<BatchStatus> {
  const deadline = Date.now() + longest;
  let said = '';
  const first = milliseconds('batchesWaitFirstPause');
  let pause = first;
  while (true) {
    const batch = await poll();
    // A new batch may take moments to become visible. If it is missing for longer, it does not exist.
    if (batch === null && pause > first * 10)
      throw new PartnerSyncError('platform_refused', 'this tenant has no such batch');
    const line = batch === null ? 'not visible yet' : lineOf(batch);
    if (line !== said) note(line);
    said = line;
    if (batch !== null && isComplete(batch)) return batch;
    if (Date.now() + pause > deadline)
      throw new PartnerSyncError('platform_failed', `the batch is not complete after ${longest / 1000} s: ${line}`);
    await sleep(pause);
    pause = Math.min(milliseconds('batchesWaitLongestPause'), pause * times('batchesWaitFactor'));
  }
}

function lineOf(batch: BatchStatus): string {
  const { successfulRecords, failedRecords, pendingRecords } = countsOf(batch);
  const total = batch.progress?.totalRecords;
  return `${successfulRecords}${total == null ? '' : ` of ${total}`} stored, ${failedRecords} failed, ${pendingRecords} pending`;
}
