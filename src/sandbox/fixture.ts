/** The fixture: what the platform has but no operation creates. For now its own id and its tenants. */
import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Type, type Static } from 'typebox';
import { TENANT_ID_PATTERN } from '../domain/names.js';
import { inTransaction } from './database.js';
import { newAjv, schemaOf } from './json-schema.js';
import { errorTexts } from './validation-messages.js';

const Uuid = Type.String({ format: 'uuid' });

const FixtureTenant = Type.Object(
  {
    id: Type.String({ pattern: TENANT_ID_PATTERN }),
    name: Type.String({ minLength: 1 }),
    externalId: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);

export const SandboxFixture = Type.Object(
  { platformId: Type.Optional(Uuid), tenants: Type.Array(FixtureTenant) },
  { additionalProperties: false },
);
export type SandboxFixture = Static<typeof SandboxFixture>;

const validate = newAjv().compile(schemaOf(SandboxFixture));

/**
 * The fixture that `value` (a parsed JSON file) holds; throws an error that names every wrong place.
 *
 * @example parseFixture(JSON.parse(text), 'fixtures/retail-demo.json')
 */
export function parseFixture(value: unknown, file = 'fixture'): SandboxFixture {
  if (!validate(value)) throw invalidFixture(file, errorTexts(validate.errors));
  const fixture = value as SandboxFixture;
  const seen = new Set<string>();
  const repeated = fixture.tenants.flatMap(({ id }, i) => {
    if (seen.has(id)) return [`/tenants/${i}/id "${id}" comes twice`];
    seen.add(id);
    return [];
  });
  if (repeated.length > 0) throw invalidFixture(file, repeated);
  return fixture;
}

function invalidFixture(file: string, problems: readonly string[]): Error {
  return new Error(
    `${file}: ${problems.join('; ')}. Expected { "platformId"?: uuid, "tenants": [{ "id", "name", "externalId"? }] }`,
  );
}

/** Stores the fixture; what is there already stays, names are brought up to date. Answers the platform's id. */
export async function loadFixture(pool: pg.Pool, fixture: SandboxFixture): Promise<string> {
  return inTransaction(pool, async (db) => {
    await db.query('insert into sandbox.platform (id) values ($1) on conflict (only_row) do nothing', [
      fixture.platformId ?? randomUUID(),
    ]);
    const { rows } = await db.query<{ id: string }>('select id from sandbox.platform');
    const platformId = rows[0]!.id;
    if (fixture.platformId !== undefined && fixture.platformId.toLowerCase() !== platformId)
      throw new Error(
        `fixture: platformId is ${fixture.platformId}, but this database belongs to platform ${platformId}; use an empty database`,
      );
    // In one order everywhere, so that two servers starting at once cannot lock each other out.
    for (const tenant of [...fixture.tenants].sort((a, b) => (a.id < b.id ? -1 : 1)))
      await db.query(
        `insert into sandbox.tenants (id, business_id, name, external_id) values ($1, $2, $3, $4)
         on conflict (id) do update set name = excluded.name, external_id = excluded.external_id`,
        [tenant.id, businessId(tenant.id), tenant.name, tenant.externalId ?? null],
      );
    return platformId;
  });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `businessId` of a resource is a uuid (section 2): the tenant's id where it is one, else one derived from it. */
function businessId(tenantId: string): string {
  if (UUID.test(tenantId)) return tenantId.toLowerCase();
  const hex = createHash('sha256').update(tenantId).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
