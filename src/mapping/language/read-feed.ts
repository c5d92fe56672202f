/** Reads the key `changes` of sync.yaml or of a mapping that names a feed. */
import type { FeedConfig, FeedLimit } from '../../domain/source/change-feed.js';
import { sizeBytes } from '../../domain/values/duration.js';
import type { LanguageFile } from './language-file.js';

/** The form that the JSON Schemas have checked. */
export type FeedFile = SlotFile | { table: string };

interface SlotFile {
  slot: string;
  publication: string;
  maxWal?: string;
  whenExceeded?: FeedLimit['whenExceeded'];
}

/** A server writes some log for itself: with less than this, a slot would be given up again and again. */
const LEAST = '1MiB';

/** Reports to `file` what a JSON Schema cannot express: a limit that is too small, and what is done beyond one that is missing. */
export const readFeed = (changes: FeedFile, file: LanguageFile): FeedConfig =>
  'table' in changes ? { kind: 'table', table: changes.table } : readSlot(changes, file);

function readSlot({ slot, publication, maxWal, whenExceeded }: SlotFile, file: LanguageFile): FeedConfig {
  const config = { kind: 'slot', slot, publication } as const;
  if (maxWal === undefined) {
    if (whenExceeded !== undefined)
      file.report('bad_option', ['changes', 'whenExceeded'], 'beyond what is not said; add maxWal, or remove this');
    return config;
  }
  const maxBytes = sizeBytes(maxWal);
  if (maxBytes < sizeBytes(LEAST)) file.report('bad_option', ['changes', 'maxWal'], `must be at least ${LEAST}`);
  return { ...config, limit: { maxBytes, whenExceeded: whenExceeded ?? 'alert' } };
}
