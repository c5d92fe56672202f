/**
 * Starts the sandbox: a working implementation of the platform's interface on PostgreSQL, for development and tests.
 */
import { pino, type Logger } from 'pino';
import { createAuthentication } from './authentication.js';
import { createCursors } from './cursors.js';
import { createPool } from './database.js';
import { registerDocuments } from './documents.js';
import { loadFixture } from './fixture/load.js';
import { parseFixture } from './fixture/parse.js';
import type { Fixture } from './fixture/fixture-schema.js';
import { createHttpServer } from './http-server.js';
import { migrate } from './migrations.js';
import { startBatchWorkers } from './processing/batch-workers.js';
import { registerOperations } from './routes.js';
import { createSchemaStore } from './schema-store.js';
import { completeSettings, type GivenSettings } from './settings.js';
import { createTenantLookup } from './tenants.js';
import { createTokenVerifier } from './token.js';

/** How to start a sandbox. Only the database, the port and the secret are required. */
export interface SandboxOptions {
  /** PostgreSQL URL of the database for the sandbox's state, which it keeps in the schema `sandbox`. */
  readonly stateUrl: string;
  /** 0 picks any free port; {@link Sandbox.url} has the one chosen. */
  readonly port: number;
  /** Default `127.0.0.1`. Anyone who can reach the address and has a token can read and write every tenant. */
  readonly host?: string;
  /** Signs and verifies tokens (see `mintToken`) and signs cursors. */
  readonly jwtSecret: string;
  /** Stored at the start. Default: the bundled fixture, if the database has no tenant yet. */
  readonly fixture?: Fixture;
  /** Overrides of the defaults, for what platform-api.md leaves open. */
  readonly settings?: GivenSettings;
  /** The clock that relative dates in segments refer to. Default: the system's. */
  readonly now?: () => Date;
  /** Default: silent. Bodies of requests are never logged. */
  readonly logger?: Logger;
}

/** A running sandbox. */
export interface Sandbox {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /**
   * Stops accepting requests and finishes the batches being processed; the others wait for the next start. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Starts a sandbox; rejects, after releasing everything, if the database is unreachable or too old, the fixture is
 * invalid or the port is taken. Settings are not validated; `parseSettings` does that for a settings file.
 *
 * @example
 * const sandbox = await startSandbox({ stateUrl, port: 0, jwtSecret, fixture: { tenants: [{ id: 't1', name: 'One' }] }
 * });
 * const token = await mintToken({ secret: jwtSecret, scope: 'platform', expiresIn: '1h' });
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const logger = options.logger ?? pino({ level: 'silent' });
  const now = options.now ?? (() => new Date());
  const host = options.host ?? '127.0.0.1';
  const settings = completeSettings(options.settings);
  const fixture = options.fixture && parseFixture(options.fixture);
  const verifyToken = createTokenVerifier(options.jwtSecret);
  const pool = createPool(options.stateUrl, settings.batchesAtOnce, logger);
  const app = createHttpServer(host, settings, logger);
  try {
    await migrate(options.stateUrl);
    const platformId = await loadFixture(pool, fixture, settings);
    const schemas = createSchemaStore(pool, platformId, settings.schemas);
    const workers = startBatchWorkers(pool, schemas, settings, logger);
    // Shutdown order: no new uploads, then no batch in progress, then no connections.
    app.addHook('onClose', () => workers.stop());
    const findTenant = createTenantLookup(pool);
    const cursors = createCursors(options.jwtSecret, settings.cursorLifetime);
    const authenticate = createAuthentication(verifyToken, findTenant, settings);
    registerDocuments(app, settings);
    registerOperations(app, authenticate, {
      pool,
      platformId,
      findTenant,
      cursors,
      schemas,
      workers,
      settings,
      now,
    });
    const url = await app.listen({ host, port: options.port });
    logger.info({ url }, 'the sandbox is listening; not for production');
    const stop = async () => {
      await app.close();
      await pool.end();
      logger.info({ url }, 'the sandbox has stopped');
    };
    let stopped: Promise<void> | undefined;
    return { url, close: () => (stopped ??= stop()) };
  } catch (error) {
    await app.close();
    await pool.end();
    throw error;
  }
}
