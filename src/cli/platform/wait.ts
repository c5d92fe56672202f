/** `partner-sync platform batches wait`: follows a batch until it is complete. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import type { BatchStatus } from '../../platform/contract/batches.js';
import { operations } from '../../platform/contract/operations.js';
import { duration } from '../arguments.js';
import { action, EXIT } from '../command-context.js';
import { tenantOf, type OperationFlags } from './run-operation.js';
import { told } from './told.js';
import { answerLines } from './show.js';

const FIRST_LOOK = 200;
const LONGEST_PAUSE = 5_000;

interface WaitFlags extends OperationFlags {
  readonly for: number;
}

export function addWait(batches: Command): void {
  batches
    .command('wait')
    .argument('<batch-id>', 'id that the upload answered')
    .summary('waits until a batch is complete')
    .description('Follows a batch until `completedAt` is set, and shows what came of it.')
    .option('--tenant <id>', 'tenant to act for (default: PLATFORM_TENANT)')
    .addOption(
      new Option('--for <duration>', 'how long at most, such as 90s or 10m')
        .argParser(duration)
        .default(600_000, '10m'),
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExit codes: 0 all stored; 1 some failed or still pending, or not complete in time; 2 wrong usage',
    )
    .action(
      action<[string], WaitFlags>(async ({ parts, output }, batchId, flags) => {
        const tenant = await tenantOf(parts.env, operations.getBatch, flags);
        const platform = await parts.platform();
        const look = () => platform.findBatch(batchId, { ...(tenant === undefined ? {} : { tenant }) });
        try {
          const batch = await untilComplete(look, flags.for, (line) => output.note(line));
          output.result({ data: batch }, () => answerLines(batch));
          const { failedRecords, pendingRecords } = batch.progress;
          return failedRecords + pendingRecords === 0 ? EXIT.done : EXIT.failed;
        } catch (error) {
          throw told(error);
        }
      }),
    );
}

/** Looks at growing intervals, and says when something has changed. */
async function untilComplete(
  look: () => Promise<BatchStatus | null>,
  longest: number,
  note: (line: string) => void,
): Promise<BatchStatus> {
  const deadline = Date.now() + longest;
  let said = '';
  for (let pause = FIRST_LOOK; ; pause = Math.min(LONGEST_PAUSE, pause * 1.5)) {
    const batch = await look();
    // Only an id that exists is worth waiting for; "not visible yet" passes within moments.
    if (batch === null && pause > FIRST_LOOK * 10)
      throw new PartnerSyncError('platform_refused', 'there is no such batch of this tenant');
    const line = batch === null ? 'not visible yet' : lineOf(batch);
    if (line !== said) note((said = line));
    if (batch?.completedAt != null) return batch;
    if (Date.now() + pause > deadline)
      throw new PartnerSyncError('platform_failed', `the batch is not complete after ${longest / 1000} s: ${line}`);
    await sleep(pause);
  }
}

function lineOf({ progress }: BatchStatus): string {
  const { totalRecords, successfulRecords, failedRecords, pendingRecords } = progress;
  return `${successfulRecords} of ${totalRecords} stored, ${failedRecords} failed, ${pendingRecords} pending`;
}
