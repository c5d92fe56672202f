/** The platform's typed client: one method an operation, one place for retries. */
import { PartnerSyncError } from '../domain/errors.js';
import { readFailure, readSuccess } from './answer.js';
import type { BodyOf, DataOf, Operation, ParamsOf, QueryOf } from './contract/operation.js';
import { operations, type OperationName, type Operations } from './contract/operations.js';
import { isInDoubt, isNotFound } from './error.js';
import { entriesOf, type EntryOf, type ListName } from './lists.js';
import { backoffMs, classifyStatus, pause } from './retry.js';
import { DEFAULT_PLATFORM_SETTINGS, type PlatformClientOptions, type PlatformSettings } from './settings.js';
import { Transport, type CallOptions, type ReadyBody } from './transport.js';

/** The parts of a call, typed by the operation. */
export interface CallInput<N extends OperationName> extends CallOptions {
  readonly params?: ParamsOf<Operations[N]>;
  readonly query?: QueryOf<Operations[N]>;
  /** The body, or its JSON text where it was encoded already (the hot path). */
  readonly body?: BodyOf<Operations[N]> | ReadyBody;
}

type Query<N extends OperationName> = QueryOf<Operations[N]>;
type Body<N extends OperationName> = BodyOf<Operations[N]>;
/** A method's promise of an operation's data. */
type Data<N extends OperationName> = Promise<DataOf<Operations[N]>>;

/**
 * Every method throws a {@link PlatformError} of the class and `code` that the kind of failure has, and `input_invalid`
 * or `config_invalid` before anything is sent. Data comes with camelCase names where a field has two, and is validated:
 * a field that the types promise is there. Busy answers (425, 429, 503) are repeated; lost and unclear ones and redirects
 * only where the operation is idempotent; all within `retryBudget`. Before the time that a `Retry-After` names no call of
 * the client sends anything. After a 401 calls wait for another token where `tokenWait` says so.
 *
 * @example
 * const platform = new PlatformClient({ baseUrl: 'https://platform.example.com', token });
 * const batch = await platform.uploadResources('customer', { resources: [{ id: 'c-1' }] }, {}, { tenant: 'north' });
 * await platform.close();
 */
export class PlatformClient {
  readonly #settings: PlatformSettings;
  readonly #transport: Transport;
  /** Since when nothing but redirects has come from an operation. */
  readonly #redirecting = new Map<Operation, number>();

  constructor(options: PlatformClientOptions) {
    this.#settings = { ...DEFAULT_PLATFORM_SETTINGS, ...options };
    this.#transport = new Transport(this.#settings);
  }

  /**
   * 4.1: one page of the usage of the engagement product, tenant by tenant, ranked by total sends. Sends are counted
   * within the range (ISO 8601, both ends included), active automations and SMS numbers as they are now.
   * Throws {@link PlatformRefused} (400) for a wrong limit, date or cursor.
   */
  listTenantUsage(query: Query<'listTenantUsage'> = {}, options: CallOptions = {}): Data<'listTenantUsage'> {
    return this.call('listTenantUsage', { ...options, query });
  }

  /**
   * 4.2: conditions of a segment from a description in words, with a title and a description of its own. What is not
   * understood is no error: `success` is then false, and `failureReason` says why. Nothing is stored.
   * Throws {@link PlatformRefused} (400) for an empty text.
   */
  textToSegment(body: Body<'textToSegment'>, options: CallOptions): Data<'textToSegment'> {
    return this.call('textToSegment', { ...options, body });
  }

  /**
   * 4.3: registers a sending domain of the tenant; answers its id and the DNS records to publish, `ttl` in seconds.
   * Throws {@link PlatformRefused}: 400 names each wrong field, 409 a domain that the tenant has registered.
   */
  createSendingDomain(body: Body<'createSendingDomain'>, options: CallOptions): Data<'createSendingDomain'> {
    return this.call('createSendingDomain', { ...options, body });
  }

  /**
   * 4.4: creates a schema definition, for all tenants; answers it with id and version number. Its name, plural name,
   * category and external id field can never be changed.
   * Throws {@link PlatformRefused}: 400 names each wrong field, 409 says that the name is taken.
   */
  createSchemaDefinition(
    body: Body<'createSchemaDefinition'>,
    options: CallOptions = {},
  ): Data<'createSchemaDefinition'> {
    return this.call('createSchemaDefinition', { ...options, body });
  }

  /**
   * 4.5: {@link uploadResources} for the schema definition of transactions. `transactionDate` is an ISO 8601 date-time,
   * `transactionTotal` a number in the currency's own unit, `customerId` a reference. Throws the same errors.
   */
  uploadTransactions(
    body: Body<'uploadTransactions'> | ReadyBody,
    query: Query<'uploadTransactions'>,
    options: CallOptions,
  ): Data<'uploadTransactions'> {
    return this.call('uploadTransactions', { ...options, query, body });
  }

