/** Creates the database cluster of the embedded PostgreSQL and its superuser's password. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import type { PostgresInstallation } from './postgres-installation.js';

/** The role that owns the cluster and every database in it. */
export const SUPERUSER = 'postgres';

/**
 * Creates the cluster in `data` unless it exists, and returns the superuser's password. Throws `state_unreachable`
 * if initdb fails.
 */
export function initialiseCluster(home: PostgresInstallation, data: string): string {
  const passwordFile = join(home.folder, 'password');
  if (existsSync(data)) return readFileSync(passwordFile, 'utf8').trim();
  const password = randomBytes(24).toString('base64url');
  // initdb reads the password as the unprivileged account.
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (home.account !== undefined) chownSync(passwordFile, home.account.uid, home.account.gid);
  // Created under another name and renamed, so that an interrupted initdb is never mistaken for a database.
  const partial = `${data}.partial`;
  rmSync(partial, { recursive: true, force: true });
  const result = spawnSync(
    home.initdb,
    [
      '--pgdata',
      partial,
      '--username',
      SUPERUSER,
      '--pwfile',
      passwordFile,
      '--auth',
      'scram-sha-256',
      '--encoding',
      'UTF8',
      '--locale',
      'C',
      ...(hasBuiltinLocales(home) ? ['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'] : []),
    ],
    { encoding: 'utf8', cwd: home.folder, uid: home.account?.uid, gid: home.account?.gid },
  );
  if (result.status !== 0) {
    throw new PartnerSyncError(
      'state_unreachable',
      `initdb failed in ${home.folder}: ${result.error?.message ?? result.stderr.trim()}\n` +
        'If a shared library is missing, run npm ci again with install scripts allowed: they link the libraries.',
    );
  }
  renameSync(partial, data);
  return password;
}

/** PostgreSQL's built-in C.UTF-8 sorts the same on every system, including those that lack that locale; 17 is the first to have it. */
function hasBuiltinLocales({ postgres, account }: PostgresInstallation): boolean {
  const { stdout } = spawnSync(postgres, ['--version'], { encoding: 'utf8', uid: account?.uid, gid: account?.gid });
  return Number(/ (\d+)/.exec(stdout ?? '')?.[1] ?? 17) >= 17;
}
