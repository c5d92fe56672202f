/** Records that are as earlier files of a sync made them: only a run that reads all rows sends those of unchanged rows again. */
import type { CommonParts } from '../../composition/parts.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { LedgerView } from '../../ledger/ledger-view.js';

/** Whether there may be such records; false if the files are missing here, or wrong: `check` says how. */
export async function hasRecordsOfEarlierFiles(
  parts: CommonParts,
  ledger: Pick<LedgerView, 'runs'>,
  sync: string,
): Promise<boolean> {
  try {
    const { version } = (await parts.loadSync(sync)).spec;
    return await ledger.runs.hasRecordsOfEarlierFiles(sync, version);
  } catch (error) {
    if (error instanceof PartnerSyncError && error.code === 'config_invalid') return false;
    throw error;
  }
}

/** What to do about them. */
export const earlierFilesLines = (sync: string): string[] => [
  'The files of the sync have changed since all rows were last read: records of rows that have not changed are as the',
  `earlier files made them. Send those that differ now: partner-sync run ${sync} --mode full`,
];
