/** A MariaDB server of its own for one test file: a temporary folder, a free port of 127.0.0.1. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { endWithOwner } from '../../src/embedded/end-with-owner.js';
import { freePort } from '../../src/embedded/ports.js';
import { unprivilegedAccount } from '../../src/embedded/unprivileged-account.js';
import { eventually } from '../pipeline/shop.js';

export interface MariaDbServer {
  /** A root's connection string of the database `name`. */
  url(name: string): string;
  /** Ends the server as a power cut would, and starts it again on the same data and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const MISSING =
  'These tests need a MariaDB server (the programs mariadbd and mariadb-install-db). "npm test" gets them where it can.';

/** As root the server runs under another account; which, is all the same. */
const ACCOUNT = unprivilegedAccount();

/** Debian keeps the server where only root looks. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` };

/** `settings`: arguments of the server's own; of a folder that it can read, say. */
export async function startMariaDb(settings: readonly string[] = []): Promise<MariaDbServer> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-mariadb-'));
  chmodSync(folder, 0o755);
  giveTo(folder);
  const account = ACCOUNT === undefined ? [] : [`--user=${ACCOUNT.name}`];
  const data = join(folder, 'data');
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  giveTo(temporary);
  // A server that starts deletes all temporary tables in its folder, and one that uses them fails then; install-db starts one too.
  const ownTemporary = `--tmpdir=${temporary}`;
  const installed = spawnSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      ...account,
      `--datadir=${data}`,
      ownTemporary,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
    ],
    { encoding: 'utf8', env },
  );
  if (installed.error !== undefined) throw new Error(MISSING, { cause: installed.error });
  if (installed.status !== 0) throw new Error(`mariadb-install-db failed: ${installed.stderr}`);

  const port = await freePort();
  const log = join(folder, 'log.err');
  const url = (name: string): string => `mariadb://root@127.0.0.1:${port}/${name}`;
  const launch = async () => {
    const server = spawn(
      'mariadbd',
      [
        '--no-defaults',
        ...account,
        `--datadir=${data}`,
        `--socket=${join(folder, 'socket')}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        `--log-error=${log}`,
        ownTemporary,
        // Losing this database in a power cut loses nothing.
        '--innodb-flush-log-at-trx-commit=0',
        '--innodb-buffer-pool-size=64M',
        // Far from the session's UTC: what leaks in from the system's zone shows.
        '--default-time-zone=+05:30',
        ...settings,
      ],
      { stdio: 'ignore', env },
    );
    endWithOwner(server);
    let isToEnd = false;
    const ended = new Promise<void>((resolve) =>
      server.once('exit', (code, signal) => {
        // The tests only see refused connections then; why it ended, they could never say.
        resolve();
        if (!isToEnd && existsSync(log))
          console.error(`mariadbd ended (${code ?? signal}): ${readFileSync(log, 'utf8')}`);
      }),
    );
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      isToEnd = true;
      server.kill(signal);
      await ended;
    };
    try {
      await eventually('MariaDB answers', async () => {
        if (server.exitCode !== null) throw new Error(`mariadbd ended: ${readFileSync(log, 'utf8')}`);
        const connection = await mysql
          .createConnection(url('mysql').replace('mariadb:', 'mysql:'))
          .catch(() => undefined);
        await connection?.end();
        return connection !== undefined;
      });
    } catch (error) {
      await end('SIGTERM');
      throw error;
    }
    return end;
  };
  let end = await launch();
  return {
    url,
    async restart() {
      await end('SIGKILL');
      end = await launch();
    },
    async stop() {
      await end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Lets the server's account have a file or folder. */
export function giveTo(path: string): void {
  if (ACCOUNT !== undefined) chownSync(path, ACCOUNT.uid, ACCOUNT.gid);
}
