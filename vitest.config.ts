// The shared real servers (PostgreSQL, Temporal) are started once, by test/servers.ts.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.js';

/** Files that need a process to themselves. */
const ALONE = [
  // Measures the memory of its process.
  'test/sandbox/random-requests.test.ts',
  // These replace a module of Node's for all that they load.
  'test/delivery/recover-partition.test.ts',
  'test/source/sqlite-change-table.test.ts',
  'test/cli/init-feeds.test.ts',
];

/** `npm run record-histories` runs what writes files, and nothing else. */
const TOGETHER =
  process.env['RECORD_HISTORIES'] === 'true' ? ['test/workflows/record-histories.ts'] : ['test/**/*.test.{ts,tsx}'];

const EACH = {
  setupFiles: ['test/ends-with-its-run.ts'],
  pool: 'forks' as const,
  // Most objects die young, and a larger young generation has to be collected less often.
  execArgv: ['--max-semi-space-size=64'],
  // Five more than there are cores, for many files wait most of the time: with two more, an eighth of the processor time
  // was unused. Beyond eight the server's connections run out.
  maxWorkers: Math.min(8, availableParallelism() + 5),
  // What hangs is ended. A busy machine may take five times what an idle one takes, so no test has a shorter limit of its own.
  testTimeout: 1_500_000,
  hookTimeout: 1_500_000,
  env: {
    TZ: 'America/St_Johns',
    // Workflows of workers in the tests' own processes run without a thread of their own, whose start takes 0.3 s, and which
    // would be taken for stuck on a busy machine. Worker processes get an environment of their own.
    TEMPORAL_DEBUG: '1',
  },
};

export default defineConfig({
  test: {
    ...EACH,
    globalSetup: ['test/servers.ts'],
    sequence: { sequencer: LongestFirst },
    // They do not extend this configuration: each would start servers of its own.
    projects: [
      { test: { ...EACH, name: 'alone', include: ALONE, isolate: true } },
      // Loading the same modules anew for each file took a fifth of the processor time of all tests.
      { test: { ...EACH, name: 'together', include: TOGETHER, exclude: ALONE, isolate: false } },
    ],
  },
});
