/** Opens the platform client as the environment variables say. */
import { requireVariable, type Env } from '../config/environment.js';
import { durationSeconds } from '../domain/values/duration.js';
import type { Meters } from '../domain/monitoring/meters.js';
import { PlatformClient } from '../platform/client.js';
import type { InFleet } from './in-fleet.js';
import type { Warn } from './parts.js';

/** Connections of a process to the platform. */
const CONNECTIONS = 16;

/**
 * Creates the platform client from the variables. The token is read again for each use, so that a renewed token file
 * takes effect.
 */
export async function openPlatform(
  env: Env,
  {
    warn,
    meters,
    retryAfter,
    accountLimit,
  }: { readonly warn: Warn; readonly meters: Meters } & Pick<InFleet, 'retryAfter' | 'accountLimit'>,
): Promise<PlatformClient> {
  await requireVariable(env, 'PLATFORM_TOKEN');
  const named = async (variable: 'INCLUDE' | 'REFERENCE_FORMAT' | 'PENDING_DETAILS') =>
    requireVariable(env, `PLATFORM_PARAM_${variable}`);
  const scheme = await requireVariable(env, 'PLATFORM_AUTH_SCHEME');
  const wait = durationSeconds(await requireVariable(env, 'PLATFORM_TOKEN_WAIT'));
  return new PlatformClient({
    baseUrl: await requireVariable(env, 'PLATFORM_BASE_URL'),
    token: () => requireVariable(env, 'PLATFORM_TOKEN'),
    // A token from the environment cannot be renewed while the process runs, so waiting for a new one is pointless.
    tokenWait: env['PLATFORM_TOKEN'] ? 0 : wait * 1000,
    warn,
    sharedRetryAfter: retryAfter,
    meter: meters.platform,
    // The table of variables admits no other value.
    tokenScope: (await requireVariable(env, 'PLATFORM_TOKEN_SCOPE')) as 'platform' | 'tenant',
    authHeader: await requireVariable(env, 'PLATFORM_AUTH_HEADER'),
    authScheme: scheme === 'none' ? '' : scheme,
    parameterNames: {
      include: await named('INCLUDE'),
      referenceFormat: await named('REFERENCE_FORMAT'),
      includePendingDetails: await named('PENDING_DETAILS'),
    },
    connections: CONNECTIONS,
    accountLimit: await accountLimit(CONNECTIONS),
  });
}
