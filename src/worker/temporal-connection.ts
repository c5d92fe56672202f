/** Connects to Temporal as its own environment variables and temporal.toml say. */
import { Client, Connection, type ClientInterceptors, type ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { assertValid, requireVariable, type Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { foreignText } from '../domain/values/foreign-text.js';
import { dataConverterOf } from './data-converter.js';
import { milliseconds } from '../domain/timeouts.js';

/** Where Temporal is; `connection` includes the settings for TLS and the API key. */
export interface TemporalTarget {
  readonly connection: ConnectionOptions;
  readonly namespace: string;
  readonly address: string;
}

/**
 * The target that the environment names; 127.0.0.1:7233 by default. Throws `config_invalid` for variables or a
 * temporal.toml that cannot be used.
 */
export function temporalTarget(env: Env): TemporalTarget {
  assertValid('TEMPORAL_ADDRESS', env['TEMPORAL_ADDRESS']);
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

/**
 * A client, and the task queue that runs are started on. Close it after use. Throws `config_invalid` if no server can
 * be reached within `connectTimeout` milliseconds.
 *
 * @param interceptors of the client's calls; none by default
 */
export async function connectTemporal(
  env: Env,
  connectTimeout = milliseconds('temporalConnect'),
  interceptors: ClientInterceptors = {},
): Promise<{ client: Client; taskQueue: string; close: () => Promise<void> }> {
  const target = temporalTarget(env);
  const dataConverter = await dataConverterOf(env);
  try {
    const connection = await Connection.connect({ ...target.connection, connectTimeout });
    return {
      client: new Client({
        connection,
        namespace: target.namespace,
        interceptors,
        ...(dataConverter && { dataConverter }),
      }),
      taskQueue: await requireVariable(env, 'PARTNER_SYNC_TASK_QUEUE'),
      close: () => connection.close(),
    };
  } catch (cause) {
    throw unreachable(target.address, cause);
  }
}

/** A configuration error rather than one to retry: on the command line, the address is usually what is wrong. */
export const unreachable = (address: string, cause: unknown): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `no Temporal server can be reached at ${address} (TEMPORAL_ADDRESS); start one with "temporal server start-dev", or use "npm run dev"`,
    {},
    { cause },
  );

const definedOnly = (env: Env): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
