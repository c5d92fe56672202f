/** One request to the platform: where it goes, what it carries, and how long it may take. */
import { Pool } from 'undici';
import { PartnerSyncError } from '../domain/errors.js';
import { errorCode } from '../domain/values/foreign-text.js';
import type { MeteredRequest } from '../domain/monitoring/meters.js';
import { isTenantId } from '../domain/values/names.js';
import { platformAddressProblem } from '../domain/sync/platform-address.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import { milliseconds } from '../domain/timeouts.js';
import { TENANT_HEADER } from './contract/envelope.js';
import type { Operation } from './contract/operation.js';
import { operations } from './contract/operations.js';
import { describe, platformError } from './error.js';
import { exchange, ExchangeEnded, type HttpRequest, type ResponseHead } from './exchange.js';
import type { AccountLimit } from './account-limit.js';
import { createFairSemaphore } from './fair-semaphore.js';
import type { Pace } from './pace.js';
import { fillPath, fillQuery } from './path.js';
import { readFailure, type RawResponse } from './response.js';
import { createRetryAfterGate, type RetryAfterGate } from './retry-after.js';
import { retryAfterMs } from './retry.js';
import type { PlatformSettings } from './client-settings.js';
import { watchToken, type TokenWatch } from './token-watch.js';

/** Options of any call. */
export interface CallOptions {
  /**
   * Tenant to act for. Tenant operations need it, unless the token is a tenant's own (`tokenScope`); on
   * `listVoiceAggregates` it limits the result; elsewhere it is not sent.
   */
  readonly tenant?: string;
  /** Ends the call, also between two attempts; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Lets a request that was sent complete even when the signal aborts: its response is needed. */
  readonly finish?: boolean;
  /** Milliseconds for one request, if it must end sooner than the settings say. */
  readonly timeout?: number;
  /** Milliseconds for the call with its retries, if not the settings' `retryBudget`. */
  readonly budget?: number;
  /** Makes one attempt only; the caller decides about retries. */
  readonly once?: boolean;
  /**
   * What each request of the call awaits first. Connections go to those with one pace, which are a sync's, and to all
   * others in turn.
   */
  readonly pace?: Pace;
  /** Called right before each request, after all waiting; what it throws ends the call, and nothing is sent. */
  readonly before?: () => Promise<void>;
  /** Called when a request has failed and is sent again, and while the call waits for another token. */
  readonly onRetry?: OnRetry;
  /** Called when a request has ended: with its status, or null if it got no complete response, and milliseconds. */
  readonly onEnd?: (operation: string, status: number | null, ms: number) => void;
}

/** A body that is already encoded as JSON (the hot path): as a string, or in UTF-8. */
export type ReadyBody = string | Uint8Array;

/** The parts of a call, whatever the operation. */
export interface AnyCall extends CallOptions {
  readonly params?: object;
  readonly query?: object;
  readonly body?: object | ReadyBody;
}

/**
 * Sends single requests: one pool of connections, one Retry-After and one token for all calls of a client. Retries are
 * the client's.
 */
export class Transport {
  readonly #settings: PlatformSettings;
  readonly #pool: Pool;
  /** Requests queue here for a connection: in the pool's own queue they would be sent even during a Retry-After. */
  readonly #connections: AccountLimit;
  readonly #retryAfter: RetryAfterGate;
  readonly #tokens: TokenWatch;
  readonly #base: string;
  readonly #prefix: string;

