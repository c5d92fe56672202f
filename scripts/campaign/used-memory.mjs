/** What the threads of a worker hold, as report-used-memory.mjs writes it down: a file for each thread. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A thread that has not written for longer has ended. */
const LATEST_MS = 90_000;

export const fileOf = (path, threadId) => `${path}.thread-${threadId}`;

/** MiB, of all threads of the worker with this path. */
export function usedBy(path) {
  const folder = dirname(path);
  return readdirSync(folder)
    .filter((name) => name.startsWith(basename(fileOf(path, ''))))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .filter(({ at }) => Date.now() - at < LATEST_MS)
    .reduce((sum, { bytes }) => sum + bytes / 1048576, 0);
}
