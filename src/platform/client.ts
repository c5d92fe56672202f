/** The platform's typed client: a method for each operation, and one place for retries. */
import { PartnerSyncError } from '../domain/errors.js';
import type { BodyOf, DataOf, Operation, ParamsOf, QueryOf } from './contract/operation.js';
import { operations, type OperationName, type Operations } from './contract/operations.js';
import { callFacts, isInDoubt, isNotFound } from './error.js';
import { entriesOf, pagesOf, type EntryOf, type FetchPage, type ListName } from './lists.js';
import { readFailure, readSuccess } from './response.js';
import { backoffMs, isRedirect, pause } from './retry.js';
import { DEFAULT_PLATFORM_SETTINGS, type PlatformClientOptions, type PlatformSettings } from './client-settings.js';
import { Transport, type CallOptions, type ReadyBody } from './transport.js';

/** The parts of a call, typed by the operation. */
export interface CallInput<N extends OperationName> extends CallOptions {
  readonly params?: ParamsOf<Operations[N]>;
  readonly query?: QueryOf<Operations[N]>;
  /** The body, or its JSON text if it is already encoded (the hot path). */
  readonly body?: BodyOf<Operations[N]> | ReadyBody;
}

type Query<N extends OperationName> = QueryOf<Operations[N]>;
type Body<N extends OperationName> = BodyOf<Operations[N]>;
type Data<N extends OperationName> = DataOf<Operations[N]>;

/**
 * Every method throws a {@link PlatformError}, whose class and `code` tell the kind of failure, and `input_invalid` or
 * `config_invalid` before anything is sent. Data has the camelCase name of a field that has two, and is validated: a
 * field that the types promise is there. Busy responses (425, 429, 503) are retried; transport failures, server errors
 * and redirects only if the operation is idempotent; all within `retryBudget`. During a `Retry-After` no call of the
 * client sends anything. After a 401 calls wait for another token, if `tokenWait` allows.
 *
 * @example
 * const platform = new PlatformClient({ baseUrl: 'https://platform.example.com', token });
 * const batch = await platform.uploadResources('customer', { resources: [{ id: 'c-1' }] }, {}, { tenant: 'north' });
 * await platform.close();
 */
export class PlatformClient {
  readonly #settings: PlatformSettings;
  readonly #transport: Transport;
  /** By operation: since when it has responded with redirects only. */
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
  listTenantUsage(query: Query<'listTenantUsage'> = {}, options: CallOptions = {}): Promise<Data<'listTenantUsage'>> {
    return this.call('listTenantUsage', { ...options, query });
  }

  /**
   * 4.2: conditions of a segment from a description in words, with a title and a description of its own. A text that is
   * not understood is not an error: `success` is then false, and `failureReason` says why. Nothing is stored.
   * Throws {@link PlatformRefused} (400) for an empty text.
   */
  textToSegment(body: Body<'textToSegment'>, options: CallOptions): Promise<Data<'textToSegment'>> {
    return this.call('textToSegment', { ...options, body });
  }

  /**
   * 4.3: registers a sending domain of the tenant; returns its id and the DNS records to publish, `ttl` in seconds.
   * Throws {@link PlatformRefused}: 400 names each wrong field, 409 a domain that the tenant has registered.
   */
  createSendingDomain(body: Body<'createSendingDomain'>, options: CallOptions): Promise<Data<'createSendingDomain'>> {
    return this.call('createSendingDomain', { ...options, body });
  }

  /**
   * 4.4: creates a schema definition, for all tenants; returns it with id and version number. Its name, plural name,
   * category and external id field can never be changed.
   * Throws {@link PlatformRefused}: 400 names each wrong field, 409 says that the name is taken.
   */
  createSchemaDefinition(
    body: Body<'createSchemaDefinition'>,
    options: CallOptions = {},
  ): Promise<Data<'createSchemaDefinition'>> {
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
  ): Promise<Data<'uploadTransactions'>> {
    return this.call('uploadTransactions', { ...options, query, body });
  }

  /**
   * 4.6: copies library items into a tenant and removes others, by their uuids; each item's outcome is in
   * `results`. Null when there was nothing to do.
   * Throws {@link PlatformRefused}: 404 for an unknown tenant or item, 400 for an item in both lists.
   */
  syncLibrary(tenantId: string, body: Body<'syncLibrary'>, options: CallOptions = {}): Promise<Data<'syncLibrary'>> {
    return this.call('syncLibrary', { ...options, params: { tenantId }, body });
  }

  /**
   * 4.7: `count` of all recipients in the included segments and not in the excluded ones, and one page of them (1 to
   * 1000, default 100). Throws {@link PlatformRefused}: 404 for an unknown segment or automation.
   */
  countSegments(body: Body<'countSegments'>, options: CallOptions): Promise<Data<'countSegments'>> {
    return this.call('countSegments', { ...options, body });
  }

