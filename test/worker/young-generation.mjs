/**
 * Prints how large the young generation becomes, in bytes, where much of what is made lives for a while: in the main
 * thread, and in one with a limit of its own. Arguments are flags of V8 to set first.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

function largest() {
  const youngBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
  const alive = [];
  let most = 0;
  for (let i = 0; i < 4_000_000; i++) {
    alive[i % 400_000] = { number: i, list: [i] };
    if (i % 20_000 === 0) most = Math.max(most, youngBytes());
  }
  return most;
}

if (isMainThread) {
  process.argv.slice(2).forEach(setFlagsFromString);
  const thread = new Worker(new URL(import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: 24 } });
  thread.once('message', (inThread) => console.log(JSON.stringify({ main: largest(), inThread })));
} else {
  parentPort.postMessage(largest());
}
