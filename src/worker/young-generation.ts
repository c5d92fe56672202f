/** How V8 treats what was made last, in this process and in threads that it starts from now on. */
import { setFlagsFromString } from 'node:v8';

/**
 * V8 puts what comes from a place whose objects lived on before straight among the old: rows of a page that happened to be on
 * its way at a collection are enough. There they are dead soon, and keep alive all that they refer to. And collections of the
 * young are so short that several threads for each cost more than they give (docs/performance.md).
 */
export function keepYoungWhatDiesYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString('--no-parallel-scavenge');
}