  /**
   * 4.8: accepts resources for asynchronous processing; poll the batch with {@link getBatch}.
   * `dependencyWaitTimeout` is in seconds. The body may be ready JSON text, `{"resources":[...]}`.
   * Two uploads are two batches, so an upload whose response was lost is not retried, see {@link isInDoubt}.
   * Throws {@link PlatformRefused} (400, 404) and {@link PlatformTooLarge}. What fails later is in the batch's status.
   */
  uploadResources(
    schema: string,
    body: Body<'uploadResources'> | ReadyBody,
    query: Query<'uploadResources'>,
    options: CallOptions,
  ): Promise<Data<'uploadResources'>> {
    return this.call('uploadResources', {
      ...options,
      params: { schemaDefinitionNameOrId: schema },
      query,
      body,
    });
  }

  /**
   * 4.9: creates a channel account of the tenant on a channel integration; returns it with its domain and the state of
   * its verification. Throws {@link PlatformRefused}: 404 for an unknown integration, 409 for an account that exists.
   */
  createChannelAccount(
    body: Body<'createChannelAccount'>,
    options: CallOptions,
  ): Promise<Data<'createChannelAccount'>> {
    return this.call('createChannelAccount', { ...options, body });
  }

  /**
   * 4.10: one resource, and with `include` (fields, nested by dots, separated by commas) those it refers to, in
   * `included`. References are `{ type, id }`, or with `referenceFormat: 'id'` plain external ids.
   * Throws {@link PlatformRefused} (404) when there is none; {@link findResource} returns null instead.
   */
  getResource(
    schema: string,
    externalId: string,
    query: Query<'getResource'>,
    options: CallOptions,
  ): Promise<Data<'getResource'>> {
    return this.call('getResource', {
      ...options,
      params: { schemaDefinitionNameOrId: schema, externalId },
      query,
    });
  }

  /**
   * 4.11: creates a channel integration of the partner account; returns its id and metadata.
   * Throws {@link PlatformRefused} (400) for a provider that does not carry the type.
   */
  createChannelIntegration(
    body: Body<'createChannelIntegration'>,
    options: CallOptions = {},
  ): Promise<Data<'createChannelIntegration'>> {
    return this.call('createChannelIntegration', { ...options, body });
  }

  /** 4.12: one page of the partner's channel integrations (default 100). Throws {@link PlatformRefused} (400). */
  listChannelIntegrations(
    query: Query<'listChannelIntegrations'> = {},
    options: CallOptions = {},
  ): Promise<Data<'listChannelIntegrations'>> {
    return this.call('listChannelIntegrations', { ...options, query });
  }

  /**
   * 4.13: an automation with its trigger, actions and segments. Throws {@link PlatformRefused} (404) for an unknown
   * one, and for a hidden one without the feature `reputation`.
   */
  getAutomation(id: string, query: Query<'getAutomation'>, options: CallOptions): Promise<Data<'getAutomation'>> {
    return this.call('getAutomation', { ...options, params: { id }, query });
  }

  /**
   * 4.14: the status of a batch. It is complete when `completedAt` is set; `successRate` is a share from 0 to 1.
   * Throws {@link PlatformRefused} (404) when it is not there (yet); {@link findBatch} returns null instead.
   */
  getBatch(batchId: string, query: Query<'getBatch'>, options: CallOptions): Promise<Data<'getBatch'>> {
    return this.call('getBatch', { ...options, params: { batchId }, query });
  }

  /** 4.15: the email and text message of an automation. Throws {@link PlatformRefused} (404) when there is none. */
  getCommunicationGroup(id: string, options: CallOptions): Promise<Data<'getCommunicationGroup'>> {
    return this.call('getCommunicationGroup', { ...options, params: { id } });
  }

  /**
   * 4.16: one page of sums of voice calls by tenant: durations in seconds, costs in cents. `tenant` limits it to one.
   * Throws {@link PlatformRefused} (400) for a wrong limit, date or cursor.
   */
  listVoiceAggregates(
    query: Query<'listVoiceAggregates'> = {},
    options: CallOptions = {},
  ): Promise<Data<'listVoiceAggregates'>> {
    return this.call('listVoiceAggregates', { ...options, query });
  }

  /** 4.17: a tenant's SMS registration, or null. Throws {@link PlatformRefused} (404) for an unknown tenant. */
  getSmsRegistration(tenantId: string, options: CallOptions = {}): Promise<Data<'getSmsRegistration'>> {
    return this.call('getSmsRegistration', { ...options, params: { id: tenantId } });
  }

