/** Loads the alerts of a sync from its sync.yaml alone: a broken mapping is something that people are to be told of. */
import type { AlertSettings } from '../domain/alerts.js';
import type { Environment } from './language/interpolation.js';
import { readAlerts, type AlertingFile } from './language/read-alerts.js';
import { readSyncYaml } from './read-sync-yaml.js';

/**
 * Whom the sync tells what is wrong with it; nobody if it has no alerts. `unreadable` if that cannot be known: there is no
 * sync.yaml, it is not YAML, or its key `alerts` has a mistake. A mistake in any other part leaves the alerts as they are,
 * and the defaults in its place.
 */
export async function loadAlerts(
  mappingsFolder: string,
  sync: string,
  env: Environment,
): Promise<AlertSettings | 'unreadable'> {
  const file = await readSyncYaml<AlertingFile>(mappingsFolder, sync, env);
  if (file?.readable === undefined || file.isFaulty('alerts')) return 'unreadable';
  return readAlerts(sync, file.readable, file.isFaulty('schedules'));
}
