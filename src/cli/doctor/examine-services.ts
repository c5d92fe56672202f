/** The servers around: the ledger's database, the platform, Temporal and its workers. */
import type { LookingParts } from '../../compose.js';
import { readVariable } from '../../config/environment.js';
import { ERROR_CATALOGUE, PartnerSyncError } from '../../domain/errors.js';
import type { SyncSpec } from '../../domain/sync.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { schemaStandings, type SchemaStanding } from '../schema-standing.js';
import { fail, ok, skip, warn, type Examined } from './examination.js';
import { examineWorkers } from './examine-workers.js';

/** An error as one line with what to do; what nobody foresaw is thrown on. */
async function examined(name: string, look: () => Promise<Examined[]>): Promise<Examined[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return [fail(name, error.message, ERROR_CATALOGUE[error.code].remedy)];
  }
}

export const examineState = (parts: LookingParts): Promise<Examined[]> =>
  examined('state', async () => {
    const ledger = await parts.ledgerIfAny();
    if (ledger !== null) return [ok('state', 'the ledger is there, in the version of this program')];
    const named = (await readVariable(parts.env, 'PARTNER_SYNC_STATE_URL')) !== undefined;
    return [
      named
        ? warn('state', 'the database answers, and holds no ledger yet', 'partner-sync schema push <sync> makes it')
        : fail('state', 'PARTNER_SYNC_STATE_URL is not set', 'name the PostgreSQL database that is to hold the ledger'),
    ];
  });

/** Asks for a batch that there cannot be: a request that any token may make, and that changes nothing. */
export const examinePlatform = (parts: LookingParts, sync: SyncSpec | null): Promise<Examined[]> =>
  examined('platform', async () => {
    const platform = await parts.platform();
    const address = await readVariable(parts.env, 'PLATFORM_BASE_URL');
    const expiry = tokenExpiry(await readVariable(parts.env, 'PLATFORM_TOKEN'));
    if (sync === null) return [skip('platform', `${address}: name a sync to ask it with the sync's tenant`)];
    const tenants = await (await parts.openSync(sync.name)).tenants();
    for (const tenant of tenants.slice(0, TENANTS_ASKED))
      await platform.findBatch('00000000-0000-4000-8000-000000000000', { tenant, once: true });
    return [
      ok('platform', `${address} answers, and takes the token for ${namesOf(tenants)}`),
      ...(expiry === null ? [] : [expiry]),
    ];
  });

/** There may be thousands; a person waits. */
const TENANTS_ASKED = 20;
const namesOf = (tenants: readonly string[]): string =>
  tenants.slice(0, TENANTS_ASKED).join(', ') +
  (tenants.length > TENANTS_ASKED ? `; the other ${tenants.length - TENANTS_ASKED} tenants were not asked for` : '');

const A_WEEK = 7 * 24 * 3600;

/** When the token ends, where it says so. Only its claim of that is read. */
function tokenExpiry(token: string | undefined): Examined | null {
  let expires: unknown;
  try {
    const claims = JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString('utf8')) as object;
    expires = 'exp' in claims ? claims.exp : undefined;
  } catch {
    return null; // no JWT: it says nothing of itself
  }
  if (typeof expires !== 'number') return null;
  const left = expires - Date.now() / 1000;
  const when = new Date(expires * 1000).toISOString();
  if (left <= 0) return fail('token', `ended at ${when}`, 'renew PLATFORM_TOKEN, or the file it is in');
  return left < A_WEEK
    ? warn('token', `ends at ${when}`, 'renew PLATFORM_TOKEN before, or the file it is in')
    : ok('token', `good until ${when}`);
}

export const examineSchemas = (parts: LookingParts, sync: SyncSpec): Promise<Examined[]> =>
  examined('schemas', async () => {
    const address = await readVariable(parts.env, 'PLATFORM_BASE_URL');
    const ledger = await parts.ledgerIfAny();
    const pushed = address === undefined ? undefined : await ledger?.schemaIds.pushed(address);
    const standings = schemaStandings(sync, pushed ?? new Map());
    const named = (wanted: (s: SchemaStanding) => boolean): string =>
      standings
        .filter(wanted)
        .map((s) => s.definition.name)
        .join(', ');
    const missing = named((s) => s.standing === 'new');
    const changed = named((s) => s.standing === 'changed');
    const found = [
      ...(missing === ''
        ? []
        : [warn('schemas', `not pushed yet: ${missing}`, `partner-sync schema push ${sync.name}`)]),
      ...(changed === ''
        ? []
        : [
            warn(
              'schemas',
              `changed since they were pushed, and the platform cannot change them: ${changed}`,
              `partner-sync schema diff ${sync.name} says how; put it back, or give the schema a new name`,
            ),
          ]),
    ];
    return found.length > 0 ? found : [ok('schemas', 'all schema definitions are on the platform')];
  });

/** `asked`: the sync that the workers are asked about, whether its files can be used here or not. */
export const examineTemporal = (
  parts: LookingParts,
  sync: SyncSpec | null,
  asked: string | null,
): Promise<Examined[]> =>
  examined('temporal', async () => {
    const temporal = await connectTemporal(parts.env);
    const { client, taskQueue } = temporal;
    try {
      const { serverVersion } = await client.workflowService.getSystemInfo({});
      return [
        ok('temporal', `server ${serverVersion ?? 'of unknown version'}, namespace ${client.options.namespace}`),
        ...(await examineWorkers(client, taskQueue, sync, asked)),
      ];
    } finally {
      await temporal.close();
    }
  });
