/** The platform's address, by which the ledger tells one platform from another. */
import { knownAddress } from '../domain/sync/platform-address.js';
import { requireVariable, type Env } from './environment.js';

/** PLATFORM_BASE_URL. Throws `config_invalid` if it is not set, or no address. */
export const platformAddress = async (env: Env): Promise<string> =>
  knownAddress(await requireVariable(env, 'PLATFORM_BASE_URL'));
