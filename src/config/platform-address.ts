/** The platform's address, by which the ledger tells one platform from another. */
import { requireVariable, type Env } from './environment.js';

/** PLATFORM_BASE_URL; two spellings of one address are the same. Throws `config_invalid` if it is not set, or no address. */
export const platformAddress = async (env: Env): Promise<string> =>
  new URL(await requireVariable(env, 'PLATFORM_BASE_URL')).href;