  constructor(settings: PlatformSettings) {
    this.#settings = settings;
    const url = checkedBaseUrl(settings.baseUrl);
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#base = url.href;
    this.#pool = new Pool(url.origin, {
      connections: settings.connections,
      pipelining: 1,
      keepAliveTimeout: milliseconds('platformKeepAlive'),
    });
    this.#connections = settings.accountLimit ?? createFairSemaphore(settings.connections);
    this.#retryAfter = createRetryAfterGate(settings.warn, settings.sharedRetryAfter);
    this.#tokens = watchToken(settings);
  }

  /**
   * Sends one request, after any Retry-After and at its pace; `deadline` (`performance.now()`) bounds the former.
   *
   * Throws `platform_busy` if that would pass the deadline, `platform_unauthorized` if no new token came for a rejected
   * one, and `platform_unreachable` for an incomplete response. Redirects are returned like any response.
   */
  async send(operation: Operation, call: AnyCall, deadline: number): Promise<RawResponse> {
    const { pace, signal } = call;
    const request = this.#requestOf(operation, call);
    const connect = () => this.#connections.acquire(pace, signal);
    while (true) {
      // Nothing that one sync waits for may keep a connection from another.
      await this.#retryAfter.wait(operation, deadline - performance.now(), signal);
      const disconnect = await (pace === undefined ? connect() : pace.next(connect, signal));
      try {
        const token = await this.#readyToken(operation, call);
        if (token !== null) return await this.#sendWith(token, operation, request, call);
      } finally {
        disconnect();
      }
    }
  }

  #requestOf(operation: Operation, call: AnyCall): HttpRequest {
    const path =
      this.#prefix +
      fillPath(operation.path, { ...call.params }) +
      fillQuery({ ...call.query }, { ...this.#settings.parameterNames });
    const headers: Record<string, string> = { accept: 'application/json' };
    const tenant = this.#tenantOf(operation, call);
    if (tenant !== undefined) headers[TENANT_HEADER] = tenant;
    let body: ReadyBody | null = null;
    if (call.body !== undefined) {
      headers['content-type'] = 'application/json';
      body = isReady(call.body) ? call.body : JSON.stringify(call.body, refuseNonFinite);
    }
    return { method: operation.method, path, headers, body };
  }

  async #sendWith(token: string, operation: Operation, request: HttpRequest, call: AnyCall): Promise<RawResponse> {
    const { authHeader, authScheme } = this.#settings;
    const headers = { ...request.headers, [authHeader]: authScheme === '' ? token : `${authScheme} ${token}` };
    const sentAt = performance.now();
    const response = await this.#exchange(operation, { ...request, headers }, call);
    if (response.status < 300) this.#tokens.accepted(sentAt);
    // An error about a token may quote it.
    const unquoted =
      response.status < 300 ? response : { ...response, text: response.text.replaceAll(token, '[token]') };
    if (response.status === 401) this.#tokens.rejected(token, readFailure(operation, unquoted));
    return unquoted;
  }

  /** Whether requests wait for a new token after one was rejected. */
  get waitsForTokens(): boolean {
    return this.#tokens.canRenew;
  }

  /** The token for a request that is to be sent now; null if the platform has asked for another pause meanwhile. */
  async #readyToken(operation: Operation, call: AnyCall): Promise<string | null> {
    const { before, signal } = call;
    if (!(await this.#retryAfter.isOver())) return null;
    const token = await this.#tokens.current(operation, call);
    signal?.throwIfAborted();
    await before?.();
    return this.#retryAfter.remainingMs() === 0 ? token : null;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #tenantOf(operation: Operation, { tenant }: CallOptions): string | undefined {
    if (operation.scope !== 'tenant' && operation.tenantFilter === undefined) return undefined;
    if (tenant === undefined) {
      if (operation.scope !== 'tenant' || this.#settings.tokenScope === 'tenant') return undefined;
      throw new PartnerSyncError('input_invalid', `${describe(operation)} needs a tenant`);
    }
    if (!isTenantId(tenant))
      throw new PartnerSyncError('input_invalid', 'a tenant id is 1 to 64 letters, digits, "_" or "-"');
    return tenant;
  }

  async #exchange(operation: Operation, request: HttpRequest, call: CallOptions): Promise<RawResponse> {
    const { timeout } = call;
    const signal = call.finish === true ? undefined : call.signal;
    const limit = Math.min(timeout ?? Infinity, this.#settings.requestTimeout);
    const maxBytes = this.#settings.maxResponseBytes;
    const metered = METERED.get(operation)!;
    const ended = this.#settings.meter.requestBegins(metered);
    const began = performance.now();
    let measured: number | null = null;
    try {
      let asked: number | undefined;
      const onHead = ({ status, header }: ResponseHead): void => {
        // On a success Retry-After is about the resource, not about further requests.
        if (status < 300) return;
        asked = retryAfterMs(header('retry-after'), Date.now(), header('date')) ?? undefined;
        if (asked !== undefined) this.#retryAfter.extend(asked);
      };
      const limits = { deadline: limit, maxBytes, signal, onHead };
      const { status, header, text } = await exchange(this.#pool, request, limits);
      measured = status;
      return {
        status,
        text,
        contentType: header('content-type') ?? '',
        requestId: header('x-request-id'),
        retryAfterMs: asked,
        location: originOf(header('location'), this.#base),
      };
    } catch (error) {
      if (error instanceof ExchangeEnded && error.why === 'too long')
        throw platformError('platform_response_invalid', operation, `returned more than ${maxBytes} bytes`);
      if (signal?.aborted) throw signal.reason;
      const code = errorCode(error);
      const reason =
        error instanceof ExchangeEnded ? `no complete response within ${limit} ms` : code || (error as Error).name;
      throw platformError('platform_unreachable', operation, `failed: ${reason}`, {
        // A connection that was refused or not resolved never carried the request; any other may have.
        inDoubt: !NEVER_SENT.has(code),
      });
    } finally {
      ended(measured);
      call.onEnd?.(metered.operation, measured, performance.now() - began);
    }
  }
}

/** The operations, as metrics and traces have them. */
const METERED: ReadonlyMap<Operation, MeteredRequest> = new Map(
  Object.entries(operations).map(([name, each]) => [each, { operation: name, method: each.method, path: each.path }]),
);

/** Scheme, host and port of a redirect's target: the rest may contain secrets. */
function originOf(location: string | undefined, base: string): string | undefined {
  if (location === undefined || !URL.canParse(location, base)) return undefined;
  const { protocol, origin } = new URL(location, base);
  return /^https?:$/.test(protocol) ? origin : undefined;
}

/** JSON.stringify makes null of NaN and of infinities, and null deletes a field (platform-api.md 4.8). */
function refuseNonFinite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new PartnerSyncError('input_invalid', `the body's field "${name}" is ${value}, which JSON cannot represent`);
  return value;
}

const isReady = (body: object | string): body is ReadyBody => typeof body === 'string' || body instanceof Uint8Array;

/** Errors of connecting, before anything was sent. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function checkedBaseUrl(text: string): URL {
  const wrong = platformAddressProblem(text);
  if (wrong !== undefined) throw new PartnerSyncError('config_invalid', `PLATFORM_BASE_URL ${wrong}`);
  return new URL(text);
}
