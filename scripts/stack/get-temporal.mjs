/**
 * Finds or obtains the Temporal CLI: from PATH, the cache, the SDK's download, or a build with Go.
 * Prints {"path","how"} as JSON on standard output, and progress on standard error. Plain Node, no dependency.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setInterval } from 'node:timers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { holdLock } from './lock-file.mjs';

const VERSION = '1.5.1';
const PACKAGE = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
const EXE = process.platform === 'win32' ? '.exe' : '';
/** Without a network a download may hang before its first byte; on a slow one it takes minutes. */
const FIRST_BYTE_LIMIT_MS = 20_000;
const DOWNLOAD_LIMIT_MS = 300_000;

const say = (line) => process.stderr.write(`${line}\n`);

/** In the user's cache, so that every checkout on the machine shares one download or build. */
export const cacheFolder = () =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'partner-sync', `temporal-cli-${VERSION}`);

const cachedBinary = () => join(cacheFolder(), `temporal${EXE}`);

/** The CLI if it needs neither a download nor a build, otherwise undefined. */
export function presentTemporal() {
  const onPath = findOnPath('temporal');
  if (onPath) return { path: onPath, how: 'PATH' };
  return isExecutable(cachedBinary()) ? { path: cachedBinary(), how: 'cache' } : undefined;
}

/** Finds the CLI or obtains it under a lock; throws with all failed attempts and what to do. */
async function getTemporal() {
  const present = presentTemporal();
  if (present) return present;
  mkdirSync(cacheFolder(), { recursive: true });
  const release = await holdLock(join(cacheFolder(), 'lock'), () =>
    say('Waiting for another process that is obtaining the Temporal CLI ...'),
  );
  try {
    // The previous holder of the lock may have obtained it.
    const meanwhile = presentTemporal();
    if (meanwhile) return meanwhile;
    const failures = [`PATH: no "temporal"`, `cache: no ${cachedBinary()}`];
    for (const [how, attempt] of [
      ['download', download],
      ['go', buildWithGo],
    ]) {
      const partial = mkdtempSync(join(cacheFolder(), 'partial-'));
      try {
        // Created in its own folder and renamed, so that an interrupted attempt is never mistaken for the program.
        renameSync(await attempt(partial), cachedBinary());
        return { path: cachedBinary(), how };
      } catch (error) {
        failures.push(`${how}: ${error.message}`);
      } finally {
        rmSync(partial, { recursive: true, force: true });
      }
    }
    throw new Error(
      `The Temporal CLI was not found. Looked at:\n${failures.map((f) => `  - ${f}`).join('\n')}\n` +
        'Do one of these: install the Temporal CLI so that "temporal" is on PATH; install Go 1.25 or newer so that ' +
        'it can be built; or set TEMPORAL_ADDRESS to a Temporal server of yours.',
    );
  } finally {
    release();
  }
}

/** Downloads with the SDK, in a child process since the SDK's download cannot be cancelled. Returns the file. */
async function download(folder) {
  try {
    import.meta.resolve('@temporalio/testing');
  } catch {
    throw new Error('skipped, since the Temporal SDK is not installed (yet)');
  }
  say('Looking for a download of the Temporal CLI ...');
  const script = fileURLToPath(new URL('download-temporal.mjs', import.meta.url));
  await run(process.execPath, [script, folder], (child) => [
    setTimeout(() => readdirSync(folder).length === 0 && child.kill('SIGKILL'), FIRST_BYTE_LIMIT_MS),
    setTimeout(() => child.kill('SIGKILL'), DOWNLOAD_LIMIT_MS),
  ]);
  const file = readdirSync(folder).find((name) => isExecutable(join(folder, name)));
  if (!file) throw new Error('nothing was downloaded');
  return join(folder, file);
}

/** Builds with `go install` into the folder. Returns the file. */
async function buildWithGo(folder) {
  const go = findOnPath('go');
  if (!go) throw new Error('no "go" on PATH');
  say(`Building the Temporal CLI ${VERSION} with Go: this takes two to three minutes, once.`);
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  process.env.GOBIN = folder;
  // The CLI is pure Go, so no C compiler is needed.
  process.env.CGO_ENABLED = '0';
  await run(go, ['install', PACKAGE], () => [
    setInterval(() => say(`Building the Temporal CLI ... ${seconds()}`), 15_000),
  ]);
  say(`Built the Temporal CLI in ${seconds()}.`);
  return join(folder, `temporal${EXE}`);
}

/**
 * Runs a program to its end. `timersFor` starts timers, which are cleared at the end. Rejects with the reason from its error
 * output.
 */
function run(command, args, timersFor) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => (words = (words + chunk).slice(-2_000)));
    const timers = timersFor(child);
    process.once('SIGTERM', () => child.kill());
    child.once('error', reject);
    child.once('close', (code, signal) => {
      timers.forEach((timer) => clearTimeout(timer));
      if (code === 0) resolve();
      else reject(new Error(signal ? 'took too long' : lastLine(words) || `exit code ${code}`));
    });
  });
}

/** The line that states the reason: the last one or, in a stack trace of Node, the one with the error. */
function lastLine(words) {
  const lines = words.trim().split('\n');
  return (lines.find((line) => line.includes('Error:')) ?? lines.at(-1)).trim().slice(0, 160);
}

/** The first executable of this name on PATH or in one of the further folders; undefined if there is none. */
export function findOnPath(name, further = []) {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...further];
  return folders.map((folder) => join(folder, name + EXE)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    process.stdout.write(`${JSON.stringify(await getTemporal())}\n`);
  } catch (error) {
    // An early start, before npm has installed the SDK, may fail; the command searches again later.
    if (!process.argv.includes('--quiet')) say(error.message);
    process.exitCode = 1;
  }
}
