/** Who runs this command: for the audit, and for the Updates and starts that Temporal keeps. */
import { hostname, userInfo } from 'node:os';
import type { Actor } from '../domain/run/audit.js';

/** As PARTNER_SYNC_ACTOR says, in the environment or in .env; set before a command does its work. */
let named: string | undefined;

/** Names whoever runs the commands of this process; undefined for the account. */
export function actAs(name: string | undefined): void {
  named = name;
}

/** Whoever runs this command, for the audit. */
export const thisCommand = (): Actor => ({ who: startedBy(), origin: 'cli' });

/** As PARTNER_SYNC_ACTOR says; otherwise the account and machine of this process. */
export function startedBy(): string {
  if (named) return named;
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // An account without an entry in the system's list, as in containers that run under any number.
    return `${process.getuid?.() ?? 'somebody'}@${hostname()}`;
  }
}
