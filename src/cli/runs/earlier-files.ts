/** Records that are as earlier files of a sync made them: only a run that reads all rows sends those of unchanged rows again. */
import type { CommonParts } from '../../composition/parts.js';
import type { LedgerView } from '../../ledger/ledger-view.js';
import { specIfValid } from '../known-files.js';

/** Whether there may be such records; false if the files are missing here, or wrong. */
export async function hasRecordsOfEarlierFiles(
  parts: CommonParts,
  ledger: Pick<LedgerView, 'runs'>,
  sync: string,
): Promise<boolean> {
  const spec = await specIfValid(parts, sync);
  return spec !== null && (await ledger.runs.hasRecordsOfEarlierFiles(sync, spec.version));
}

/** What to do about them. */
export const earlierFilesLines = (sync: string): string[] => [
  'The files of the sync have changed since all rows were last read: records of rows that have not changed are as the',
  `earlier files made them. Send those that differ now: partner-sync run ${sync} --mode full`,
];
