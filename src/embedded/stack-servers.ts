/** The servers below the stack: PostgreSQL with its three databases and the demo's shop, and Temporal. */
import { join } from 'node:path';
import { loadOnlineRetail } from './online-retail/load.js';
import { createShopReader } from './online-retail/reader.js';
import { startPostgres, type EmbeddedPostgres } from './postgres.js';
import { secretFile } from './stack-folder.js';
import { findTemporal, startTemporal, type EmbeddedTemporal } from './temporal.js';

export interface StackServers {
  readonly postgres: EmbeddedPostgres;
  /** Undefined when TEMPORAL_ADDRESS names a server: then it is not ours to start or stop. */
  readonly temporal: EmbeddedTemporal | undefined;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  /** The shop, through the account that can only read. */
  readonly sourceUrl: string;
}

export interface StartServersInput {
  readonly folder: string;
  readonly log: (line: string) => void;
  readonly searchAttributes?: Readonly<Record<string, string>>;
}

export async function startServers(input: StartServersInput): Promise<StackServers> {
  const { folder, log } = input;
  const given = process.env.TEMPORAL_ADDRESS || undefined;
  const started = await Promise.allSettled([
    startShop(folder, log),
    given === undefined ? ownTemporal(input) : undefined,
  ]);
  const [shop, temporal] = started;
  if (shop.status === 'rejected' || temporal.status === 'rejected') {
    // One is of no use without the other, and nobody else would stop it.
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

async function ownTemporal({ folder, log, searchAttributes }: StartServersInput): Promise<EmbeddedTemporal> {
  const cli = await findTemporal({ log });
  const temporal = await startTemporal({ path: cli.path, folder: join(folder, 'temporal'), log, searchAttributes });
  log(`Temporal is up; its Web UI: ${temporal.uiUrl}`);
  return temporal;
}
