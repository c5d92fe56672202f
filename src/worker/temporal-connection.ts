/** How to reach Temporal: its own variables and temporal.toml, with our message when there is nothing to reach. */
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { ConnectionOptions } from '@temporalio/client';
import { assertRight, requireVariable, type Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { foreignText } from '../domain/foreign-text.js';

export interface TemporalTarget {
  readonly connection: ConnectionOptions;
  readonly namespace: string;
  readonly address: string;
}

/** Throws `config_invalid` for variables or a temporal.toml that say nothing usable. */
export function temporalTarget(env: Env): TemporalTarget {
  assertRight('TEMPORAL_ADDRESS', env['TEMPORAL_ADDRESS']);
  const { connectionOptions, namespace } = loaded(env);
  const address = connectionOptions.address ?? '127.0.0.1:7233';
  return { connection: { ...connectionOptions, address }, namespace: namespace ?? 'default', address };
}

function loaded(env: Env): ReturnType<typeof loadClientConnectConfig> {
  try {
    return loadClientConnectConfig({ overrideEnvVars: definedOnly(env) });
  } catch (cause) {
    const words = cause instanceof Error ? foreignText(cause.message, 300) : 'unknown error';
    throw new PartnerSyncError('config_invalid', `TEMPORAL_* or temporal.toml: ${words}`, {}, { cause });
  }
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
