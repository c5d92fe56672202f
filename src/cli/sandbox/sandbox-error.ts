/** Explains why a sandbox cannot start or load, in terms of its configuration. */
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/values/foreign-text.js';
import { FixtureError } from '../../sandbox/fixture/parse.js';
import { ServerTooOld } from '../../sandbox/migrations.js';

/**
 * Errors that a wrong address or a missing database cause. SQLSTATE 28xxx: login rejected; 3D000: no such database;
 * 42501: missing privilege; 53300: too many connections; 57P03: the server is starting up or shutting down.
 */
const DATABASE = /^(ECONN\w+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|28\w{3}|3D000|42501|53300|57P03)$/;

/**
 * Awaits the work. Errors that come from its input or its surroundings become `config_invalid`; any other is thrown as
 * it is.
 */
export async function explainingErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  if (error instanceof FixtureError || error instanceof ServerTooOld)
    return new PartnerSyncError('config_invalid', error.message);
  const code = errorCode(error);
  const { syscall, address, port } = error as { syscall?: string; address?: string; port?: number };
  if (syscall === 'listen')
    return new PartnerSyncError(
      'config_invalid',
      `the sandbox cannot listen on ${address}, port ${port} (${code}); choose another --port, or 0 for any free one`,
    );
  if (DATABASE.test(code))
    return new PartnerSyncError(
      'config_invalid',
      `the sandbox's database cannot be used (${code}); check SANDBOX_STATE_URL, PARTNER_SYNC_STATE_URL or --state-url`,
    );
  return error;
}
