/** The setting of a proof: a sandbox with one set of settings, and a client that matches them. */
import { readFileSync } from 'node:fs';
import { PlatformClient } from '../../src/platform/client.js';
import { PlatformError } from '../../src/platform/error.js';
import { DEFAULT_PLATFORM_SETTINGS, type PlatformSettings } from '../../src/platform/client-settings.js';
import { defaultFixture } from '../../src/sandbox/fixture/parse.js';
import type { Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { completeSettings, type GivenSettings, type SandboxSettings } from '../../src/sandbox/settings.js';
import { mintToken } from '../../src/sandbox/token.js';
import { createDatabase, SECRET, type TestDatabase } from '../sandbox/running-sandbox.js';

/** One way in which a platform may fill what its document leaves open. */
export interface Variant {
  readonly name: string;
  readonly sandbox: GivenSettings;
  readonly client: Partial<PlatformSettings>;
}

export interface RawAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Setting {
  readonly platform: PlatformClient;
  readonly settings: SandboxSettings;
  readonly database: TestDatabase;
  /** A call past the client, with a platform token in the variant's header. */
  readonly raw: (
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly tenant?: string; readonly token?: string | null },
  ) => Promise<RawAnswer>;
  /** Uploads, and waits until nothing is unprocessed; answers the batch's id. */
  readonly upload: (schema: string, resources: object[], query?: object) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** The tenant that has something of everything, in the fixture that ships. */
export const ACME = { tenant: 'acme-outdoor' };
/** One group of two conditions, once with each logic. */
const OF_TWO_TESTS = (['or', 'and'] as const).map((logic) => {
  const condition = (jsonPath: string, operator: 'is' | 'is_set', value: string[]) => ({
    type: 'property' as const,
    schema: 'customer',
    description: '',
    jsonPath,
    operator,
    value,
  });
  const conditions = [condition('$.country', 'is', ['France']), condition('$.phone', 'is_set', [])];
  const id = `french-${logic}-with-phone`;
  return {
    id,
    name: id,
    description: id,
    conditionGroups: [{ type: 'group' as const, description: id, logic, conditions }],
  };
});
/** Enough tenants that lists have more than one page of the default size. */
export const CROWD = Array.from({ length: 30 }, (_, i) => ({
  id: `crowd-${i}`,
  name: `Crowd ${i}`,
  onboardedAt: '2026-01-01T00:00:00Z',
  calls: [{ id: 'call', startedAt: '2026-02-01T00:00:00Z', durationSecs: 60, transferred: false, costCents: 1 }],
}));

export async function openSetting({ name, sandbox: given, client }: Variant): Promise<Setting> {
  const database = await createDatabase(`contract ${name}`);
  // Schema definitions and records have operations that create them.
  const { schemaDefinitions: _, tenants, ...shipped } = defaultFixture();
  const without = tenants.map(({ resources: _resources, ...tenant }) => tenant);
  const withLogic = without.map((tenant) =>
    tenant.id === ACME.tenant ? { ...tenant, segments: [...(tenant.segments ?? []), ...OF_TWO_TESTS] } : tenant,
  );
  const fixture: Fixture = { ...shipped, tenants: [...withLogic, ...CROWD] };
  const settings = completeSettings({ expiryCheckInterval: 50, ...given });
  const sandbox = await startSandbox({ stateUrl: database.url, port: 0, jwtSecret: SECRET, fixture, settings });
  const token = await mintToken({ secret: SECRET, scope: 'platform', expiresIn: '1h' });
  const platform = new PlatformClient({ ...DEFAULT_PLATFORM_SETTINGS, baseUrl: sandbox.url, token, ...client });
  const setting: Setting = {
    platform,
    settings,
    database,
    async raw(method, path, options = {}) {
      const bearer = options.token === undefined ? token : options.token;
      const response = await fetch(`${sandbox.url}${path}`, {
        method,
        headers: {
          ...(bearer !== null && { [settings.authHeader]: `${settings.authScheme} ${bearer}`.trim() }),
          ...(options.tenant !== undefined && { 'service-tenant-id': options.tenant }),
          ...(options.body !== undefined && { 'content-type': 'application/json' }),
        },
        body: options.body === undefined ? null : JSON.stringify(options.body),
      });
      return { status: response.status, body: (await response.json()) as RawAnswer['body'] };
    },
    async upload(schema, resources, query = {}) {
      const { batchId } = await platform.uploadResources(schema, { resources }, query, ACME);
      const deadline = Date.now() + 30_000;
      while (Date.now() < deadline) {
        if ((await platform.getBatch(batchId, {}, ACME)).startedAt) return batchId;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error('the batch was not processed');
    },
    async close() {
      await platform.close();
      await sandbox.close();
      await database.drop();
    },
  };
  await fill(setting);
  return setting;
}

/** The people and sales that segments and references are about. */
async function fill({ platform, upload }: Setting): Promise<void> {
  for (const name of ['customer', 'transactions']) {
    const file = new URL(`../../mappings/online-retail/${name}.schema.json`, import.meta.url);
    const { $schema: _, ...body } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    await platform.createSchemaDefinition(body as Parameters<typeof platform.createSchemaDefinition>[0]);
  }
  await upload('customer', CUSTOMERS);
  await upload(
    'transactions',
    ['t-1', 't-2', 't-3'].map((id) => sale(id, 'c-1')),
  );
}

const CUSTOMERS = [
  { customerId: 'c-1', firstName: 'Ann', lastName: 'Lee', email: 'ann@example.com', country: 'United Kingdom' },
  { customerId: 'c-2', firstName: 'Bob', phone: '+442079460958', country: 'United Kingdom', marketingOptIn: false },
  { customerId: 'c-3', firstName: 'Cleo', email: 'cleo@example.fr', country: 'France', marketingOptIn: false },
].map((customer) => ({ ...customer, createdAt: '2026-01-01T08:00:00Z' }));

export const sale = (id: string, customerId: string) => ({
  transactionId: id,
  customerId,
  transactionDate: '2026-02-01T10:00:00Z',
  transactionTotal: 10,
  kind: 'sale',
  currency: 'GBP',
});

/** The status by which the platform refuses; fails where it does not. */
export async function refusalOf(work: Promise<unknown>): Promise<PlatformError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof PlatformError) return error;
    throw error;
  }
  throw new Error('the platform did not refuse');
}
