/**
 * What a run keeps of its sync's files. They go into the ledger, which more people and backups may see than the folder:
 * no secret goes with them. `${env:NAME}` stays as it is written, so each worker fills in its own environment.
 */
import { hash } from 'node:crypto';
import { ON_ANOTHER_WORKER } from '../domain/run/another-worker.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { JsonObject, JsonValue } from '../domain/values/json.js';
import type { SyncFiles } from '../domain/sync/sync-files.js';
import { withoutPasswords } from '../domain/values/without-passwords.js';

/** Keys of sync.yaml by which no run goes: they are about the sync over all of its runs, and take effect at once. */
const NOT_OF_A_RUN = ['schedules', 'limits', 'alerts', 'retention'];

/** The files without the parts of sync.yaml that a run does not go by. */
export function filesOfRun(files: SyncFiles): SyncFiles {
  const kept = Object.entries(files.sync.value as JsonObject).filter(([key]) => !NOT_OF_A_RUN.includes(key));
  return { ...files, sync: { ...files.sync, value: Object.fromEntries(kept) } };
}

/** The files as the ledger keeps them: without a connection in which a password is written out. */
export function keptFiles(files: SyncFiles): SyncFiles {
  const kept = filesOfRun(files);
  const connection = connectionOf(kept);
  return connection !== undefined && holdsPassword(connection) ? withConnection(kept, undefined) : kept;
}

/**
 * The files of a run, complete: a connection that is not kept comes from `own`, the sync.yaml of this worker. Throws
 * `config_invalid`, which says that another worker may have it, if there is none here either.
 */
export async function completedFiles(
  sync: string,
  kept: SyncFiles,
  own: () => Promise<JsonValue | undefined>,
): Promise<SyncFiles> {
  if (connectionOf(kept) !== undefined) return kept;
  const connection = connectionIn((await own()) ?? null);
  if (connection !== undefined) return withConnection(kept, connection);
  const message = `${kept.sync.file}: this worker needs it for the connection, since runs of ${sync} keep none that contains a password; write the password as \${env:NAME}`;
  throw new PartnerSyncError('config_invalid', message, ON_ANOTHER_WORKER);
}

/** Identifies files by their content. */
export const hashOfFiles = (files: SyncFiles): string => hash('sha256', JSON.stringify(files), 'hex');

/** The variables that decide what is sent: all that are named anywhere but in the connection; sorted. */
export const variablesOf = (files: SyncFiles): string[] => namedVariables(withConnection(filesOfRun(files), undefined));

/** All variables that the files name; sorted. */
export function namedVariables(files: SyncFiles): string[] {
  const text = JSON.stringify(files);
  return [...new Set([...text.matchAll(/\$\{env:([^}]*)\}/g)].map(([, name]) => name!))].sort();
}

const connectionOf = (files: SyncFiles): string | undefined => connectionIn(files.sync.value);

function connectionIn(value: JsonValue): string | undefined {
  const source = (value as { source?: { connection?: unknown } } | null)?.source;
  return typeof source?.connection === 'string' ? source.connection : undefined;
}

function withConnection(files: SyncFiles, connection: string | undefined): SyncFiles {
  const { source, ...rest } = files.sync.value as JsonObject & { source: JsonObject };
  const { connection: _other, ...others } = source;
  // First again, as in every file: the hash is over the text.
  const value = { source: { ...(connection !== undefined && { connection }), ...others }, ...rest };
  return { ...files, sync: { ...files.sync, value } };
}

/** Whether anything but `${env:NAME}` is in the place of a password. */
function holdsPassword(connection: string): boolean {
  const written = connection.replaceAll(/\$\{env:[^}]*\}/g, '');
  if (withoutPasswords(written).replaceAll('***', '') !== written) return true;
  // In a text that is not an address nobody can tell where a password would be.
  return /[@=]/.test(written) && !/^[a-z][a-z0-9+.-]*:/i.test(written);
}
