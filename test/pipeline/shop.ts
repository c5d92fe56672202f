/** A partner's shop for one test file: its database, a sync folder, a sandbox behind a proxy, and a worker. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { inject, onTestFinished } from 'vitest';
import { createActivities } from '../../activities/index.js';
import { reconcileMapping, type Reconciliation } from '../../src/inspection/reconcile-mapping.js';
import { reportIn } from '../../src/runs/workflow-failure.js';
import { openRun } from '../../src/delivery/run/open-run.js';
import { pushSchemas } from '../../src/schema-push/push-schemas.js';
import { compose } from '../../src/composition/compose.js';
import type { Parts } from '../../src/composition/parts.js';
import type { RunInput, RunKind, RunReport } from '../../src/domain/run/run.js';
import { milliseconds } from '../../src/domain/timeouts.js';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server.js';
import { mintToken } from '../../src/sandbox/token.js';
import { createWorkers } from '../../src/worker/workers.js';
import { copyDatabase, createDatabase, STATE, type Database, type Template } from '../databases.js';
import { workflowBundle } from '../workflow-bundle.js';
import { startProxy, type PlatformProxy } from './platform-proxy.js';
import { filesOf, type SyncSettings } from './shop-files.js';

export { createDatabase, type Database } from '../databases.js';
export { text, UNSURE_CUSTOMERS } from './shop-files.js';

export const SYNC = 'shop';
export const JWT_SECRET = 'a secret for tests, long enough for HS256';

const TABLES = `
  CREATE SCHEMA shop;
  CREATE TABLE shop.customers (id integer PRIMARY KEY, shop text NOT NULL DEFAULT 'n', name text, email text, status text, updated_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE shop.orders (no text PRIMARY KEY, shop text NOT NULL DEFAULT 'n', customer_id integer, total numeric(12,2), updated_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE shop.lines (order_no text, line integer, shop text NOT NULL DEFAULT 'n', sku text NOT NULL, updated_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (order_no, line));`;

/** The shop's own tables, empty. */
const SOURCE: Template = { name: 'shop', fill: async (source) => void (await source.query(TABLES)) };

export interface ShopSettings extends SyncSettings {
  readonly sandbox?: SandboxOptions['settings'];
  /** Ids of the platform's tenants; default `north` and `south`. */
  readonly tenants?: readonly string[];
  /** Whether the schema definitions are on the platform already; default yes. */
  readonly pushed?: boolean;
  /** Another source and its sync folder, instead of the shop's own. */
  readonly other?: {
    readonly files: Readonly<Record<string, string>>;
    readonly load: Template | ((source: Database) => Promise<void>);
  };
  /** Whether the ledger's tables are there already; default yes. */
  readonly ledger?: boolean;
  /** The address of a source that the test keeps itself, of whichever kind; its sync folder is `other.files`. */
  readonly sourceUrl?: string;
  /** A superuser's URL of another server for the source. */
  readonly sourceServer?: string;
  /** Servers of the test's own, to be stopped and started: superusers' URLs, and Temporal's address. */
  readonly servers?: { readonly source: string; readonly state: string; readonly temporal: string };
  /** Default: one that no other test has, as is needed on the Temporal server that the tests share. */
  readonly taskQueue?: string;
  /** Variables that replace or join the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Shop {
  /** The partner's database; the tables are in the schema `shop`. */
  readonly source: Database;
  /** The ledger (schema partner_sync). */
  readonly state: Database;
  /** The sandbox's store (schema sandbox): the ledger's database, unless the test has servers of its own. */
  readonly store: Database;
  readonly proxy: PlatformProxy;
  readonly parts: Parts;
  readonly client: Client;
  readonly taskQueue: string;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly token: string;
  /** Starts a worker in this process; {@link Shop.rest} and {@link Shop.close} drain it. */
  work(): Promise<void>;
  /** Drains the worker; activities that do not end by themselves are cancelled. */
  rest(): Promise<void>;
  start(kind: RunKind, input: object, workflowId?: string): Promise<WorkflowHandle>;
  /** Starts a run and waits for its report. */
  run(input?: Partial<RunInput>): Promise<RunReport>;
  backfill(input?: Partial<RunInput>): Promise<RunReport>;
  /** Differences between source and platform, every record read back. */
  differences(): Promise<number>;
  reconcile(mapping: string): Promise<Reconciliation>;
  /** The record as the platform stores it, or null. */
  stored(schema: string, externalId: string, tenant?: string): Promise<Record<string, unknown> | null>;
  write(file: string, content: string): void;
  close(): Promise<void>;
}

let quiet = false;

/** Temporal's native core may be set up once in a process. */
export function quietRuntime(): void {
  if (quiet) return;
  quiet = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}

