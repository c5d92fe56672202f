/**
 * V8's settings for garbage collection and compilation, for this process and for threads that it starts later
 * (docs/performance.md).
 */
import { setFlagsFromString } from 'node:v8';

/**
 * Options that V8 reads only at start-up, so they belong on Node's command line.
 *
 * They set the young generation of the main thread to two halves of 16 MiB, the default of Node 20. Later versions use
 * up to four times as much, without a measured benefit.
 */
export const ENGINE_OPTIONS: readonly string[] = ['--max-semi-space-size=16'];

/** Flags that V8 accepts while it runs; they take effect for this process and its later threads. */
export const ENGINE_FLAGS: readonly string[] = [
  // Threads set their own limits for the young generation, which the option above would override.
  '--max-semi-space-size=0',
  // V8 allocates directly in the old generation at sites whose objects survived before; rows of a page in transit
  // during a collection are enough. There they soon die, and keep everything that they refer to alive.
  '--no-allocation-site-pretenuring',
  // Collections of the young generation are so short that parallel threads cost more than they save.
  '--no-parallel-scavenge',
  // Collect the old generation at three times what the last collection left; V8 would often wait longer.
  '--heap-growing-percent=200',
  // Inline a third of V8's default. Compilation took a twelfth of the processor time of a load, and the code is as
  // fast.
  '--max-inlined-bytecode-size-cumulative=300',
];

/** Applies {@link ENGINE_FLAGS}; call it before starting threads. */
export function setEngineFlags(): void {
  for (const flag of ENGINE_FLAGS) setFlagsFromString(flag);
}
