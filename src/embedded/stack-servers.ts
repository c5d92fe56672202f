/** Starts the servers that the stack needs: PostgreSQL with its databases, perhaps the demo's shop among them, and Temporal. */
import { join } from 'node:path';
import type { Env } from '../config/environment.js';
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
  /** The demo's shop, through an account that can only read; undefined without the shop. */
  readonly sourceUrl: string | undefined;
}

/** Where the servers keep their files. */
export interface StartServersInput {
  readonly folder: string;
  readonly log: (line: string) => void;
  /** Whether to load the demo's shop. */
  readonly shop: boolean;
  /** Whether change feeds can be installed in its database. */
  readonly changeFeeds?: boolean;
  /** The variables of the user; TEMPORAL_ADDRESS among them names a server of theirs. */
  readonly own: Env;
}

/** Starts both servers at the same time. If one fails, the other is stopped and the failure is thrown. */
export async function startServers(input: StartServersInput): Promise<StackServers> {
  const { own } = input;
  const given = own['TEMPORAL_ADDRESS'] || undefined;
  const started = await Promise.allSettled([
    startDatabases(input),
    given === undefined ? ownTemporal(input) : undefined,
  ]);
  const [databases, temporal] = started;
  if (databases.status === 'rejected' || temporal.status === 'rejected') {
    // The other server is of no use alone, and nothing else would stop it.
    if (databases.status === 'fulfilled') await databases.value.postgres.stop();
    if (temporal.status === 'fulfilled') await temporal.value?.stop();
    throw databases.status === 'rejected' ? databases.reason : (temporal as PromiseRejectedResult).reason;
  }
  return {
    ...databases.value,
    temporal: temporal.value,
    temporalAddress: temporal.value?.address ?? given ?? '',
    temporalNamespace: (given !== undefined && own['TEMPORAL_NAMESPACE']) || 'default',
  };
}

/** What the server keeps for a feed that nobody reads is limited, as the server is not only there for the demo's user. */
const WITH_CHANGE_FEEDS = { wal_level: 'logical', max_slot_wal_keep_size: '1GB' };

/** Starts PostgreSQL, creates the databases and loads the demo's shop if it is wanted. */
async function startDatabases({
  folder,
  log,
  shop,
  changeFeeds = false,
}: StartServersInput): Promise<{ postgres: EmbeddedPostgres; sourceUrl: string | undefined }> {
  const postgres = await startPostgres({
    folder: join(folder, 'postgres'),
    log,
    ...(changeFeeds && { settings: WITH_CHANGE_FEEDS }),
  });
  try {
    for (const database of ['partner_sync', 'sandbox']) await postgres.createDatabase(database);
    if (shop) return { postgres, sourceUrl: await loadShop(postgres, folder, log) };
    log('PostgreSQL is up');
    return { postgres, sourceUrl: undefined };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** Loads the demo's shop into a database of its own, and returns the address for reading it. */
async function loadShop(postgres: EmbeddedPostgres, folder: string, log: (line: string) => void): Promise<string> {
  await postgres.createDatabase('shop');
  const counts = await loadOnlineRetail(postgres.url('shop'));
  const { secret } = secretFile(folder, 'shop-reader-password');
  const sourceUrl = await createShopReader({ url: postgres.url('shop'), password: secret });
  const shown = Object.entries(counts).map(([name, n]) => `${(n as number).toLocaleString('en')} ${name}`);
  log(`PostgreSQL is up; the shop has ${shown.join(', ')}`);
  return sourceUrl;
}

/** Finds the Temporal CLI and starts its dev server. */
async function ownTemporal({ folder, log }: StartServersInput): Promise<EmbeddedTemporal> {
  const cli = await findTemporal({ log });
  const temporal = await startTemporal({ path: cli.path, folder: join(folder, 'temporal'), log });
  log(`Temporal is up; its Web UI: ${temporal.uiUrl}`);
  return temporal;
}
