/** Vitest's settings for mutation testing of code whose tests need real servers: those that all tests share. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS']!) as string[],
    globalSetup: ['test/servers.ts'],
    env: { TZ: 'America/St_Johns', TEMPORAL_DEBUG: '1' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
  },
});