  /** 4.10 with references as plain ids; null when there is no such resource or schema definition. */
  findResource(schema: string, externalId: string, options: CallOptions): Promise<Data<'getResource'> | null> {
    return orNull(this.getResource(schema, externalId, { referenceFormat: 'id' }, options));
  }

  /** 4.14 with the details of pending resources; null when the batch is not there (yet). */
  findBatch(batchId: string, options: CallOptions): Promise<Data<'getBatch'> | null> {
    return orNull(this.getBatch(batchId, { includePendingDetails: true }, options));
  }

  /**
   * All entries of a paginated list, fetched page by page as they are read.
   *
   * @example
   * for await (const row of platform.each('listTenantUsage', { query: { limit: 100 } })) console.log(row.tenantName);
   */
  each<N extends ListName>(name: N, input: CallInput<N> = {}): AsyncGenerator<EntryOf<N>, void> {
    return entriesOf(name, this.#pageOf(name, input));
  }

  /** The pages of a list as the platform returns them, one after the other; see {@link each}. */
  pages<N extends ListName>(name: N, input: CallInput<N> = {}): AsyncGenerator<Record<string, unknown>, void> {
    return pagesOf(name, this.#pageOf(name, input));
  }

  #pageOf<N extends ListName>(name: N, input: CallInput<N>): FetchPage {
    return ({ query, body }) =>
      this.call(name, {
        ...input,
        ...(query === undefined ? {} : { query: { ...input.query, ...query } }),
        ...(body === undefined ? {} : { body: { ...(input.body as object | undefined), ...body } }),
      } as CallInput<N>);
  }

  /** Calls any operation of the contract, with retries within the retry budget. */
  async call<N extends OperationName>(name: N, input: CallInput<N>): Promise<Data<N>> {
    const operation: Operation = operations[name];
    const deadline = (): number => performance.now() + (input.budget ?? this.#settings.retryBudget);
    let end = deadline();
    let failures = 0;
    let failedAt: number | undefined;
    while (true) {
      try {
        return await this.#once(name, operation, input, end);
      } catch (error) {
        if (input.once || !(error instanceof PartnerSyncError)) throw error;
        if (this.awaitsToken(error)) {
          // Waiting for a token is not a failure of the platform.
          end = deadline() + this.#settings.tokenWait;
          continue;
        }
        const { unsent, final, retryAfterMs } = callFacts(error);
        if (unsent === true || final === true || !mayRepeat(operation, error)) throw error;
        const delay = retryAfterMs ?? backoffMs(failures);
        failures++;
        const now = performance.now();
        if (now + delay > end) throw error;
        input.onRetry?.(error.code, now - (failedAt ??= now));
        // The transport makes all requests wait for a Retry-After.
        if (retryAfterMs === undefined) await pause(delay, input.signal);
        this.#settings.meter.repeated(name);
      }
    }
  }

  /** Whether the error is a 401 after which the next attempt waits for another token. */
  awaitsToken(error: PartnerSyncError): boolean {
    const { status, final } = callFacts(error);
    return this.#transport.waitsForTokens && status === 401 && final !== true;
  }

  async #once<N extends OperationName>(
    name: N,
    operation: Operation,
    input: CallInput<N>,
    end: number,
  ): Promise<Data<N>> {
    const response = await this.#transport.send(operation, input, end);
    const final = this.#hasRedirectedForLong(operation, response.status);
    if (response.status < 200 || response.status > 299) throw readFailure(operation, response, final);
    return readSuccess(name, response, { ...input.params }) as Data<N>;
  }

  /** A single redirect may come from a gateway that restarts; it is final once there has been nothing else for long. */
  #hasRedirectedForLong(operation: Operation, status: number): boolean {
    if (!isRedirect(status)) {
      this.#redirecting.delete(operation);
      return false;
    }
    const now = performance.now();
    const since = this.#redirecting.get(operation) ?? now;
    this.#redirecting.set(operation, since);
    return now - since >= this.#settings.redirectWait;
  }

  /** Closes the connections once all calls have ended. */
  async close(): Promise<void> {
    await this.#transport.close();
  }
}

/** null for a 404 or 410; any other failure is thrown. */
async function orNull<T>(looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/**
 * Whether the client may send the request again: always if the platform did not process it, otherwise only if repeating
 * is harmless.
 */
function mayRepeat(operation: Operation, error: PartnerSyncError): boolean {
  if (error.code === 'platform_busy') return true;
  const passing =
    error.code === 'platform_unreachable' ||
    error.code === 'platform_failed' ||
    error.code === 'redirect_refused' ||
    error.code === 'platform_response_invalid';
  return passing && (operation.idempotent || !isInDoubt(error));
}
