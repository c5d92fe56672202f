/**
 * Doctor's checks of the services: the ledger's database, the platform, Temporal and its workers. Each becomes lines of
 * the report, also if the service is down.
 */
import { quantity } from '../../domain/values/quantity.js';
import type { ViewParts } from '../../composition/parts.js';
import { readVariable } from '../../config/environment.js';
import { platformAddress } from '../../config/platform-address.js';
import { ERROR_CATALOGUE, PartnerSyncError } from '../../domain/errors.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { schemaStatuses, type SchemaStatus } from '../../schema-push/schema-status.js';
import { assertKnownPlatform } from '../known-platform.js';
import { fail, ok, skip, warn, type Examined } from './examination.js';
import { examineSearchAttributes } from './examine-search-attributes.js';
import { examineVersions } from './examine-versions.js';
import { examineWatch } from './examine-watch.js';
import { formerTenantsLine, formerTenantsOf, formerTenantsRemedy } from '../runs/former-tenants.js';
import { examineWorkers, type AskingWorkers } from './examine-workers.js';
import { seconds } from '../../domain/timeouts.js';

/** Turns an error with a code into a failed check with the code's remedy. An unforeseen error is thrown. */
async function examined(name: string, examine: () => Promise<Examined[]>): Promise<Examined[]> {
  try {
    return await examine();
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return [fail(name, error.message, ERROR_CATALOGUE[error.code].remedy)];
  }
}

/** The ledger. That it does not exist yet is a warning, since the first push or worker creates it. */
export const examineState = (parts: ViewParts): Promise<Examined[]> =>
  examined('state', async () => {
    const ledger = await parts.ledgerIfAny();
    if (ledger !== null) return [ok('state', 'the ledger exists, in the version of this program')];
    const named = (await readVariable(parts.env, 'PARTNER_SYNC_STATE_URL')) !== undefined;
    return [
      named
        ? warn(
            'state',
            'the database is reachable, and has no ledger yet',
            'partner-sync schema push <sync> creates it',
          )
        : fail('state', 'PARTNER_SYNC_STATE_URL is not set', 'set it to the PostgreSQL database for the ledger'),
    ];
  });

/**
 * The platform and its token: asks for a batch that does not exist (4.14), a request that any token may make and that
 * changes nothing. It acts for a tenant, so without a sync there is none to ask for.
 */
export const examinePlatform = (parts: ViewParts, sync: SyncSpec | null): Promise<Examined[]> =>
  examined('platform', async () => {
    const platform = await parts.platform();
    const address = await readVariable(parts.env, 'PLATFORM_BASE_URL');
    const expiry = tokenExpiry(await readVariable(parts.env, 'PLATFORM_TOKEN'));
    if (sync === null)
      return [skip('platform', `${address}: not queried; name a sync, whose tenants are needed for that`)];
    await assertKnownPlatform(await parts.ledgerIfAny(), parts.env, sync.name);
    const tenants = await (await parts.openSync(sync.name)).tenants();
    for (const tenant of tenants.slice(0, TENANTS_ASKED))
      await platform.findBatch('00000000-0000-4000-8000-000000000000', { tenant, once: true });
    return [
      ok('platform', `${address} is reachable, and accepts the token for ${namesOf(tenants)}`),
      ...(expiry === null ? [] : [expiry]),
    ];
  });

/** A sync may have thousands of tenants, and a person is waiting. */
const TENANTS_ASKED = 20;
const namesOf = (tenants: readonly string[]): string =>
  tenants.slice(0, TENANTS_ASKED).join(', ') +
  (tenants.length > TENANTS_ASKED
    ? `; ${quantity(tenants.length - TENANTS_ASKED, 'other tenant was', 'other tenants were')} not tried`
    : '');

/**
 * When the token expires; null if it does not say so. Only the claim `exp` is read, and the signature is not checked:
 * that is the platform's business.
 */
function tokenExpiry(token: string | undefined): Examined | null {
  let expires: unknown;
  try {
    const claims = JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString('utf8')) as object;
    expires = 'exp' in claims ? claims.exp : undefined;
  } catch {
    return null; // not a JWT, so it says nothing about itself
  }
  if (typeof expires !== 'number') return null;
  const left = expires - Date.now() / 1000;
  const when = new Date(expires * 1000).toISOString();
  if (left <= 0) return fail('token', `expired at ${when}`, 'renew PLATFORM_TOKEN, or the file that holds it');
  return left < seconds('doctorTokenEnds')
    ? warn('token', `expires at ${when}`, 'renew PLATFORM_TOKEN before then, or the file that holds it')
    : ok('token', `valid until ${when}`);
}

/**
 * Whether the platform has records of the sync in tenants to which it no longer delivers; nothing if it has none, or if the source or the
 * ledger does not respond: that is told already.
 */
export async function examineTenants(parts: ViewParts, sync: SyncSpec): Promise<Examined[]> {
  try {
    const tenants = await (await parts.openSync(sync.name)).tenants();
    const ledger = await parts.ledgerIfAny();
    const former = ledger === null ? [] : await formerTenantsOf(ledger, sync, tenants);
    if (former.length === 0) return [];
    return [warn('tenants', formerTenantsLine(former), formerTenantsRemedy(sync.name, former))];
  } catch (error) {
    if (error instanceof PartnerSyncError) return [];
    throw error;
  }
}

/**
 * Whether the sync's schema definitions were pushed as they are, by the ledger: the platform has no call to read them.
 */
export const examineSchemas = (parts: ViewParts, sync: SyncSpec): Promise<Examined[]> =>
  examined('schemas', async () => {
    const ledger = await parts.ledgerIfAny();
    const isNamed = (await readVariable(parts.env, 'PLATFORM_BASE_URL')) !== undefined;
    const pushed = isNamed ? await ledger?.schemaIds.pushed(await platformAddress(parts.env)) : undefined;
    const statuses = schemaStatuses(sync, pushed ?? new Map());
    const named = (wanted: (s: SchemaStatus) => boolean): string =>
      statuses
        .filter(wanted)
        .map((s) => s.definition.name)
        .join(', ');
    const missing = named((s) => s.status === 'new');
    const changed = named((s) => s.status === 'changed');
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
              `partner-sync schema diff ${sync.name} shows what changed; revert it, or give the schema a new name`,
            ),
          ]),
    ];
    return found.length > 0 ? found : [ok('schemas', 'all schema definitions are on the platform')];
  });

/** Temporal and its workers. `fix`: register missing search attributes. */
export const examineTemporal = (
  parts: ViewParts,
  asking: AskingWorkers & { readonly fix: boolean },
): Promise<Examined[]> =>
  examined('temporal', async () => {
    const temporal = await connectTemporal(parts.env);
    const { client, taskQueue } = temporal;
    try {
      const versions = await examineVersions(client, taskQueue);
      const { serverVersion } = await client.workflowService.getSystemInfo({});
      return [
        ok('temporal', `server ${serverVersion ?? 'of unknown version'}, namespace ${client.options.namespace}`),
        ...(await examineSearchAttributes(client, asking.fix)),
        ...(await examineWatch(parts, client, taskQueue, asking.asked)),
        ...versions.examined,
        ...(versions.reachable
          ? await examineWorkers(client, taskQueue, asking)
          : [skip('workers', 'were not asked, as they get no work')]),
      ];
    } finally {
      await temporal.close();
    }
  });
