/**
 * Loaded before a worker of a campaign (`node --import`), in its main thread and in its reading thread: puts the points into the
 * files of the product as they are loaded, and kills the process at the point that the campaign has named.
 *
 * `CAMPAIGN_WORKER` is a path of this worker alone: `<path>.armed` contains the name of the point at which it is to die, and
 * `<path>.holds` gets the partitions that it acquires, each with its fencing token.
 */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';

const path = process.env.CAMPAIGN_WORKER;

globalThis.campaignPoint = (name, partition) => {
  if (partition !== undefined) appendFileSync(`${path}.holds`, `${partition.id} ${partition.fencingToken}\n`);
  if (armedFor() !== name) return;
  rmSync(`${path}.armed`);
  writeFileSync(`${path}.died`, name);
  process.kill(process.pid, 'SIGKILL');
};

function armedFor() {
  try {
    return readFileSync(`${path}.armed`, 'utf8');
  } catch {
    return undefined;
  }
}

register(new URL('point-hooks.mjs', import.meta.url));
