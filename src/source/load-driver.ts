/** The drivers that partner-sync does not bring along: a source loads the one that it needs, when it is opened. */
import { createRequire } from 'node:module';
import { PartnerSyncError } from '../domain/errors.js';

/** Optional peer dependencies of package.json, with the versions that it asks for. */
export const DRIVERS = {
  mysql2: { database: 'MySQL and MariaDB', version: '3' },
  'better-sqlite3': { database: 'SQLite', version: '12' },
  tedious: { database: 'SQL Server', version: '18' },
} as const;

type DriverName = keyof typeof DRIVERS;

const load = createRequire(import.meta.url);

/**
 * The driver's module. Throws `driver_missing`, with the command that installs it, if it is missing.
 *
 * Synchronous, so that a source without its driver fails where it is opened and not at its first query; all three
 * drivers are CommonJS modules.
 */
export function loadDriver<Driver>(name: DriverName): Driver {
  try {
    return load(name) as Driver;
  } catch (error) {
    const { database, version } = DRIVERS[name];
    throw new PartnerSyncError(
      'driver_missing',
      `the driver of ${database} is not installed; in the project that runs partner-sync: npm install ${name}@${version}`,
      {},
      { cause: error },
    );
  }
}
