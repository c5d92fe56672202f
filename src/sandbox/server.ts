/** Starts the sandbox: the platform, for real, on PostgreSQL. */
import { pino, type Logger } from 'pino';
import { createAuthentication } from './authentication.js';
import { createCursors } from './cursors.js';
import { openPool } from './database.js';
import { registerDocuments } from './documents.js';
import { loadFixture } from './fixture/load.js';
import { parseFixture } from './fixture/parse.js';
import type { Fixture } from './fixture/schema.js';
import { createHttpServer } from './http-server.js';
import { migrate } from './migrations.js';
import { startBatchWorkers } from './processing/batch-workers.js';
import { registerOperations } from './routes.js';
import { createSchemaStore } from './schema-store.js';
import { completeSettings, type GivenSettings } from './settings.js';
import { createTenantLookup } from './tenants.js';
import { createTokenVerifier } from './token.js';

export interface SandboxOptions {
  /** PostgreSQL URL of the database that holds the sandbox's state, in a schema of its own. */
  readonly stateUrl: string;
  /** 0: any free port; the one chosen is in {@link Sandbox.url}. */
  readonly port: number;
  /** Default `127.0.0.1`: whoever can reach it and has a token can read and write every tenant. */
  readonly host?: string;
  /** Signs and verifies tokens, see `mintToken`. */
  readonly jwtSecret: string;
  /** Stored at the start. Default: the one that ships, if the database has no tenant yet. */
  readonly fixture?: Fixture;
  readonly settings?: GivenSettings;
  /** The clock that dates in segments are relative to. Default: the system's. */
  readonly now?: () => Date;
  /** Default: silent. Bodies of requests are never logged. */
  readonly logger?: Logger;
}

export interface Sandbox {
  /** Base URL without a slash at the end. */
  readonly url: string;
  /** Stops accepting, finishes the batches in work, leaves the others for the next start. May be called twice. */
  close(): Promise<void>;
}

/**
 * @example
 * const sandbox = await startSandbox({ stateUrl, port: 0, jwtSecret, fixture: { tenants: [{ id: 't1', name: 'One' }] } });
 * const token = await mintToken({ secret: jwtSecret, scope: 'platform', expiresIn: '1h' });
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const logger = options.logger ?? pino({ level: 'silent' });
  const now = options.now ?? (() => new Date());
  const host = options.host ?? '127.0.0.1';
  const settings = completeSettings(options.settings);
  const fixture = options.fixture && parseFixture(options.fixture);
  const verifyToken = createTokenVerifier(options.jwtSecret);
  const pool = openPool(options.stateUrl, settings.batchesAtOnce, logger);
  const app = createHttpServer(host, settings, logger);
  try {
    await migrate(pool);
    const platformId = await loadFixture(pool, fixture, settings);
    const schemas = createSchemaStore(pool, platformId, settings.schemas);
    const workers = startBatchWorkers(pool, schemas, settings, logger);
    // In this order: no new uploads, then no batch in work, then no connections.
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
