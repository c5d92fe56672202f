/** Finds the variables: the environment first, then .env, then a dev stack that runs in this folder. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Env } from './environment.js';

export interface FoundEnvironment {
  readonly env: Env;
  /** Whether the addresses are those of the dev stack of this folder. */
  readonly devStack: boolean;
}

/**
 * Written by `npm run dev` and `npm run demo` while their stack is up. It is used only where neither the
 * environment nor .env names a server, so that its servers are used together or not at all: mixing a sandbox's token
 * with another platform's address would send data to the wrong place. What else they name stands over the stack's.
 */
export const DEV_STACK_FILE = join('.partner-sync', 'dev.env');

export function findEnvironment(folder: string, env: Env): FoundEnvironment {
  const own = ownEnvironment(folder, env);
  const configured = ['PARTNER_SYNC_STATE_URL', 'PARTNER_SYNC_STATE_URL_FILE', 'PLATFORM_BASE_URL', 'TEMPORAL_ADDRESS'];
  if (configured.some((name) => own[name])) return { env: own, devStack: false };
  const stack = isUp(folder) ? readFile(folder, DEV_STACK_FILE) : {};
  return { env: { ...own, ...unsaid(stack, own) }, devStack: Object.keys(stack).length > 0 };
}

/** The environment, and .env where the environment is silent. */
export function ownEnvironment(folder: string, env: Env): Env {
  return { ...env, ...unsaid(readFile(folder, '.env'), env) };
}

/** Those variables that the other environment has no value for; a secret as NAME_FILE is the same as one as NAME. */
export function unsaid(variables: Env, by: Env): Env {
  const plain = (name: string): string => name.replace(/_FILE$/, '');
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !by[plain(name)] && !by[`${plain(name)}_FILE`]),
  );
}

function readFile(folder: string, name: string): Env {
  const file = join(folder, name);
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

/** A stack that was killed leaves its files behind. */
function isUp(folder: string): boolean {
  try {
    const { ownerPid } = JSON.parse(readFileSync(join(folder, '.partner-sync', 'stack.json'), 'utf8')) as {
      ownerPid: number;
    };
    process.kill(ownerPid, 0);
    return true;
  } catch {
    return false;
  }
}
