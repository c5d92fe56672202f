/**
 * Collects the environment variables: from the environment first, then from .env, then from a dev stack that runs in
 * this folder.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Env } from './environment.js';

/** The variables, and where they come from. */
export interface FoundEnvironment {
  readonly env: Env;
  /** Whether the addresses are those of this folder's dev stack. */
  readonly devStack: boolean;
}

/**
 * The variables of a running stack, written by `npm run dev` and `npm run demo`.
 *
 * They are used only if neither the environment nor .env names a server, so that the stack's servers are used
 * together or not at all: a sandbox's token combined with another platform's address would send data to the wrong
 * place. Other variables of the environment and .env take precedence over the stack's.
 */
export const DEV_STACK_FILE = join('.partner-sync', 'dev.env');

/** The variables for a command that runs in `folder`. */
export function findEnvironment(folder: string, env: Env): FoundEnvironment {
  const own = ownEnvironment(folder, env);
  const configured = ['PARTNER_SYNC_STATE_URL', 'PARTNER_SYNC_STATE_URL_FILE', 'PLATFORM_BASE_URL', 'TEMPORAL_ADDRESS'];
  if (configured.some((name) => own[name])) return { env: own, devStack: false };
  const stack = isUp(folder) ? readFile(folder, DEV_STACK_FILE) : {};
  return { env: { ...own, ...missingFrom(stack, own) }, devStack: Object.keys(stack).length > 0 };
}

/** The environment, completed from .env. */
export function ownEnvironment(folder: string, env: Env): Env {
  return { ...env, ...missingFrom(readFile(folder, '.env'), env) };
}

/** The variables that have no value in `env`. `NAME` and `NAME_FILE` count as the same variable. */
export function missingFrom(variables: Env, env: Env): Env {
  const plain = (name: string): string => name.replace(/_FILE$/, '');
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !env[plain(name)] && !env[`${plain(name)}_FILE`]),
  );
}

function readFile(folder: string, name: string): Env {
  const file = join(folder, name);
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

/** Whether the owner of the stack is alive: a stack that was killed leaves its files behind. */
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
