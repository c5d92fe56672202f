/** Loads the alerts of a sync from its sync.yaml alone: a broken mapping is something that people are to be told of. */
import type { AlertSettings } from '../domain/monitoring/alerts.js';
import { fillIn, type Environment } from './language/interpolation.js';
import { readAlerts, type AlertingFile } from './language/read-alerts.js';
import { readSyncFile } from './language/read-sync-file.js';
import { readSyncYaml } from './read-sync-yaml.js';
import { readSyncFolder } from './sync-folder.js';

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

/**
 * Tells whether the sync.yaml of a sync has an address in it, right or wrong: all that can be known of one whose alerts are
 * `unreadable`.
 */
export async function addressesIn(
  mappingsFolder: string,
  sync: string,
  env: Environment,
): Promise<(address: string) => boolean> {
  const { sync: path } = await readSyncFolder(mappingsFolder, sync);
  const file = path === null ? null : await readSyncFile(mappingsFolder, path);
  const text = file !== null && 'text' in file ? fillIn(file.text, env).value : '';
  return (address) => typeof text === 'string' && text.includes(address);
}
