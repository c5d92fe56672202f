/**
 * The stack's folder on disk: secrets, the published facts about a running stack, and the check that it has one owner.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import { isAlive } from './is-alive.js';

/** The content of `stack.json`, for other commands on this machine while the stack is up. It contains no secret. */
export interface StackFacts {
  readonly ownerPid: number;
  /** Pids of the servers. All must be alive, since a single pid may have been reused by another program. */
  readonly serverPids: readonly number[];
  readonly sandboxUrl: string;
  readonly temporalAddress: string;
  /** Absent if TEMPORAL_ADDRESS names a server that the stack did not start. */
  readonly uiUrl?: string;
  readonly startedAt: string;
  /** Names of the variables with which the owner's environment overrode the stack's defaults. */
  readonly chosen: readonly string[];
}

/** A running stack of another process, with its variables. */
export interface AttachedStack extends StackFacts {
  /** The variables that the stack's processes run with, from dev.env. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Creates the folder. Its subfolders are private; the folder itself can be entered by others only under root, where
 * PostgreSQL runs as another account.
 */
export function makeStackFolder(folder: string): void {
  mkdirSync(join(folder, 'logs'), { recursive: true, mode: 0o700 });
  chmodSync(join(folder, 'logs'), 0o700);
  chmodSync(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
  // The folder is in a project of the user's, and contains secrets.
  writeFileSync(join(folder, '.gitignore'), '*\n');
}

/** A random secret in a file of its own, created on first use; returns the path and the secret. */
export function secretFile(folder: string, name: string): { file: string; secret: string } {
  const file = join(folder, name);
  if (!existsSync(file)) writePrivate(file, `${randomBytes(32).toString('base64url')}\n`);
  return { file, secret: readFileSync(file, 'utf8').trim() };
}

/** Writes a file that only its owner can read, atomically: readers see the old content or the new. */
export function writePrivate(file: string, text: string): void {
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, text, { mode: 0o600 });
  renameSync(partial, file);
}

/** Writes KEY=value lines, with quotes only where a shell would need them. */
export function writeEnvFile(file: string, env: Readonly<Record<string, string>>): void {
  const quoted = (value: string): string => (/^[\w./:@%+,=-]*$/.test(value) ? value : `'${value}'`);
  writePrivate(
    file,
    Object.entries(env)
      .map(([name, value]) => `${name}=${quoted(value)}\n`)
      .join(''),
  );
}

/** Reads a file that {@link writeEnvFile} wrote. */
export function readEnvFile(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1).replace(/^'(.*)'$/, '$1')];
    }),
  );
}

/**
 * The stack that another process on this machine keeps up in the folder; undefined when there is none.
 *
 * @example const env = attachStack({ folder: '.partner-sync' })?.env ?? process.env;
 */
export function attachStack({ folder }: { readonly folder: string }): AttachedStack | undefined {
  try {
    const facts = JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8')) as StackFacts;
    if (![facts.ownerPid, ...facts.serverPids].every(isAlive)) return undefined;
    return { ...facts, env: readEnvFile(join(folder, 'dev.env')) };
  } catch {
    // No files, or only some of them because the owner is just stopping.
    return undefined;
  }
}

/** Writes dev.env and then stack.json, so that a process that finds the facts can also read the variables. */
export function publishStack(folder: string, facts: StackFacts, env: Readonly<Record<string, string>>): void {
  writeEnvFile(join(folder, 'dev.env'), env);
  writePrivate(join(folder, 'stack.json'), `${JSON.stringify(facts, null, 2)}\n`);
}

/** Removes both files; call it when the stack has stopped. */
export function withdrawStack(folder: string): void {
  rmSync(join(folder, 'stack.json'), { force: true });
  rmSync(join(folder, 'dev.env'), { force: true });
}

/**
 * Throws `config_invalid` if another process keeps a stack up in the folder: two owners would stop each other's
 * servers.
 */
export function refuseSecondOwner(folder: string): void {
  const other = attachStack({ folder });
  if (other === undefined) return;
  throw new PartnerSyncError(
    'config_invalid',
    `The stack in ${folder} is already up, kept by process ${other.ownerPid}. Use it, or stop that process.`,
  );
}
