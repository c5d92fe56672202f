/** The real servers that the tests share: one PostgreSQL and one Temporal dev server, started once for a run. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../src/embedded/postgres-server.js';
import { findTemporal } from '../src/embedded/temporal-cli.js';
import { startTemporal } from '../src/embedded/temporal-server.js';
import { POSTGRES_PROGRAM } from './postgres-program.js';
import { createRunFolder, keepTemporaryFilesIn } from './run-folder.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's connection string of the database `postgres`; a test creates a database or schema of its own. */
    postgresUrl: string;
    /** host:port; the namespace is `default`. A test takes a task queue of its own. */
    temporalAddress: string;
    /** A folder that is deleted when the run has ended; see once-per-run.ts. */
    runFolder: string;
  }
}

/** Losing these databases in a power cut loses nothing, and without precautions against it the tests are faster. */
const POSTGRES_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '500',
  max_prepared_transactions: '10',
  // A recorded history goes by a slot.
  wal_level: 'logical',
};

/**
 * Temporal's server is a Go program: a quarter of its processor time went into collecting garbage, and a sixth into handing
 * work from one thread to another.
 */
const TEMPORAL_ENV = { GOGC: '800', GOMAXPROCS: '1' };

export default async function servers(project: TestProject): Promise<() => Promise<void>> {
  const folder = createRunFolder();
  keepTemporaryFilesIn(folder);
  const log = (line: string): void => console.error(line);
  log('Starting PostgreSQL and Temporal for the tests ...');
  const [postgres, temporal] = await Promise.allSettled([
    startPostgres({
      folder: join(folder, 'postgres'),
      log,
      settings: POSTGRES_SETTINGS,
      ...POSTGRES_PROGRAM,
    }),
    findTemporal({ log }).then(({ path }) =>
      startTemporal({ path, folder: join(folder, 'temporal'), log, history: 'memory', env: TEMPORAL_ENV }),
    ),
  ]);
  const teardown = async (): Promise<void> => {
    if (temporal.status === 'fulfilled') await temporal.value.stop();
    if (postgres.status === 'fulfilled') await postgres.value.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  if (postgres.status === 'rejected' || temporal.status === 'rejected') {
    await teardown();
    throw postgres.status === 'rejected' ? postgres.reason : (temporal as PromiseRejectedResult).reason;
  }
  project.provide('postgresUrl', postgres.value.url('postgres'));
  project.provide('temporalAddress', temporal.value.address);
  project.provide('runFolder', folder);
  const made = join(folder, 'made');
  mkdirSync(made);
  // While watching, what was made from the sources before they changed must not be used again.
  project.onTestsRerun(() => {
    rmSync(made, { recursive: true });
    mkdirSync(made);
  });
  return teardown;
}
