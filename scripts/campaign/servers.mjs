/**
 * What workers run against: a server or file for the source, PostgreSQL servers for ledger and sandbox, a Temporal server on its database file,
 * the sandbox as a process, and a proxy before each of them. Each can be killed on its own; it comes back at its old address.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProxy } from './proxy.mjs';
import { startProcess } from './process.mjs';
import { TENANTS } from './shop.mjs';

const SECRET = 'a secret of campaigns, long enough for HS256';
const embedded = (name) => import(new URL(`../../dist/src/embedded/${name}.js`, import.meta.url));

/** The ledger keeps PostgreSQL's defaults, as in production. What stands for the outside need not survive a power cut. */
const SETTINGS = {
  ledger: { shared_buffers: '256MB', max_wal_size: '2GB' },
  store: { fsync: 'off', shared_buffers: '256MB', max_wal_size: '2GB' },
};

/** How the sandbox behaves. It takes fewer records than the sync puts into a batch, so each worker splits its first ones. */
const sandboxSettings = ({ batchSize, processingDelay }) => ({
  processingDelay,
  maxRecordsPerBatch: Math.ceil(batchSize * 0.8),
  batchesAtOnce: 4,
  expiryCheckInterval: 500,
});

/**
 * @param {string} folder kept between campaigns that are resumed
 * @param how `pace`: `batchSize`, and the sandbox's `processingDelay` in ms; `database`: that of the source, one of SOURCES; `feed`:
 *   its kind, or null; `program`: that of the source's PostgreSQL, if it is not the package's
 */
export async function startServers(folder, { pace, database, feed, program }, log) {
  mkdirSync(folder, { recursive: true });
  // PostgreSQL does not run as root: the account that it gets must reach its folder.
  chmodSync(folder, 0o755);
  const [
    { startPostgres },
    { findTemporal },
    { startTemporal },
    { rememberedPorts },
    { isAlive },
    { unprivilegedAccount },
  ] = await Promise.all(
    [
      ...['postgres-server', 'temporal-cli', 'temporal-server', 'ports', 'detached-process'],
      'unprivileged-account',
    ].map(embedded),
  );
  const { path } = await findTemporal({ log });
  const ports = await rememberedPorts(join(folder, 'ports.json'), ['sandbox', 'mariadb']);
  const starts = {
    source: () =>
      database.start({
        folder: join(folder, 'source'),
        port: ports.mariadb,
        account: unprivilegedAccount(),
        feed,
        program,
        startPostgres,
      }),
    ...Object.fromEntries(
      Object.entries(SETTINGS).map(([name, settings]) => [
        name,
        () => startPostgres({ folder: join(folder, name), settings, log: () => {} }),
      ]),
    ),
    temporal: () => startTemporal({ path, folder: join(folder, 'temporal'), log: () => {} }),
    sandbox: () => startSandbox(),
  };
  const running = {};
  const sandboxPort = ports.sandbox;

  async function startSandbox() {
    const files = {
      fixture: { tenants: Object.values(TENANTS).map((id) => ({ id, name: id })) },
      settings: sandboxSettings(pace),
    };
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, `sandbox-${name}.json`), JSON.stringify(content));
    const argument = (name) => [`--${name}`, join(folder, `sandbox-${name}.json`)];
    const env = {
      SANDBOX_STATE_URL: running.store.url('sandbox'),
      SANDBOX_JWT_SECRET: SECRET,
      PARTNER_SYNC_LOG_LEVEL: 'error',
    };
    return startProcess(['sandbox', '--port', String(sandboxPort), ...argument('fixture'), ...argument('settings')], {
      ready: 'sandbox ready',
      env,
      cwd: folder,
      logFile: join(folder, 'sandbox.log'),
    });
  }

  /** A server that was killed may hold its port and its memory for a moment. */
  async function start(name) {
    for (let attempt = 1; ; attempt++) {
      try {
        return (running[name] = await starts[name]());
      } catch (error) {
        if (attempt === 5) throw error;
        await sleep(1000);
      }
    }
  }

  const stopAll = async () => {
    for (const name of ['sandbox', 'temporal', 'store', 'ledger', 'source'])
      await running[name]?.stop().catch(() => {});
  };
  try {
    await Promise.all(['source', 'ledger', 'store', 'temporal'].map(start));
    await running.source.create();
    await running.ledger.createDatabase('ledger');
    for (const name of ['sandbox', 'compared']) await running.store.createDatabase(name);
    await start('sandbox');
  } catch (error) {
    await stopAll();
    throw error;
  }
  const proxies = {
    ...(running.source.port !== undefined && { source: await startProxy(running.source.port) }),
    ledger: await startProxy(running.ledger.port),
    temporal: await startProxy(Number(running.temporal.address.split(':')[1])),
    sandbox: await startProxy(sandboxPort),
  };
  const through = (url, proxy) =>
    proxy === undefined ? url : Object.assign(new URL(url), { port: String(proxy.port) }).href;
  const { mintToken } = await import('../../dist/src/sandbox/token.js');
  const token = await mintToken({ secret: SECRET, scope: 'platform', expiresIn: '30d' });
  return {
    proxies,
    sandboxUrl: `http://127.0.0.1:${sandboxPort}`,
    /** Direct addresses, for the campaign itself. */
    urls: {
      source: running.source.url,
      ledger: running.ledger.url('ledger'),
      store: running.store.url('sandbox'),
      /** For a copy of the source's rows that is compared. */
      compared: running.store.url('compared'),
      temporal: running.temporal.address,
    },
    /** What workers run with: everything through a proxy. */
    env: {
      SOURCE_URL: through(running.source.url, proxies.source),
      PARTNER_SYNC_STATE_URL: through(running.ledger.url('ledger'), proxies.ledger),
      PARTNER_SYNC_MAPPINGS: join(folder, 'mappings'),
      TEMPORAL_ADDRESS: `127.0.0.1:${proxies.temporal.port}`,
      PLATFORM_BASE_URL: `http://127.0.0.1:${proxies.sandbox.port}`,
      PLATFORM_TOKEN: token,
      PARTNER_SYNC_LOG_LEVEL: 'warn',
    },
    /** Ends a server at once and starts it again after `ms`. `signal`: SIGKILL, or PostgreSQL's SIGQUIT (immediate). */
    async crash(name, signal, ms) {
      const { pid } = running[name];
      process.kill(pid, signal);
      while (isAlive(pid)) await sleep(20);
      await sleep(ms);
      await start(name);
    },
    pidOf: (name) => running[name].pid,
    async stop() {
      for (const proxy of Object.values(proxies)) proxy.close();
      await stopAll();
    },
  };
}
