/**
 * Collects the environment variables: from the environment first, then from .env, then from a dev stack that runs in
 * this folder.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { sqliteFileOf } from '../domain/source/source-address.js';
import type { Env } from './environment.js';

/** The variables, and where they come from. */
export interface FoundEnvironment {
  readonly env: Env;
  /** Whether the addresses are those of this folder's dev stack. */
  readonly devStack: boolean;
  /** Whether this folder has a dev stack that is down, and no other servers are named. */
  readonly devStackIsDown: boolean;
  /** Variables of {@link WORKER_CHOICES} that are set to other values here than the stack's worker runs with. */
  readonly notInWorker: readonly string[];
}

/**
 * Variables that override what the stack would set by itself. Its worker keeps those that it was started with, so what a
 * command sets differently later reaches only the command.
 */
export const WORKER_CHOICES = ['PARTNER_SYNC_MAPPINGS', 'PARTNER_SYNC_TASK_QUEUE', 'PLATFORM_TENANT', 'SOURCE_URL'];

/**
 * The variables of a running stack, written by `partner-sync dev` and `partner-sync demo`.
 *
 * They are used only if neither the environment nor .env names a server, so that the stack's servers are used
 * together or not at all: a sandbox's token combined with another platform's address would send data to the wrong
 * place. Other variables of the environment and .env take precedence over the stack's.
 */
export const DEV_STACK_FILE = join('.partner-sync', 'dev.env');

/** The variables for a command that runs in `folder`. */
export function findEnvironment(folder: string, env: Env): FoundEnvironment {
  const own = ownEnvironment(folder, env);
  if (ownServers(own).length > 0) return { env: own, devStack: false, devStackIsDown: false, notInWorker: [] };
  const stack = isUp(folder) ? readFile(folder, DEV_STACK_FILE) : {};
  const devStack = Object.keys(stack).length > 0;
  const meant = (variables: Env, name: string): string | undefined => resolvedValue(name, variables[name], folder);
  const differs = (name: string): boolean => !!own[name] && meant(own, name) !== meant(stack, name);
  return {
    env: { ...own, ...missingFrom(stack, own) },
    devStack,
    devStackIsDown: !devStack && existsSync(join(folder, '.partner-sync', 'ports.json')),
    notInWorker: devStack ? WORKER_CHOICES.filter(differs) : [],
  };
}

/** The variables among these that name a server of the user's own, so that no stack is used. */
export const ownServers = (own: Env): string[] =>
  ['PARTNER_SYNC_STATE_URL', 'PARTNER_SYNC_STATE_URL_FILE', 'PLATFORM_BASE_URL', 'TEMPORAL_ADDRESS'].filter(
    (name) => own[name],
  );

/** The environment, completed from .env. */
export function ownEnvironment(folder: string, env: Env): Env {
  return { ...env, ...missingFrom(readFile(folder, '.env'), env) };
}

/**
 * The value of a variable; if it is a path, of a file, a folder or an SQLite database, as an absolute one. The stack's
 * processes run in a folder of their own, where a path that is relative to the project would lead nowhere.
 */
export function resolvedValue(name: string, value: string | undefined, folder = process.cwd()): string | undefined {
  const sqliteFile = sqliteFileOf(value ?? '');
  if (sqliteFile !== undefined) return `sqlite:${resolve(folder, sqliteFile)}`;
  return value && (name === 'PARTNER_SYNC_MAPPINGS' || name.endsWith('_FILE')) ? resolve(folder, value) : value;
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
