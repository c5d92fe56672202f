/** Tries the mutants of some files with Stryker, in a process that can be ended when the time is over. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A mutant counts as found if a test fails, or does not come to its end; otherwise it has survived, also if no test reaches it. */
const FOUND = ['Killed', 'Timeout', 'RuntimeError'];
const SURVIVED = ['Survived', 'NoCoverage'];

/**
 * Yields the result of each file: the number of its mutants, and those that survived. Nothing once `signal` was aborted.
 *
 * @throws if the tests fail without a mutant
 */
export async function* tryFiles(root, { files, tests, servers = false }, signal) {
  const folder = join(root, '.partner-sync', 'mutation');
  const report = join(folder, `report-${process.pid}.json`);
  const settings = join(folder, `settings-${process.pid}.json`);
  mkdirSync(folder, { recursive: true });
  rmSync(report, { force: true });
  writeFileSync(
    settings,
    JSON.stringify(strykerSettings(files, servers, report, join(folder, `tried-${process.pid}`))),
  );
  const code = await new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', settings], {
      cwd: root,
      env: { ...process.env, MUTATION_TESTS: JSON.stringify(tests) },
      stdio: ['ignore', 'inherit', 'inherit'],
      signal,
    });
    child.once('error', (error) => (error.name === 'AbortError' ? undefined : reject(error)));
    child.once('close', resolve);
  });
  if (signal?.aborted) return;
  if (code !== 0) throw new Error(`Stryker has ended with ${code}; the tests may fail without a mutant`);
  const tried = JSON.parse(readFileSync(report, 'utf8')).files;
  for (const file of files) yield { file, ...resultOf(tried[file]) };
}

const strykerSettings = (files, servers, report, tempDirName) => ({
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: `scripts/mutation/${servers ? 'servers.' : ''}vitest.config.ts`, related: false },
  mutate: files,
  coverageAnalysis: 'perTest',
  concurrency: 1,
  reporters: ['json'],
  jsonReporter: { fileName: report },
  tempDirName,
  ignorePatterns: ['/.git', '/.partner-sync', '/bench', '/docs', '/dist/simulation'],
  // Types are not checked: what the compiler would refuse is tried like any other mutant.
  disableTypeChecks: true,
  timeoutMS: 20_000,
  allowConsoleColors: false,
  allowEmpty: true,
});

function resultOf(tried = { source: '', mutants: [] }) {
  const counted = tried.mutants.filter(({ status }) => [...FOUND, ...SURVIVED].includes(status));
  const lines = tried.source.split('\n');
  const survivors = counted
    .filter(({ status }) => SURVIVED.includes(status))
    .map(({ location: { start, end }, replacement }) => ({
      line: start.line,
      code: oneLine(textBetween(lines, start, end)),
      mutant: oneLine(replacement ?? ''),
    }));
  return { mutants: counted.length, survivors: survivors.sort((a, b) => a.line - b.line) };
}

function textBetween(lines, start, end) {
  if (start.line === end.line) return lines[start.line - 1].slice(start.column - 1, end.column - 1);
  return [
    lines[start.line - 1].slice(start.column - 1),
    ...lines.slice(start.line, end.line - 1),
    lines[end.line - 1].slice(0, end.column - 1),
  ].join('\n');
}

const oneLine = (text) => text.replace(/\s+/g, ' ');
