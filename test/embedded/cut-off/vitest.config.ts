// The tests' own configuration, with the two files of this folder.
import { defineConfig } from 'vitest/config';
import { fileURLToPath } from 'node:url';
import shared from '../../../vitest.config.js';

export default defineConfig({
  test: {
    ...shared.test,
    root: fileURLToPath(new URL('../../..', import.meta.url)),
    include: ['test/embedded/cut-off/{fails,waits}.ts'],
    projects: undefined,
  },
});
