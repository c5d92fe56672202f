/** Finds the Temporal CLI, which is also Temporal's dev server: installed, cached, downloaded, or built with Go. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { PartnerSyncError } from '../domain/errors.js';
import { endWithOwner } from './end-with-owner.js';
import { packageRoot } from './package-root.js';

export interface TemporalCli {
  readonly path: string;
  /** Where it came from: `PATH`, `cache`, `download` or `go`. */
  readonly how: string;
}

export interface FindTemporalInput {
  readonly log: (line: string) => void;
  /** Default: the environment of this process. Tests give one with a PATH and a cache of their own. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * The search itself is scripts/get-temporal.mjs, in plain Node, since a first `npm run demo` starts the build before
 * `npm ci` has installed anything; a second search waits for the first one's build instead of starting another.
 */
export async function findTemporal({ log, env = process.env }: FindTemporalInput): Promise<TemporalCli> {
  const child = spawn(process.execPath, [join(packageRoot(), 'scripts', 'get-temporal.mjs')], {
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
