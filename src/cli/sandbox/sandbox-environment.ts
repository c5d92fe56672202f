/** The sandbox's configuration from the environment: its database, and the secret that signs tokens. */
import { readVariable, type Env } from '../../config/environment.js';
import { PartnerSyncError } from '../../domain/errors.js';

/**
 * The secret. Throws `config_invalid` if it is missing or too short: anyone could guess a short one and sign tokens.
 */
export async function jwtSecret(env: Env): Promise<string> {
  const secret = await readVariable(env, 'SANDBOX_JWT_SECRET');
  if (secret === undefined || secret.length < 32)
    throw new PartnerSyncError(
      'config_invalid',
      'SANDBOX_JWT_SECRET (or SANDBOX_JWT_SECRET_FILE) must hold at least 32 characters',
    );
  return secret;
}

/**
 * The address of the sandbox's database: `given`, otherwise from the environment. Throws `config_invalid` if there is
 * none or it is not a PostgreSQL address.
 */
export async function findStateUrl(env: Env, given: string | undefined): Promise<string> {
  const stateUrl =
    given ?? (await readVariable(env, 'SANDBOX_STATE_URL')) ?? (await readVariable(env, 'PARTNER_SYNC_STATE_URL'));
  if (stateUrl === undefined)
    throw new PartnerSyncError(
      'config_invalid',
      'no database for the sandbox; set SANDBOX_STATE_URL or PARTNER_SYNC_STATE_URL, or use --state-url',
    );
  // Never quoted, since it may contain a password.
  if (!URL.canParse(stateUrl) || !/^postgres(ql)?:$/.test(new URL(stateUrl).protocol))
    throw new PartnerSyncError(
      'config_invalid',
      "the address of the sandbox's database must be one of PostgreSQL, such as postgres://user:password@127.0.0.1:5432/sandbox",
    );
  return stateUrl;
}
