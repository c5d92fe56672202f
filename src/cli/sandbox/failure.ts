/** Why a sandbox cannot start or load: in words about what was configured, not about what broke. */
import { PartnerSyncError } from '../../domain/errors.js';
import { errorCode } from '../../domain/foreign-text.js';
import { FixtureError } from '../../sandbox/fixture/fixture-error.js';
import { ServerTooOld } from '../../sandbox/migrations.js';

/** SQLSTATE 28xxx is a refused login, 3D000 a database that is not there, 42501 a missing grant. */
const DATABASE = /^(ECONN\w+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|28\w{3}|3D000|42501|53300|57P03)$/;

/** Awaits the work; what is wrong with its input or surroundings is no failure of the program. */
export async function sayingWhatIsWrong<T>(work: Promise<T>): Promise<T> {
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
      `the sandbox cannot listen on ${address} at port ${port} (${code}); choose another --port, or 0 for any free one`,
    );
  if (DATABASE.test(code))
    return new PartnerSyncError(
      'config_invalid',
      `the sandbox's database cannot be used (${code}); check SANDBOX_STATE_URL, PARTNER_SYNC_STATE_URL or --state-url`,
    );
  return error;
}
