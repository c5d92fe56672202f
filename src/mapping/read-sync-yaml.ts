/** Reads the sync.yaml of a sync without its other files: how a sync is operated must not depend on its mappings. */
import type { Environment } from './language/interpolation.js';
import { LanguageFile } from './language/language-file.js';
import { readSyncFolder } from './sync-folder.js';

/** What of a sync.yaml can be read, whatever is wrong with the rest of it. */
export interface SyncYaml<Keys> {
  /** Each key absent or of a valid form; undefined if the file as a whole cannot be read. */
  readonly readable: Keys | undefined;
  /** Whether the file has the key, but with a mistake, such as a variable that is not set. */
  isFaulty(key: string & keyof Keys): boolean;
}

/** null if there is no such file. */
export async function readSyncYaml<Keys extends object>(
  mappingsFolder: string,
  sync: string,
  env: Environment,
): Promise<SyncYaml<Keys> | null> {
  const { sync: path } = await readSyncFolder(mappingsFolder, sync);
  if (path === null) return null;
  const file = await LanguageFile.read(mappingsFolder, path, 'sync', env);
  const readable = file.partial?.value as Keys | undefined;
  return { readable, isFaulty: (key) => readable?.[key] === undefined && file.writes(key) };
}
