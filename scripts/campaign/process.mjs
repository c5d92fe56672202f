/** Processes of the built command line: the workers and the sandbox of a campaign. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithOwner } from '../stack/end-with-owner.mjs';

const CLI = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
/** More than a start takes on a busy machine. */
const LONGEST_START_MS = 120_000;
const DRAIN_MS = 20_000;

/**
 * Starts `partner-sync <args>` and resolves when it has written `ready`.
 *
 * @param {string[]} args
 * @param how `nodeOptions` stand before the program; the output is appended to `logFile`
 */
export async function startProcess(args, { ready, env, cwd, logFile, nodeOptions = [] }) {
  const log = openSync(logFile, 'a');
  const before = readFileSync(logFile, 'utf8').length;
  const child = spawn(process.execPath, [...nodeOptions, CLI, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  endWithOwner(child);
  let ending;
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve((ending = signal ?? code))));
  const output = () => readFileSync(logFile, 'utf8').slice(before);
  const deadline = Date.now() + LONGEST_START_MS;
  while (!output().includes(ready)) {
    if (ending !== undefined) throw new Error(`${args[0]} ended with ${ending}: ${output().slice(-2000)}`);
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${args[0]} is not ready: ${output().slice(-2000)}`);
    }
    await sleep(50);
  }
  return {
    pid: child.pid,
    ended,
    signal: (signal) => child.kill(signal),
    /** Lets it drain; kills it if that takes too long. */
    async stop() {
      if (ending !== undefined) return;
      child.kill('SIGTERM');
      const last = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS);
      await ended;
      clearTimeout(last);
    },
  };
}
