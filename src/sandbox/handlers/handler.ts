/** What a handler is: it takes a request that is already authorized and validated, and answers `data` or refuses. */
import type pg from 'pg';
import type { BodyOf, Operation, ParamsOf, QueryOf } from '../../platform/contract/operation.js';
import type { operations, OperationName } from '../../platform/contract/operations.js';
import type { BatchWorkers } from '../processing/batch-workers.js';
import { Refusal } from '../refusal.js';
import type { SchemaStore, StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import type { Tenant } from '../tenants.js';

/** What handlers share; one per running server. */
export interface Services {
  readonly pool: pg.Pool;
  readonly platformId: string;
  readonly schemas: SchemaStore;
  readonly workers: BatchWorkers;
  readonly settings: SandboxSettings;
}

/** One request. `tenant` is there on tenant operations only. */
export interface Call<O extends Operation> {
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly bodyText: string;
  readonly tenant: O['scope'] extends 'tenant' ? Tenant : null;
}

export interface Answer {
  readonly message: string;
  readonly data: object;
}

export type Handler<N extends OperationName> = (
  call: Call<(typeof operations)[N]>,
  services: Services,
) => Promise<Answer>;

/** The schema definition of a path, or a 404 that names it. */
export async function findSchema(services: Services, nameOrId: string): Promise<StoredSchema> {
  const schema = await services.schemas.find(nameOrId);
  if (schema === undefined) throw new Refusal(404, `no schema definition with the name or id "${nameOrId}"`);
  return schema;
}
