/** Creates the database cluster of the embedded PostgreSQL, and its superuser's password. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import type { PostgresHome } from './postgres-home.js';

export const SUPERUSER = 'postgres';

/** Creates the database cluster where there is none; answers the superuser's password. */
export function initialiseCluster(home: PostgresHome, data: string): string {
  const passwordFile = join(home.folder, 'password');
  if (existsSync(data)) return readFileSync(passwordFile, 'utf8').trim();
  const password = randomBytes(24).toString('base64url');
  // initdb reads it as the unprivileged account.
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (home.account !== undefined) chownSync(passwordFile, home.account.uid, home.account.gid);
  // Built beside and renamed, so that an interrupted initdb is never taken for a database.
  const partial = `${data}.partial`;
  rmSync(partial, { recursive: true, force: true });
  const result = spawnSync(
    home.initdb,
    [
      ...['--pgdata', partial, '--username', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      // PostgreSQL's own C.UTF-8, which sorts alike on every operating system; the system's may not have it.
      ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
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
