/**
 * Loaded before a worker of a campaign (`node --import`), in its main thread and in its reading thread: puts the points into the
 * files of the product as they are loaded, and kills the process at a point that the campaign has named.
 *
 * `CAMPAIGN_ARMED` is a file with the points at which a worker is to die. `CAMPAIGN_WORKER` begins the names of two files of this
 * worker: `.died` gets the point at which it has died, and `.holds` the partitions that it acquires, each with its fencing token.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';

const { CAMPAIGN_ARMED: armed, CAMPAIGN_WORKER: path } = process.env;

globalThis.campaignPoint = (name, partition) => {
  if (partition !== undefined) appendFileSync(`${path}.holds`, `${partition.id} ${partition.fencingToken}\n`);
  try {
    if (!JSON.parse(readFileSync(armed, 'utf8')).includes(name)) return;
    // Of several workers that come to such a point in the same moment, one takes the file away.
    renameSync(armed, `${path}.died`);
  } catch {
    return;
  }
  writeFileSync(`${path}.died`, name);
  process.kill(process.pid, 'SIGKILL');
};

register(new URL('point-hooks.mjs', import.meta.url));
