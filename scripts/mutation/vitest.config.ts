/** Vitest's settings for mutation testing: the test files that a target names, which need no server. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS']!) as string[],
    env: { TZ: 'America/St_Johns' },
    testTimeout: 60_000,
    isolate: false,
  },
});
