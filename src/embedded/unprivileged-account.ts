/** The account that PostgreSQL runs under when we are root, since it refuses to run as root. */
import { spawnSync } from 'node:child_process';
import { PartnerSyncError } from '../domain/errors.js';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** In order of preference. Each must be in the user database: initdb looks its own name up there. */
const CANDIDATES = ['postgres', '_postgres', 'nobody', 'daemon'] as const;

/** Undefined when we are not root: then everything runs as ourselves. */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of CANDIDATES) {
    const uid = numberOf(['-u', name]);
    const gid = numberOf(['-g', name]);
    if (uid === undefined || gid === undefined || uid === 0) continue;
    // In a user namespace an account may exist by name only; trying is the one sure test.
    if (runsAs({ name, uid, gid }, ['-e', '/'])) return { name, uid, gid };
  }
  throw new PartnerSyncError(
    'config_invalid',
    `PostgreSQL does not run as root, and none of the accounts ${CANDIDATES.join(', ')} can be used here. ` +
      'Run as an ordinary user, or create one of them: useradd --system postgres',
  );
}

/** Whether the account can enter the folder, or execute the file: every folder above it counts as well. */
export function canReach(account: Account | undefined, path: string): boolean {
  return account === undefined || runsAs(account, ['-x', path]);
}

function runsAs(account: Account, test: readonly string[]): boolean {
  const result = spawnSync('test', test, { uid: account.uid, gid: account.gid, cwd: '/', stdio: 'ignore' });
  return result.status === 0;
}

function numberOf(args: readonly string[]): number | undefined {
  const result = spawnSync('id', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const value = Number.parseInt(result.stdout ?? '', 10);
  return result.status === 0 && Number.isSafeInteger(value) ? value : undefined;
}
