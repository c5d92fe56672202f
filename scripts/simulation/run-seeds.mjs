/** Runs seeds in several processes side by side. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * @param {string} file the bundle of the simulation
 * @param {Iterable<number>} seeds each is given to the next process that is free
 * @param {{ jobs: number, traced?: boolean }} options
 * @param {(result: object) => boolean | void} each called with each result, in the order in which they end; true ends all
 */
export async function runSeeds(file, seeds, { jobs, traced = false }, each) {
  const queue = seeds[Symbol.iterator]();
  const running = new Set();
  const one = () =>
    new Promise((resolve) => {
      const args = ['--no-deprecation', file, ...(traced ? ['--trace'] : [])];
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      running.add(child);
      const feed = () => {
        const { done, value } = queue.next();
        if (done) child.stdin.end();
        else child.stdin.write(`${value}\n`);
      };
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (each(JSON.parse(line)) === true) for (const other of running) other.kill();
        else feed();
      });
      child.stdin.on('error', () => undefined);
      child.on('close', () => {
        running.delete(child);
        resolve();
      });
      feed();
    });
  await Promise.all(Array.from({ length: jobs }, one));
}
