/** What a handler is: it takes a request that is already authorized and validated, and answers `data` or refuses. */
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

/** What handlers share; one per running server. */
export interface Services {
  readonly pool: pg.Pool;
  readonly platformId: string;
  readonly findTenant: TenantLookup;
  readonly cursors: Cursors;
  readonly schemas: SchemaStore;
  readonly workers: BatchWorkers;
  readonly settings: SandboxSettings;
  /** The clock that dates are relative to. */
  readonly now: () => Date;
}

/** One request. `tenant` is there on tenant operations, and where one limits the result and was named. */
export interface Call<O extends Operation> {
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly bodyText: string;
  readonly tenant: O['scope'] extends 'tenant' ? Tenant : O extends { tenantFilter: true } ? Tenant | null : null;
}

/** `data` has the contract's names; routes.ts adds those of twins. `message` is not shown in a flat answer. */
export interface Answer<D = unknown> {
  readonly message?: string;
  readonly data: D;
}

export type Handler<N extends OperationName> = (
  call: Call<Operations[N]>,
  services: Services,
) => Promise<Answer<DataOf<Operations[N]>>>;

/** The schema definition of a path, or a 404 that names it. */
export async function findSchema(services: Services, nameOrId: string): Promise<StoredSchema> {
  const schema = await services.schemas.find(nameOrId);
  if (schema === undefined) throw new Refusal('notFound', `no schema definition with the name or id "${nameOrId}"`);
  return schema;
}

/** The tenant of a path, or a 404 that names it. */
export async function findTenant(services: Services, id: string): Promise<Tenant> {
  const tenant = unstorableText(id, 'id') === undefined ? await services.findTenant(id) : undefined;
  if (tenant === undefined) throw new Refusal('notFound', `no tenant with the id ${JSON.stringify(id)}`);
  return tenant;
}
