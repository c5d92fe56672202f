/** Loads the retention of a sync from its sync.yaml alone: the ledger of a sync with a broken mapping must not grow for ever. */
import type { Retention } from '../domain/sync/retention.js';
import type { Environment } from './language/interpolation.js';
import { readRetention, type RetentionFile } from './language/read-retention.js';
import { readSyncYaml } from './read-sync-yaml.js';

/** null if it cannot be known: the defaults might remove what somebody wants to keep for longer. */
export async function loadRetention(mappingsFolder: string, sync: string, env: Environment): Promise<Retention | null> {
  const file = await readSyncYaml<RetentionFile>(mappingsFolder, sync, env);
  return file?.readable === undefined || file.isFaulty('retention') ? null : readRetention(file.readable);
}
