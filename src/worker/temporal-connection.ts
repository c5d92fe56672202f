/** How to reach Temporal: its own variables and temporal.toml, with our message when there is nothing to reach. */
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { ConnectionOptions } from '@temporalio/client';
import { requireVariable, type Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';

export interface TemporalTarget {
  readonly connection: ConnectionOptions;
  readonly namespace: string;
  readonly address: string;
}

export function temporalTarget(env: Env): TemporalTarget {
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: definedOnly(env) });
  const address = connectionOptions.address ?? '127.0.0.1:7233';
  return { connection: { ...connectionOptions, address }, namespace: namespace ?? 'default', address };
}

/** A client on the target; throws `config_invalid` when nothing answers there. */
export async function connectTemporal(
  env: Env,
  connectTimeout = 10_000,
): Promise<{ client: Client; taskQueue: string; close(): Promise<void> }> {
  const target = temporalTarget(env);
  try {
    const connection = await Connection.connect({ ...target.connection, connectTimeout });
    return {
      client: new Client({ connection, namespace: target.namespace }),
      taskQueue: await requireVariable(env, 'PARTNER_SYNC_TASK_QUEUE'),
      close: () => connection.close(),
    };
  } catch (cause) {
    throw unreachable(target.address, cause);
  }
}

export const unreachable = (address: string, cause: unknown): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `no Temporal server answers at ${address} (TEMPORAL_ADDRESS); start one with "temporal server start-dev", or use "npm run dev"`,
    {},
    { cause },
  );

const definedOnly = (env: Env): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
