/**
 * Starts the servers that the stack needs: PostgreSQL with three databases, including the demo's shop, and Temporal.
 */
import { join } from 'node:path';
import { loadOnlineRetail } from './online-retail/load-shop.js';
import { createShopReader } from './online-retail/create-shop-reader.js';
import { startPostgres, type EmbeddedPostgres } from './postgres-server.js';
import { secretFile } from './stack-folder.js';
import { findTemporal } from './temporal-cli.js';
import { startTemporal, type EmbeddedTemporal } from './temporal-server.js';

/** The running servers and how to reach them. */
export interface StackServers {
  readonly postgres: EmbeddedPostgres;
  /** Undefined if TEMPORAL_ADDRESS names a server: then the stack neither starts nor stops it. */
  readonly temporal: EmbeddedTemporal | undefined;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  /** The shop, through an account that can only read. */
  readonly sourceUrl: string;
}

/** Where the servers keep their files. */
export interface StartServersInput {
  readonly folder: string;
  readonly log: (line: string) => void;
}

/** Starts both servers at the same time. If one fails, the other is stopped and the failure is thrown. */
export async function startServers(input: StartServersInput): Promise<StackServers> {
  const { folder, log } = input;
  const given = process.env.TEMPORAL_ADDRESS || undefined;
  const started = await Promise.allSettled([
    startShop(folder, log),
    given === undefined ? ownTemporal(input) : undefined,
  ]);
  const [shop, temporal] = started;
  if (shop.status === 'rejected' || temporal.status === 'rejected') {
    // The other server is of no use alone, and nothing else would stop it.
    if (shop.status === 'fulfilled') await shop.value.postgres.stop();
    if (temporal.status === 'fulfilled') await temporal.value?.stop();
    throw shop.status === 'rejected' ? shop.reason : (temporal as PromiseRejectedResult).reason;
  }
  return {
    ...shop.value,
    temporal: temporal.value,
    temporalAddress: temporal.value?.address ?? given ?? '',
    temporalNamespace: (given !== undefined && process.env.TEMPORAL_NAMESPACE) || 'default',
  };
}

/** Starts PostgreSQL, creates the databases and loads the demo's shop. */
async function startShop(
  folder: string,
  log: (line: string) => void,
): Promise<{ postgres: EmbeddedPostgres; sourceUrl: string }> {
  const postgres = await startPostgres({ folder: join(folder, 'postgres'), log });
  try {
    for (const database of ['shop', 'partner_sync', 'sandbox']) await postgres.createDatabase(database);
    const counts = await loadOnlineRetail(postgres.url('shop'));
    const { secret } = secretFile(folder, 'shop-reader-password');
    const sourceUrl = await createShopReader({ url: postgres.url('shop'), password: secret });
    const shown = Object.entries(counts).map(([name, n]) => `${(n as number).toLocaleString('en')} ${name}`);
    log(`PostgreSQL is up; the shop has ${shown.join(', ')}`);
    return { postgres, sourceUrl };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** Finds the Temporal CLI and starts its dev server. */
async function ownTemporal({ folder, log }: StartServersInput): Promise<EmbeddedTemporal> {
  const cli = await findTemporal({ log });
  const temporal = await startTemporal({ path: cli.path, folder: join(folder, 'temporal'), log });
  log(`Temporal is up; its Web UI: ${temporal.uiUrl}`);
  return temporal;
}
