/** The real servers that the tests share: one PostgreSQL and one Temporal dev server, started once for a run. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../src/embedded/postgres.js';
import { findTemporal, startTemporal } from '../src/embedded/temporal.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's connection string of the database `postgres`; a test creates a database or schema of its own. */
    postgresUrl: string;
    /** host:port; the namespace is `default`. A test takes a task queue of its own. */
    temporalAddress: string;
  }
}

export default async function servers(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-test-'));
  // As root, PostgreSQL runs under another account, which must be able to enter.
  chmodSync(folder, 0o755);
  const log = (line: string): void => console.error(line);
  log('Starting PostgreSQL and Temporal for the tests ...');
  const [postgres, temporal] = await Promise.allSettled([
    // Losing this database in a power cut loses nothing, and without waiting for the disk the tests are faster.
    startPostgres({ folder: join(folder, 'postgres'), log, settings: { fsync: 'off', max_connections: '300' } }),
    findTemporal({ log }).then(({ path }) => startTemporal({ path, folder: join(folder, 'temporal'), log })),
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
  return teardown;
}