  /**
   * 4.6: copies library items into a tenant and takes others away, by their uuids; each item's outcome is in
   * `results`. Null when there was nothing to do.
   * Throws {@link PlatformRefused}: 404 for an unknown tenant or item, 400 for an item in both lists.
   */
  syncLibrary(tenantId: string, body: Body<'syncLibrary'>, options: CallOptions = {}): Data<'syncLibrary'> {
    return this.call('syncLibrary', { ...options, params: { tenantId }, body });
  }

  /**
   * 4.7: `count` of all recipients in the included segments and not in the excluded ones, and one page of them (1 to
   * 1000, default 100). Throws {@link PlatformRefused}: 404 for an unknown segment or automation.
   */
  countSegments(body: Body<'countSegments'>, options: CallOptions): Data<'countSegments'> {
    return this.call('countSegments', { ...options, body });
  }

  /**
   * 4.8: takes resources for asynchronous processing; follow the batch with {@link getBatch}.
   * `dependencyWaitTimeout` is in seconds. The body may be ready JSON text, `{"resources":[...]}`.
   * Two uploads are two batches: an answer that was lost is not repeated, see {@link isInDoubt}.
   * Throws {@link PlatformRefused} (400, 404) and {@link PlatformTooLarge}. What fails of a batch later is in its status.
   */
  uploadResources(
    schema: string,
    body: Body<'uploadResources'> | ReadyBody,
    query: Query<'uploadResources'>,
    options: CallOptions,
  ): Data<'uploadResources'> {
    return this.call('uploadResources', {
      ...options,
      params: { schemaDefinitionNameOrId: schema },
      query,
      body,
    });
  }

  /**
   * 4.9: creates a channel account of the tenant on a channel integration; answers it with its domain and what of it is
   * verified. Throws {@link PlatformRefused}: 404 for an unknown integration, 409 where the tenant has such an account.
   */
  createChannelAccount(body: Body<'createChannelAccount'>, options: CallOptions): Data<'createChannelAccount'> {
    return this.call('createChannelAccount', { ...options, body });
  }

  /**
   * 4.10: one resource, and with `include` (fields, nested by dots, separated by commas) those it refers to, in
   * `included`. References are `{ type, id }`, or with `referenceFormat: 'id'` plain external ids.
   * Throws {@link PlatformRefused} (404) when there is none; {@link findResource} answers null instead.
   */
  getResource(
    schema: string,
    externalId: string,
    query: Query<'getResource'>,
    options: CallOptions,
  ): Data<'getResource'> {
    return this.call('getResource', {
      ...options,
      params: { schemaDefinitionNameOrId: schema, externalId },
      query,
    });
  }

  /**
   * 4.11: creates a channel integration of the partner account; answers its id and its metadata.
   * Throws {@link PlatformRefused} (400) for a provider that does not carry the type.
   */
  createChannelIntegration(
    body: Body<'createChannelIntegration'>,
    options: CallOptions = {},
  ): Data<'createChannelIntegration'> {
    return this.call('createChannelIntegration', { ...options, body });
  }

  /** 4.12: one page of the partner's channel integrations (default 100). Throws {@link PlatformRefused} (400). */
  listChannelIntegrations(
    query: Query<'listChannelIntegrations'> = {},
    options: CallOptions = {},
  ): Data<'listChannelIntegrations'> {
    return this.call('listChannelIntegrations', { ...options, query });
  }

  /**
   * 4.13: an automation with its trigger, actions and segments. Throws {@link PlatformRefused} (404) for an unknown one,
   * and for a hidden one without the feature `reputation`.
   */
  getAutomation(id: string, query: Query<'getAutomation'>, options: CallOptions): Data<'getAutomation'> {
    return this.call('getAutomation', { ...options, params: { id }, query });
  }

  /**
   * 4.14: how far a batch is. It is done when `completedAt` is set; `successRate` is a share from 0 to 1.
   * Throws {@link PlatformRefused} (404) when it is not there (yet); {@link findBatch} answers null instead.
   */
  getBatch(batchId: string, query: Query<'getBatch'>, options: CallOptions): Data<'getBatch'> {
    return this.call('getBatch', { ...options, params: { batchId }, query });
  }

  /** 4.15: the email and text message of an automation. Throws {@link PlatformRefused} (404) when there is none. */
  getCommunicationGroup(id: string, options: CallOptions): Data<'getCommunicationGroup'> {
    return this.call('getCommunicationGroup', { ...options, params: { id } });
  }

