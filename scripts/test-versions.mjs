/**
 * Runs tests on several versions of PostgreSQL and Node, and on other databases, and records the results in
 * docs/reliability/versions.json and versions.md: npm run test:versions [-- --no-record] [-- "PostgreSQL 12" "Node 24"].
 * Plain Node, no dependency.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithOwner } from './stack/end-with-owner.mjs';
import { npmCli } from './stack/npm-cli.mjs';
import { providePrerequisites } from './test-prerequisites.mjs';
import { pageOf } from './versions/page.mjs';
import { SUBJECTS, SUITES } from './versions/subjects.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = join(ROOT, 'docs/reliability/versions.json');
const PAGE = join(ROOT, 'docs/reliability/versions.md');
/** Ignored by git; kept, so that nothing is installed twice. */
const INSTALLED = join(ROOT, '.partner-sync/versions');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');

/** The name of a folder or file for a subject. */
const slugOf = (name) => name.toLowerCase().replaceAll(' ', '-');

const words = process.argv.slice(2);
const records = !words.includes('--no-record');
const names = words.filter((word) => !word.startsWith('--'));
const unknown = names.filter((name) => !SUBJECTS.some((subject) => subject.name === name));
if (unknown.length > 0) fail(`Unknown: ${unknown.join(', ')}; known: ${SUBJECTS.map(({ name }) => name).join(', ')}.`);
const { commit, changed } = treeNow();
if (records && changed) fail('The code differs from its commit, so the results would be those of no commit.');

let failures = 0;
for (const subject of SUBJECTS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const result = await resultOf(subject);
  const { name, version, passed, failed, leftOut } = result;
  console.log(
    `${failed === 0 && passed > 0 ? 'ok     ' : 'FAILED '} ${name} (${version}): ${passed} passed, ${failed} failed, ${leftOut} left out`,
  );
  if (failed > 0 || passed === 0) failures += 1;
  if (records) record(result);
}
process.exitCode = failures === 0 ? 0 : 1;

/** Installs what the subject needs, and runs its tests. */
async function resultOf(subject) {
  const { name, suite, only } = subject;
  const modules = subject.install === undefined ? ((await subject.obtain?.()) ?? '') : install(subject);
  const { files } = SUITES[suite];
  const { env, leftOut } = subject.env
    ? { env: subject.env(modules), leftOut: [] }
    : await providePrerequisites(ROOT, files, runNode);
  for (const line of leftOut) console.error(line);
  const report = join(INSTALLED, `${slugOf(name)}.json`);
  rmSync(report, { force: true });
  await runNode(
    [
      VITEST,
      'run',
      ...files,
      ...(only ? ['-t', only] : []),
      // It is about versions, not about time: a busy machine must not look like a version that is not supported.
      '--testTimeout=300000',
      '--reporter=dot',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    { env: { ...process.env, ...env, CI: 'true' }, node: subject.node?.(modules) },
  );
  const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites, success } = existsSync(report)
    ? JSON.parse(readFileSync(report, 'utf8'))
    : { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numFailedTestSuites: 1, success: false };
  return {
    name,
    version: versionOf(subject, modules, env),
    suite,
    passed: numPassedTests,
    // A run that failed outside its tests is a failure too.
    failed: numFailedTests + (success || numFailedTests > 0 ? 0 : Math.max(1, numFailedTestSuites)),
    // With a filter of titles, tests that others are about are not left out.
    leftOut: only ? 0 : numPendingTests,
    date: new Date().toISOString().slice(0, 10),
    commit,
  };
}

/** Replaces the result of the subject, so that one that was not run now keeps its date and commit. */
function record(result) {
  const before = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
  const results = SUBJECTS.flatMap(({ name }) => [result, ...before].find((each) => each.name === name) ?? []);
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(PAGE, pageOf(results));
}

/** The folder node_modules with the subject's package, which is installed if it is not there. */
function install({ name, install: wanted }) {
  const folder = join(INSTALLED, slugOf(name));
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest) || !readFileSync(manifest, 'utf8').includes(nameAndRange(wanted))) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--save-exact', '--no-audit', '--no-fund', '--loglevel=error', wanted];
    const { status, stderr } = spawnSync(process.execPath, [npmCli(), ...args], { cwd: folder, encoding: 'utf8' });
    if (status !== 0) fail(`npm could not install ${wanted}: ${stderr}`);
  }
  return join(folder, 'node_modules');
}

/** A part of package.json that shows that this very package is installed. */
function nameAndRange(wanted) {
  const [, name, range] = /^(@?[^@]+)@(.+)$/.exec(wanted);
  return `"${name}": "${range}`;
}

function versionOf({ version }, modules, { PATH = process.env.PATH } = {}) {
  const [program, ...args] = version(modules);
  const { stdout } = spawnSync(program, args, { encoding: 'utf8', cwd: ROOT, env: { ...process.env, PATH } });
  return /\d+(\.\d+)+/.exec(stdout ?? '')?.[0] ?? 'unknown';
}

/** The commit that is checked out, and whether the code that is tested differs from it. */
function treeNow() {
  const git = (...args) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.trim();
  const code = ['src', 'activities', 'workflows', 'test', 'package-lock.json'];
  return { commit: git('rev-parse', '--short=7', 'HEAD'), changed: git('status', '--porcelain', '--', ...code) !== '' };
}

/** Runs a Node program to its end. */
function runNode(args, { node = process.execPath, ...how } = {}) {
  return new Promise((resolve) => {
    const child = spawn(node, args, { cwd: ROOT, stdio: 'inherit', ...how });
    endWithOwner(child);
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
