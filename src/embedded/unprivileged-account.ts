/** Chooses the account that PostgreSQL runs as under root, since it refuses to run as root. */
import { spawnSync } from 'node:child_process';
import { PartnerSyncError } from '../domain/errors.js';

/** An account of the operating system. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** In order of preference. Each must exist in the user database, since initdb looks up its own name there. */
const CANDIDATES = ['postgres', '_postgres', 'nobody', 'daemon'] as const;

/**
 * The account to use; undefined for an ordinary user, for whom everything runs as that user. Throws `config_invalid`
 * if no candidate is usable.
 */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of CANDIDATES) {
    const uid = numberOf(['-u', name]);
    const gid = numberOf(['-g', name]);
    if (uid === undefined || gid === undefined || uid === 0) continue;
    // In a user namespace an account may exist in name only, so it is tried out.
    if (runsAs({ name, uid, gid }, ['-e', '/'])) return { name, uid, gid };
  }
  throw new PartnerSyncError(
    'config_invalid',
    `PostgreSQL does not run as root, and none of the accounts ${CANDIDATES.join(', ')} can be used here. ` +
      'Run as an ordinary user, or create one of them: useradd --system postgres',
  );
}

/**
 * Whether the account can enter the folder or execute the file, including every folder above it. Always true without an
 * account.
 */
export function canReach(account: Account | undefined, path: string): boolean {
  return account === undefined || runsAs(account, ['-x', path]);
}

/** Whether `test` with these arguments succeeds as the account. */
function runsAs(account: Account, test: readonly string[]): boolean {
  const result = spawnSync('test', test, { uid: account.uid, gid: account.gid, cwd: '/', stdio: 'ignore' });
  return result.status === 0;
}

function numberOf(args: readonly string[]): number | undefined {
  const result = spawnSync('id', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const value = Number.parseInt(result.stdout ?? '', 10);
  return result.status === 0 && Number.isSafeInteger(value) ? value : undefined;
}