let shared: Promise<NativeConnection> | undefined;

/**
 * The connection of this process's workers to the server that the tests share; it is kept until the process ends. The SDK
 * never gives up the AsyncLocalStorage of a connection, and each one makes every asynchronous step of the process slower.
 */
const sharedConnection = (): Promise<NativeConnection> =>
  (shared ??= NativeConnection.connect({ address: inject('temporalAddress') }));

async function openSource({ servers, other, sourceServer = servers?.source }: ShopSettings): Promise<Database> {
  const load = other?.load ?? SOURCE;
  if (typeof load !== 'function' && sourceServer === undefined) return copyDatabase(load);
  const source = await createDatabase(sourceServer);
  await (typeof load === 'function' ? load(source) : load.fill(source));
  return source;
}

const openStateDatabase = ({ servers, ledger = true }: ShopSettings): Promise<Database> =>
  ledger && servers === undefined ? copyDatabase(STATE) : createDatabase(servers?.state);

export async function openShop(settings: ShopSettings = {}): Promise<Shop> {
  quietRuntime();
  const { servers } = settings;
  const [source, state] = await Promise.all([openSource(settings), openStateDatabase(settings)]);
  // The platform stays up when the ledger's server goes down.
  const store = servers === undefined ? state : await createDatabase();
  const sandbox: Sandbox = await startSandbox({
    stateUrl: store.url,
    port: 0,
    jwtSecret: JWT_SECRET,
    fixture: { tenants: (settings.tenants ?? ['north', 'south']).map((id) => ({ id, name: id })) },
    // Each look wakes everything that works on batches: more often, and shops that wait would take much time from others.
    settings: { expiryCheckInterval: 250, ...settings.sandbox },
  });
  const proxy = await startProxy(sandbox.url);
  const folder = mkdtempSync(join(tmpdir(), 'shop-test-'));
  mkdirSync(join(folder, SYNC));
  const write = (file: string, content: string): void => writeFileSync(join(folder, SYNC, file), content);
  for (const [file, content] of Object.entries(settings.other?.files ?? filesOf(settings))) write(file, content);
  const token = await mintToken({ secret: JWT_SECRET, scope: 'platform', expiresIn: '1h' });
  const { taskQueue = `shop-${randomUUID()}` } = settings;
  const env = {
    PARTNER_SYNC_STATE_URL: state.url,
    PARTNER_SYNC_MAPPINGS: folder,
    PARTNER_SYNC_TASK_QUEUE: taskQueue,
    PLATFORM_BASE_URL: proxy.url,
    PLATFORM_TOKEN: token,
    SOURCE_URL: settings.sourceUrl ?? source.url,
    TEMPORAL_ADDRESS: servers?.temporal ?? inject('temporalAddress'),
    ...settings.env,
  };
  const parts = compose(env);
  if (settings.pushed !== false) await pushSchemas(parts, SYNC);
  const connection = await Connection.connect({ address: env.TEMPORAL_ADDRESS });
  const namespace = settings.env?.['TEMPORAL_NAMESPACE'] ?? 'default';
  const client = new Client({ connection, namespace });
  let drain: (() => Promise<void>) | undefined;
  const rest = async (): Promise<void> => {
    await drain?.();
    drain = undefined;
  };
  const start: Shop['start'] = (kind, input, workflowId = randomUUID()) =>
    client.workflow.start(kind, { taskQueue, workflowId, args: [input] });
  const report = async (kind: RunKind, input: Partial<RunInput>): Promise<RunReport> =>
    reportOf(await start(kind, { sync: SYNC, ...input }));
  const reconcile: Shop['reconcile'] = async (mapping) => {
    const sync = await parts.openSync(SYNC);
    return reconcileMapping(await parts.dependencies(), sync, await sync.mapping(mapping), {
      readBack: 'all',
      seed: 'test',
    });
  };
  return {
    source,
    state,
    store,
    proxy,
    parts,
    client,
    taskQueue,
    env,
    folder,
    token,
    write,
    start,
    reconcile,
    async work() {
      const address = env.TEMPORAL_ADDRESS;
      const own = address === inject('temporalAddress') ? undefined : await NativeConnection.connect({ address });
      const dependencies = await parts.dependencies();
      const workers = await createWorkers(
        taskQueue,
        (isDraining) => createActivities({ ...dependencies, isDraining }),
        {
          connection: own ?? (await sharedConnection()),
          namespace,
          shutdownGraceTime: '5s',
          maxHeartbeatThrottleInterval: milliseconds('heartbeatThrottle'),
        },
        { workflowBundle: await workflowBundle() },
      );
      const running = workers.run();
      drain = async () => {
        workers.shutdown();
        await running;
        await own?.close();
      };
    },
    rest,
    run: (input = {}) => report('sync', input),
    backfill: (input = {}) => report('backfill', input),
    async differences() {
      let differences = 0;
      for (const mapping of (await parts.openSync(SYNC)).spec.mappings) {
        const { rows, equal, extra } = await reconcile(mapping.name);
        differences += rows - equal + extra;
      }
      return differences;
    },
    async stored(schema, externalId, tenant = 'north') {
      const rows = await store.query<{ data: Record<string, unknown> }>(
        `select r.data from sandbox.resources r join sandbox.schema_definitions s on s.id = r.schema_id
         where s.name = $1 and r.external_id = $2 and r.tenant_id = $3`,
        [schema, externalId, tenant],
      );
      return rows[0]?.data ?? null;
    },
    async close() {
      await rest();
      await parts.close();
      await connection.close();
      await proxy.close();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
      await Promise.all([...new Set([source, state, store])].map((database) => database.drop()));
    },
  };
}

