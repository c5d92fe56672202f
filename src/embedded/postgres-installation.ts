/** Locates the embedded PostgreSQL: its binaries from npm, its data folder, and the account that owns both. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import { findPostgres, postgresMissing } from './postgres-package.js';
import { canReach, unprivilegedAccount, type Account } from './unprivileged-account.js';

/** Where the embedded PostgreSQL is and which account runs it. */
export interface PostgresInstallation {
  /** Contains `data`, the password and the log; owned by the account. */
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
  /** The account to run as; undefined means the current user. */
  readonly account: Account | undefined;
}

/**
 * Prepares the folder `wanted` and the binaries for the account. Folder or binaries are moved or copied under the
 * temporary folder if the account cannot reach them. Throws `config_invalid`, and `package_missing`.
 *
 * @param program the path of the server's program; default that of the installed package
 */
export function preparePostgres(wanted: string, log: (line: string) => void, program?: string): PostgresInstallation {
  const account = unprivilegedAccount();
  const folder = ownedFolder(resolve(wanted), account, log);
  const installed = program ?? findPostgres();
  if (installed === undefined) throw postgresMissing();
  const postgres = reachableBinary(installed, account, log);
  return { folder, account, postgres, initdb: join(dirname(postgres), 'initdb') };
}

/** Gives the folder to the account, or uses one under the temporary folder if the account cannot reach it. */
function ownedFolder(folder: string, account: Account | undefined, log: (line: string) => void): string {
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account === undefined) return folder;
  giveTo(account, folder);
  chmodSync(folder, 0o700);
  if (canReach(account, folder)) return folder;
  const moved = join(temporaryHome('data', folder), 'postgres');
  mkdirSync(moved, { recursive: true, mode: 0o700 });
  giveTo(account, moved);
  if (!canReach(account, moved)) throw unreachable(account, moved);
  log(`PostgreSQL runs as "${account.name}", which cannot enter ${folder}; its data is in ${moved}`);
  return moved;
}

/** Changes the owner of the folder and everything in it, since another account may have created it earlier. */
function giveTo(account: Account, folder: string): void {
  if (lstatSync(folder).uid === account.uid) return;
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, entry), account.uid, account.gid);
  }
  // The folder itself comes last: its owner is the sign that everything is done.
  chownSync(folder, account.uid, account.gid);
}

/** The binary, or its copy if the account cannot execute the original (a clone in a home folder of mode 700). */
function reachableBinary(binary: string, account: Account | undefined, log: (line: string) => void): string {
  if (account === undefined || canReach(account, binary)) return binary;
  const native = dirname(dirname(binary));
  const home = temporaryHome('postgresql', native);
  const copy = join(home, 'native');
  if (!existsSync(copy)) {
    // Copied under another name and renamed, so that an interrupted copy is never mistaken for a complete one.
    const partial = `${copy}.${process.pid}`;
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    openToAll(partial);
    try {
      renameSync(partial, copy);
    } catch {
      rmSync(partial, { recursive: true, force: true });
    }
    log(`PostgreSQL runs as "${account.name}", which cannot enter ${native}; its programs were copied to ${copy}`);
  }
  const reachable = join(copy, 'bin', 'postgres');
  if (!canReach(account, reachable)) throw unreachable(account, reachable);
  return reachable;
}

/** A folder under the temporary folder, named by a hash of the path that it stands in for. */
function temporaryHome(kind: string, of: string): string {
  const hash = createHash('sha256').update(of).digest('hex').slice(0, 12);
  const home = join(tmpdir(), `partner-sync-${kind}-${hash}`);
  mkdirSync(home, { recursive: true, mode: 0o755 });
  const stat = lstatSync(home);
  // Anyone can write to the temporary folder, so programs and data of another owner are not used.
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) {
    throw new PartnerSyncError('config_invalid', `${home} belongs to another account. Remove it, or set TMPDIR.`);
  }
  chmodSync(home, 0o755);
  return home;
}

/**
 * Makes everything readable by every account, and executable if the owner may execute it, whatever umask npm ran
 * with.
 */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, lstatSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** The error for a path that the account cannot reach. */
function unreachable(account: Account, path: string): PartnerSyncError {
  return new PartnerSyncError(
    'config_invalid',
    `PostgreSQL runs as "${account.name}", since this process runs as root, and that account cannot enter ${path}. ` +
      'Set TMPDIR to a folder open to all, or run as an ordinary user.',
  );
}
