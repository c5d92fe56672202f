/**
 * Keeps track of everything that a benchmark run has started, so that all of it is stopped at the end, on a failure and
 * on Ctrl-C.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithOwner } from '../scripts/stack/end-with-owner.mjs';

/** The servers and processes of a run. */
export class Owned {
  #starting = [];
  #closed = false;

  /**
   * Starts something that has a `stop()`. It is owned from this moment: an interrupt during its start waits for it and
   * then stops it. Never resolves once {@link stopAll} was called.
   */
  start(begin) {
    if (this.#closed) return new Promise(() => {}); // stopping: no caller may continue from here
    const entry = begin();
    this.#starting.push(entry);
    return entry;
  }

  /** Stops one thing before the end of the run. */
  async stop(thing) {
    for (const entry of this.#starting) {
      if ((await entry.catch(() => undefined)) !== thing) continue;
      await thing.stop();
      this.#starting.splice(this.#starting.indexOf(entry), 1);
      return;
    }
  }

  /** Stops everything, most recent first. Never throws: what cannot be stopped is passed to `report` as a message. */
  async stopAll(report) {
    this.#closed = true;
    for (const entry of this.#starting.splice(0).reverse()) {
      try {
        await (await entry.catch(() => undefined))?.stop();
      } catch (error) {
        report(`could not stop: ${error.message}`);
      }
    }
  }
}

/**
 * Starts a child process in a group of its own, so that a terminal's Ctrl-C reaches only this process, which decides
 * the order of stopping.
 *
 * `ended` resolves with the exit code or the signal's name; `stop` sends SIGTERM and, after `graceMs`, SIGKILL to the
 * group. The child writes to the files `<logs>/<name>.out` and `.log`: reading its pipes would take CPU time here and
 * slow it down.
 */
export async function spawnOwned(command, args, { name, logs, env = {}, cwd, graceMs = 10_000 }) {
  const files = [join(logs, `${name}.out`), join(logs, `${name}.log`)];
  const [out, log] = files.map((file) => openSync(file, 'w'));
  const child = spawn(command, args, {
    cwd,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', out, log],
  });
  closeSync(out);
  closeSync(log);
  let ending;
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve((ending = signal ?? code))));
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  endWithOwner(child);
  return {
    pid: child.pid,
    ended,
    /** Everything written to standard output so far. */
    output: () => readFileSync(files[0], 'utf8'),
    /** The end of both outputs, for a message. */
    tail: () => files.map(tailOf).join(''),
    async stop() {
      if (ending !== undefined) return;
      child.kill('SIGTERM');
      const last = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), graceMs);
      await ended;
      clearTimeout(last);
    },
  };
}

function tailOf(file) {
  const text = readFileSync(file, 'utf8').trimEnd();
  return text === '' ? '' : `\n--- ${file}\n${text.split('\n').slice(-8).join('\n')}`;
}
