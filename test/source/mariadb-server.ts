/** A MariaDB server of its own for one test file. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unprivilegedAccount } from '../../src/embedded/unprivileged-account.js';
import { launchServer, type LaunchedServer } from './launched-server.js';

const MISSING =
  'These tests need a MariaDB server (the programs mariadbd and mariadb-install-db). "npm test" gets them where it can.';

/** As root the server runs under another account; which, is all the same. */
const ACCOUNT = unprivilegedAccount();

/** Debian keeps the server where only root looks. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` };

/** `settings`: arguments of the server's own; of a folder that it can read, say. */
export async function startMariaDb(settings: readonly string[] = []): Promise<LaunchedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-mariadb-'));
  chmodSync(folder, 0o755);
  giveTo(folder);
  const account = ACCOUNT === undefined ? [] : [`--user=${ACCOUNT.name}`];
  const data = join(folder, 'data');
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  giveTo(temporary);
  // A server that starts deletes all temporary tables in its folder, and one that uses them fails then; install-db starts one too.
  const ownTemporary = `--tmpdir=${temporary}`;
  const installed = spawnSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      ...account,
      `--datadir=${data}`,
      ownTemporary,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
    ],
    { encoding: 'utf8', env },
  );
  if (installed.error !== undefined) throw new Error(MISSING, { cause: installed.error });
  if (installed.status !== 0) throw new Error(`mariadb-install-db failed: ${installed.stderr}`);

  return launchServer({
    path: 'mariadbd',
    scheme: 'mariadb',
    folder,
    args: [...account, `--datadir=${data}`, ownTemporary, ...settings],
    env,
  });
}

/** Lets the server's account have a file or folder. */
export function giveTo(path: string): void {
  if (ACCOUNT !== undefined) chownSync(path, ACCOUNT.uid, ACCOUNT.gid);
}
