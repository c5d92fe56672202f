/** Loads the alerts of a sync from its sync.yaml alone: a broken mapping is something that people are to be told of. */
import type { AlertSettings } from '../domain/alerts.js';
import { fillIn, type Environment } from './language/interpolation.js';
import { LanguageFile } from './language/language-file.js';
import { readAlerts, type AlertingFile } from './language/read-alerts.js';
import { readSyncFile } from './language/read-sync-file.js';
import { readSyncFolder } from './sync-folder.js';

/**
 * Whom the sync tells what is wrong with it; null if it has no alerts. `unreadable` if that cannot be known: there is no
 * sync.yaml, it is not YAML, or its key `alerts` has a mistake, such as a variable that is not set. A mistake in any other
 * part leaves the alerts as they are, and the defaults in its place.
 */
export async function loadAlerts(
  mappingsFolder: string,
  sync: string,
  env: Environment,
): Promise<AlertSettings | null | 'unreadable'> {
  const { sync: path } = await readSyncFolder(mappingsFolder, sync);
  if (path === null) return 'unreadable';
  const file = await LanguageFile.read(mappingsFolder, path, 'sync', env);
  const readable = file.partial?.value as AlertingFile | undefined;
  if (readable?.alerts !== undefined) return readable.alerts.length === 0 ? null : readAlerts(sync, readable);
  return file.value === undefined && (readable === undefined || file.writes('alerts')) ? 'unreadable' : null;
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