  /**
   * 4.16: one page of sums of voice calls by tenant: durations in seconds, costs in cents. `tenant` limits it to one.
   * Throws {@link PlatformRefused} (400) for a wrong limit, date or cursor.
   */
  listVoiceAggregates(
    query: Query<'listVoiceAggregates'> = {},
    options: CallOptions = {},
  ): Data<'listVoiceAggregates'> {
    return this.call('listVoiceAggregates', { ...options, query });
  }

  /** 4.17: a tenant's SMS registration, or null. Throws {@link PlatformRefused} (404) for an unknown tenant. */
  getSmsRegistration(tenantId: string, options: CallOptions = {}): Data<'getSmsRegistration'> {
    return this.call('getSmsRegistration', { ...options, params: { id: tenantId } });
  }

  /** 4.10 with references as plain ids; null when there is no such resource or schema definition. */
  findResource(
    schema: string,
    externalId: string,
    options: CallOptions,
  ): Promise<DataOf<Operations['getResource']> | null> {
    return orNull(this.getResource(schema, externalId, { referenceFormat: 'id' }, options));
  }

  /** 4.14 with the details of pending resources; null when the batch is not there (yet). */
  findBatch(batchId: string, options: CallOptions): Promise<DataOf<Operations['getBatch']> | null> {
    return orNull(this.getBatch(batchId, { includePendingDetails: true }, options));
  }

  /**
   * All entries of a paginated list, fetched page by page as they are read.
   *
   * @example
   * for await (const row of platform.each('listTenantUsage', { query: { limit: 100 } })) console.log(row.tenantName);
   */
  each<N extends ListName>(name: N, input: CallInput<N> = {}): AsyncGenerator<EntryOf<N>, void> {
    return entriesOf(name, ({ query, body }) =>
      this.call(name, {
        ...input,
        ...(query === undefined ? {} : { query: { ...input.query, ...query } }),
        ...(body === undefined ? {} : { body: { ...(input.body as object | undefined), ...body } }),
      } as CallInput<N>),
    );
  }

  /** Calls any operation of the contract; repeats what may be repeated until the retry budget is spent. */
  async call<N extends OperationName>(name: N, input: CallInput<N>): Data<N> {
    const operation: Operation = operations[name];
    const deadline = (): number => performance.now() + (input.budget ?? this.#settings.retryBudget);
    let end = deadline();
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once(name, operation, input, end);
      } catch (error) {
        if (input.once || !(error instanceof PartnerSyncError)) throw error;
        if (this.awaitsToken(error)) {
          // What the next attempt waits for is none of the platform's failures.
          end = deadline() + this.#settings.tokenWait;
          continue;
        }
        const final = error.details['unsent'] === true || error.details['lasting'] === true;
        if (final || !mayRepeat(operation, error)) throw error;
        // What the platform asks for holds all requests back, in the transport.
        const asked = error.details['retryAfterMs'] as number | undefined;
        const delay = asked ?? backoffMs(attempt);
        if (performance.now() + delay > end) throw error;
        if (asked === undefined) await pause(delay, input.signal);
      }
    }
  }

  /** Whether the error is a 401 after which the next call waits until there is another token, or says that none came. */
  awaitsToken(error: PartnerSyncError): boolean {
    return this.#transport.waitsForTokens && error.details['status'] === 401 && error.details['lasting'] !== true;
  }

  async #once<N extends OperationName>(name: N, operation: Operation, input: CallInput<N>, end: number): Data<N> {
    const answer = await this.#transport.send(operation, input, end);
    const lasting = this.#hasRedirectedForLong(operation, answer.status);
    if (answer.status < 200 || answer.status > 299) throw readFailure(operation, answer, lasting);
    return readSuccess(name, answer) as DataOf<Operations[N]>;
  }

  /** One redirect may be that of a gateway which restarts; it is final once nothing else has come for long. */
  #hasRedirectedForLong(operation: Operation, status: number): boolean {
    if (classifyStatus(status) !== 'redirect') {
      this.#redirecting.delete(operation);
      return false;
    }
    const now = performance.now();
    const since = this.#redirecting.get(operation) ?? now;
    this.#redirecting.set(operation, since);
    return now - since >= this.#settings.redirectWait;
  }

  /** Ends the connections once the calls under way have ended. */
  async close(): Promise<void> {
    await this.#transport.close();
  }
}

async function orNull<T>(looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

function mayRepeat(operation: Operation, error: PartnerSyncError): boolean {
  if (error.code === 'platform_busy') return true;
  const passing =
    error.code === 'platform_unreachable' ||
    error.code === 'platform_failed' ||
    error.code === 'redirect_refused' ||
    error.code === 'platform_answer_invalid';
  return passing && (operation.idempotent || !isInDoubt(error));
}