/** `count` customers, each with one order of one line. */
export async function fill(shop: Shop, count: number): Promise<void> {
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, email, status) SELECT i, 'Customer ' || i, 'c' || i || '@example.org', 'A' FROM generate_series(1, $1::int) i`,
    [count],
  );
  await shop.source.query(
    `INSERT INTO shop.orders (no, customer_id, total) SELECT 'o' || i, i, i + 0.5 FROM generate_series(1, $1::int) i`,
    [count],
  );
  await shop.source.query(
    `INSERT INTO shop.lines (order_no, line, sku) SELECT 'o' || i, 1, 'sku-' || i FROM generate_series(1, $1::int) i`,
    [count],
  );
}

/** Looks until `look` answers something, after pauses of `pause` ms; fails with `what` after a minute, or so many seconds. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  seconds = 60,
  pause = 50,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  while (true) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`did not happen within ${seconds} seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Resolves when no activity of the run works or waits for a worker. */
export const untilIdle = (run: WorkflowHandle): Promise<unknown> =>
  eventually('that its activities end', async () => ((await run.describe()).raw.pendingActivities ?? []).length === 0);

/** The report of a run, also of one that fails because of its undelivered records. */
export async function reportOf(handle: WorkflowHandle): Promise<RunReport> {
  try {
    return (await handle.result()) as RunReport;
  } catch (error) {
    const report = reportIn(error);
    if (report === undefined) throw error;
    return report;
  }
}

/** Opens a run without a workflow: the test itself does its steps. */
export async function openRunByHand({ parts }: Shop, input: Partial<RunInput> = {}) {
  const start = { trigger: 'other', by: null } as const;
  const opened = await openRun(
    await parts.dependencies(),
    { kind: 'sync', input: { sync: SYNC, ...input }, firstExecutionRunId: randomUUID(), start },
    'by-hand',
    { isRunning: () => Promise.resolve(true), stopOf: () => Promise.resolve(null) },
  );
  if ('activeRun' in opened) throw new Error('the run was not needed');
  return opened;
}

/** The code with which a run failed, and what it said. */
export async function failureOf(handle: WorkflowHandle): Promise<{ type: string; message: string }> {
  try {
    await handle.result();
  } catch (error) {
    let cause = error as Error & { type?: string; cause?: Error };
    while (cause.cause instanceof Error && cause.type === undefined) cause = cause.cause as typeof cause;
    return { type: cause.type ?? cause.name, message: cause.message };
  }
  throw new Error('the run did not fail');
}

/** A shop for one test, with a worker; closed when the test has finished. */
export async function shopForTest(settings: ShopSettings = {}): Promise<Shop> {
  const shop = await openShop(settings);
  onTestFinished(() => shop.close());
  await shop.work();
  return shop;
}

/** The tables of the ledger that must be empty of open ends once everything is delivered. */
export async function openEnds(shop: Shop): Promise<Record<string, number>> {
  const [row] = await shop.state.query<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM partner_sync.batches WHERE state NOT IN ('settled', 'superseded')) AS batches,
            (SELECT count(*)::int FROM partner_sync.waiting) AS waiting,
            (SELECT count(*)::int FROM partner_sync.sync_leases) AS leases`,
  );
  return row!;
}

export const NO_OPEN_ENDS = { batches: 0, waiting: 0, leases: 0 };

/** As if the platform's wait for missing parents were over. */
export async function expirePending(shop: Shop): Promise<void> {
  await shop.state.query('UPDATE sandbox.pending_resources SET expires_at = clock_timestamp()');
  await eventually('nothing is pending any more', async () => {
    const rows = await shop.state.query('SELECT FROM sandbox.pending_resources');
    return rows.length === 0;
  });
}
