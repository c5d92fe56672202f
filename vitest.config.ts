// One process a file; the shared real servers (PostgreSQL, Temporal) are started once by test/servers.ts.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/servers.ts'],
    setupFiles: ['test/ends-with-its-run.ts'],
    pool: 'forks',
    // Most files wait for servers most of the time.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    env: { TZ: 'America/St_Johns' },
  },
});
