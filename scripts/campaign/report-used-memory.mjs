/**
 * Loaded before a worker of a soak (`node --import`), in each of its threads: collects all garbage once a minute and writes down
 * what is left. Resident memory says little about a leak: it rises and falls by a hundred MiB with the moment of the last
 * collection.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { threadId } from 'node:worker_threads';
import { fileOf } from './used-memory.mjs';

const MINUTE_MS = 60_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

async function watch() {
  while (true) {
    await sleep(MINUTE_MS - (Date.now() % MINUTE_MS), undefined, { ref: false });
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    writeFileSync(
      fileOf(process.env.CAMPAIGN_WORKER, threadId),
      JSON.stringify({ at: Date.now(), bytes: heapUsed + external }),
    );
  }
}
void watch();
