/** Vitest's settings for mutants of the ledger's SQL: a real PostgreSQL, and one test file after the other, in the order that is asked for. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

class AsGiven extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }
}

export default defineConfig({
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS']!) as string[],
    globalSetup: ['test/servers.ts'],
    setupFiles: ['scripts/mutation/note-sql.ts'],
    env: { TZ: 'America/St_Johns', TEMPORAL_DEBUG: '1' },
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    bail: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: { sequencer: AsGiven },
  },
});
