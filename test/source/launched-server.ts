/** A server of MariaDB or MySQL that a test has started: a temporary folder, a free port of 127.0.0.1. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { endWithOwner } from '../../src/embedded/end-with-owner.js';
import { freePort } from '../../src/embedded/ports.js';
import { eventually } from '../pipeline/shop.js';

export interface LaunchedServer {
  /** A root's connection string of the database `name`. */
  url(name: string): string;
  /** Ends the server as a power cut would, and starts it again on the same data and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Program {
  readonly path: string;
  readonly scheme: 'mariadb' | 'mysql';
  /** Has the server's data, and is removed with it. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts the program, and waits until it answers. */
export async function launchServer({
  path,
  scheme,
  folder,
  args,
  env = process.env,
}: Program): Promise<LaunchedServer> {
  const port = await freePort();
  const log = join(folder, 'log.err');
  const url = (name: string): string => `${scheme}://root@127.0.0.1:${port}/${name}`;
  const launch = async () => {
    const server = spawn(
      path,
      [
        '--no-defaults',
        `--socket=${join(folder, 'socket')}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        `--log-error=${log}`,
        // Losing this database in a power cut loses nothing.
        '--innodb-flush-log-at-trx-commit=0',
        '--innodb-buffer-pool-size=64M',
        // Far from the session's UTC: what leaks in from the system's zone shows.
        '--default-time-zone=+05:30',
        ...args,
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
          console.error(`${path} ended (${code ?? signal}): ${readFileSync(log, 'utf8')}`);
      }),
    );
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      isToEnd = true;
      server.kill(signal);
      await ended;
    };
    try {
      await eventually('the server answers', async () => {
        if (server.exitCode !== null) throw new Error(`${path} ended: ${readFileSync(log, 'utf8')}`);
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
