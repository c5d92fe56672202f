/**
 * The type of a handler: it receives a request that is already authorized and validated, and returns `data` or throws a
 * refusal.
 */
import type pg from 'pg';
import type { BodyOf, DataOf, Operation, ParamsOf, QueryOf } from '../../platform/contract/operation.js';
import type { OperationName, Operations } from '../../platform/contract/operations.js';
import type { Cursors } from '../cursors.js';
import type { BatchWorkers } from '../processing/batch-workers.js';
import { Refusal } from '../refusal.js';
import type { SchemaStore, StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import { unstorableText } from '../storable.js';
import type { Tenant, TenantLookup } from '../tenants.js';

/** What handlers share: one set for each running server. */
export interface Services {
  readonly pool: pg.Pool;
  readonly platformId: string;
  readonly findTenant: TenantLookup;
  readonly cursors: Cursors;
  readonly schemas: SchemaStore;
  readonly workers: BatchWorkers;
  readonly settings: SandboxSettings;
  /** The clock that relative dates refer to. */
  readonly now: () => Date;
}

/** One request to operation `O`. */
export interface Call<O extends Operation> {
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  /** The body exactly as received; empty if there is none. */
  readonly bodyText: string;
  /**
   * The tenant that the call acts for: set on tenant operations, and on a platform operation that was limited to a
   * tenant.
   */
  readonly tenant: O['scope'] extends 'tenant' ? Tenant : O extends { tenantFilter: true } ? Tenant | null : null;
}

/**
 * What a handler returns. `data` uses the contract's names; routes.ts adds the aliases and the envelope. `message` is
 * dropped from a flat response.
 */
export interface OperationResponse<D = unknown> {
  readonly message?: string;
  readonly data: D;
}

/** The implementation of one operation; throws a {@link Refusal} to refuse the request. */
export type Handler<N extends OperationName> = (
  call: Call<Operations[N]>,
  services: Services,
) => Promise<OperationResponse<DataOf<Operations[N]>>>;

/** The schema definition that a path names; refuses with `notFound`. */
export async function findSchema(services: Services, nameOrId: string): Promise<StoredSchema> {
  const schema = await services.schemas.find(nameOrId);
  if (schema === undefined) throw new Refusal('notFound', `no schema definition with the name or id "${nameOrId}"`);
  return schema;
}

/** The tenant that a path names; refuses with `notFound`. */
export async function findTenant(services: Services, id: string): Promise<Tenant> {
  const tenant = unstorableText(id, 'id') === undefined ? await services.findTenant(id) : undefined;
  if (tenant === undefined) throw new Refusal('notFound', `no tenant with the id ${JSON.stringify(id)}`);
  return tenant;
}
