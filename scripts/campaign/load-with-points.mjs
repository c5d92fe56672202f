/**
 * Loaded before a worker of a campaign (`node --import`), in its main thread and in its reading thread: puts the points into the
 * files of the product as they are loaded, and kills the process at a point that the campaign has named.
 *
 * `CAMPAIGN_WORKER` is a path of this worker alone: `<path>.armed` is a list of the points at which it is to die, `<path>.died`
 * gets the one at which it has died, and `<path>.holds` gets the partitions that it acquires, each with its fencing token.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';

const path = process.env.CAMPAIGN_WORKER;

globalThis.campaignPoint = (name, partition) => {
  if (partition !== undefined) appendFileSync(`${path}.holds`, `${partition.id} ${partition.fencingToken}\n`);
  if (!isArmedFor(name)) return;
  writeFileSync(`${path}.died`, name);
  process.kill(process.pid, 'SIGKILL');
};

function isArmedFor(name) {
  try {
    return JSON.parse(readFileSync(`${path}.armed`, 'utf8')).includes(name);
  } catch {
    // Mostly there is no such file; or it is being written.
    return false;
  }
}

register(new URL('point-hooks.mjs', import.meta.url));
