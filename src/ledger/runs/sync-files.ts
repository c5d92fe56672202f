/** The files of runs, kept until these have ended: a run does not notice what changes on a worker's disk meanwhile. */
import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { PartnerSyncError } from '../../domain/errors.js';
import type { KeptFiles, SyncFiles } from '../../domain/sync/sync-files.js';
import { seconds } from '../../domain/timeouts.js';

/** Looks up files of runs. */
export interface FilesOfRuns {
  /**
   * The files that the run began with, and the address of the platform that its sync delivers to, null before that is known. Throws
   * `unexpected` for a run that the ledger does not have, and `run_stopped` for one without files: it failed before it was opened, or ended
   * long ago.
   */
  ofRun(runId: string): Promise<KeptFiles & { readonly platform: string | null }>;
}

export function openFilesOfRuns(knex: Knex): FilesOfRuns {
  return {
    async ofRun(runId) {
      const run = await knex('runs')
        .leftJoin('sync_files', 'sync_files.id', 'runs.files_id')
        .leftJoin('sync_platforms', 'sync_platforms.sync', 'runs.sync')
        .where('runs.id', runId)
        .first<{ version: string; files: SyncFiles | null; platform: string | null } | undefined>(
          'mapping_version as version',
          'files',
          'address as platform',
        );
      const { version, files, platform } = run ?? noRun(runId);
      if (files !== null) return { version, files, platform };
      throw new PartnerSyncError('run_stopped', `run ${runId} has ended already: its mapping files are no longer kept`);
    },
  };
}

/** The program has begun the run itself, so the ledger must have it. */
export function noRun(runId: string): never {
  throw new PartnerSyncError('unexpected', `no run ${runId} in the ledger`);
}

/** Keeps the files for a run that the same transaction begins; returns their id. Files that are there are not written again. */
export async function keepFiles(trx: Knex, sync: string, files: SyncFiles): Promise<string> {
  const text = JSON.stringify(files);
  const { rows } = await trx.raw<{ rows: { id: string }[] }>(
    `INSERT INTO sync_files (sync, hash, files) VALUES (?, ?, ?)
     ON CONFLICT (sync, hash) DO UPDATE SET begun_at = now() RETURNING id`,
    [sync, hash('sha256', text, 'hex'), text],
  );
  return rows[0]!.id;
}

/**
 * Removes files of the sync that no open run uses. Those with which a run began a moment ago stay: that run may not
 * be visible yet, and the next one most likely needs the same.
 */
export async function removeUnusedFiles(trx: Knex, runId: string): Promise<void> {
  await trx.raw(
    `DELETE FROM sync_files f WHERE sync = (SELECT sync FROM runs WHERE id = ?)
       AND begun_at < now() - ? * interval '1 second'
       AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.files_id = f.id AND r.ended_at IS NULL)`,
    [runId, seconds('filesKept')],
  );
}
