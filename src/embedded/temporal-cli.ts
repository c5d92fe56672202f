/** Finds the Temporal CLI, which includes Temporal's dev server: installed, cached, downloaded, or built with Go. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { PartnerSyncError } from '../domain/errors.js';
import { endWithOwner } from './end-with-owner.js';
import { plainScript } from './plain-script.js';

/** An executable Temporal CLI. */
export interface TemporalCli {
  readonly path: string;
  /** Where it was found: `PATH`, `cache`, `download` or `go`. */
  readonly how: string;
}

/** How to search for the CLI. */
export interface FindTemporalInput {
  readonly log: (line: string) => void;
  /** Default: this process's environment. Tests pass one with its own PATH and cache. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Finds or obtains the CLI; a build can take minutes. Throws `config_invalid` with the ways that failed.
 *
 * The search itself is scripts/stack/get-temporal.mjs, a plain Node script, since a first `npm run demo` starts the build
 * before `npm ci` has installed anything. A second search waits for the build of the first.
 */
export async function findTemporal({ log, env = process.env }: FindTemporalInput): Promise<TemporalCli> {
  const child = spawn(process.execPath, [plainScript('get-temporal.mjs')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithOwner(child);
  let answer = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    log(line);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new PartnerSyncError('config_invalid', said.join('\n') || 'The Temporal CLI was not found.');
  return JSON.parse(answer) as TemporalCli;
}
