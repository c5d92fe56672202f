/** How V8 keeps house and compiles in this process, and in threads that it starts from now on (docs/performance.md). */
import { setFlagsFromString } from 'node:v8';

/**
 * What V8 reads once, when it starts: it has to stand on Node's command line. Two halves of 16 MiB for the young of the main
 * thread, which is V8's own choice in Node 20; later ones take up to four times as much, for nothing that was measured.
 */
export const ENGINE_OPTIONS: readonly string[] = ['--max-semi-space-size=16'];

export const ENGINE_FLAGS: readonly string[] = [
  // Threads have limits of their own for the young, which the option would override.
  '--max-semi-space-size=0',
  // V8 puts what comes from a place whose objects lived on before straight among the old: rows of a page that happened to
  // be on its way at a collection are enough. There they are dead soon, and keep alive all that they refer to.
  '--no-allocation-site-pretenuring',
  // Collections of the young are so short that several threads for each cost more than they give.
  '--no-parallel-scavenge',
  // The old are collected when they are three times what the last collection left. V8 would often wait longer.
  '--heap-growing-percent=200',
  // A third of what V8 puts of other functions into one that it compiles: compiling took a twelfth of a load's processor time,
  // and the code is as fast.
  '--max-inlined-bytecode-size-cumulative=300',
];

export function setEngineFlags(): void {
  for (const flag of ENGINE_FLAGS) setFlagsFromString(flag);
}
