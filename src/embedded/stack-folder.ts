/** The stack's folder on disk: secrets, the sandbox's fixture, what the child processes are told, and who owns it. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import { isAlive } from './detached-process.js';

/** What `stack.json` tells other commands on this machine while the stack is up; no secret in it. */
export interface StackFacts {
  readonly ownerPid: number;
  /** The servers' processes: a pid alone may have been given to another program since. */
  readonly serverPids: readonly number[];
  readonly sandboxUrl: string;
  readonly temporalAddress: string;
  /** Absent when Temporal is not ours (TEMPORAL_ADDRESS). */
  readonly uiUrl?: string;
  readonly startedAt: string;
  /** Names of the variables that the environment of its owner said otherwise than the stack does by itself. */
  readonly chosen: readonly string[];
}

export interface AttachedStack extends StackFacts {
  /** The variables that the stack's own processes run with; read from dev.env. */
  readonly env: Readonly<Record<string, string>>;
}

/** Makes the folder. Its parts close themselves; PostgreSQL's account must be able to pass through when we are root. */
export function makeStackFolder(folder: string): void {
  mkdirSync(join(folder, 'logs'), { recursive: true, mode: 0o700 });
  chmodSync(join(folder, 'logs'), 0o700);
  chmodSync(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** A random secret in a file of its own, made once; answers the file and what is in it. */
export function secretFile(folder: string, name: string): { file: string; secret: string } {
  const file = join(folder, name);
  if (!existsSync(file)) writePrivate(file, `${randomBytes(32).toString('base64url')}\n`);
  return { file, secret: readFileSync(file, 'utf8').trim() };
}

/** Written beside and renamed: a reader sees the old file or the new one, and never with more than our own rights. */
export function writePrivate(file: string, text: string): void {
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, text, { mode: 0o600 });
  renameSync(partial, file);
}

/** KEY=value lines, quoted only where a shell would need it. */
export function writeEnvFile(file: string, env: Readonly<Record<string, string>>): void {
  const quoted = (value: string): string => (/^[\w./:@%+,=-]*$/.test(value) ? value : `'${value}'`);
  writePrivate(
    file,
    Object.entries(env)
      .map(([name, value]) => `${name}=${quoted(value)}\n`)
      .join(''),
  );
}

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
 * The stack that another process of this machine keeps up in the folder; undefined when there is none.
 *
 * @example const env = attachStack({ folder: '.partner-sync' })?.env ?? process.env;
 */
export function attachStack({ folder }: { readonly folder: string }): AttachedStack | undefined {
  try {
    const facts = JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8')) as StackFacts;
    if (![facts.ownerPid, ...facts.serverPids].every(isAlive)) return undefined;
    return { ...facts, env: readEnvFile(join(folder, 'dev.env')) };
  } catch {
    // Not there, or half gone: its owner is just stopping.
    return undefined;
  }
}

export function publishStack(folder: string, facts: StackFacts, env: Readonly<Record<string, string>>): void {
  writeEnvFile(join(folder, 'dev.env'), env);
  writePrivate(join(folder, 'stack.json'), `${JSON.stringify(facts, null, 2)}\n`);
}

export function withdrawStack(folder: string): void {
  rmSync(join(folder, 'stack.json'), { force: true });
  rmSync(join(folder, 'dev.env'), { force: true });
}

/** Two owners would stop each other's servers. */
export function refuseSecondOwner(folder: string): void {
  const other = attachStack({ folder });
  if (other === undefined) return;
  throw new PartnerSyncError(
    'config_invalid',
    `The stack in ${folder} is up already, kept by process ${other.ownerPid}. Use it as it is, or stop that process.`,
  );
}
