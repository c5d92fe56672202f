/** One request to the platform: where it goes, what it carries, and how long it may take. */
import pLimit, { type LimitFunction } from 'p-limit';
import { Pool } from 'undici';
import { PartnerSyncError } from '../domain/errors.js';
import { errorCode } from '../domain/foreign-text.js';
import { isTenantId } from '../domain/names.js';
import { platformAddressProblem } from '../domain/platform-address.js';
import { readFailure, type RawAnswer } from './answer.js';
import { TENANT_HEADER } from './contract/envelope.js';
import type { Operation } from './contract/operation.js';
import { describe, platformError } from './error.js';
import { exchange, ExchangeEnded, type AnswerHead, type HttpRequest } from './exchange.js';
import { fillPath, fillQuery } from './path.js';
import { openQuietTime, type QuietTime } from './quiet-time.js';
import { retryAfterMs } from './retry.js';
import type { PlatformSettings } from './settings.js';
import { watchToken, type TokenWatch } from './token-watch.js';

/** What a caller may say about any call. */
export interface CallOptions {
  /**
   * Tenant to act for. Tenant operations need it, unless the token is a tenant's own (`tokenScope`); on
   * `listVoiceAggregates` it limits the result; elsewhere it is not sent.
   */
  readonly tenant?: string;
  /** Ends the call, also between two attempts; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Lets a request that is on its way come to its end whatever the signal says: its answer is needed. */
  readonly finish?: boolean;
  /** Milliseconds for one request, if it must end sooner than the settings say. */
  readonly timeout?: number;
  /** Milliseconds for the call with its retries, if not the settings' `retryBudget`. */
  readonly budget?: number;
  /** Makes one attempt only: the caller decides about others. */
  readonly once?: boolean;
  /** Is called right before each request, after all waiting; what it throws ends the call, and nothing is sent. */
  readonly before?: () => Promise<void>;
}

/** A body's JSON text, where it is encoded already (the hot path): as a string, or in UTF-8. */
export type ReadyBody = string | Uint8Array;

/** A call as any operation may have it. */
export interface AnyCall extends CallOptions {
  readonly params?: object;
  readonly query?: object;
  readonly body?: object | ReadyBody;
}

export class Transport {
  readonly #settings: PlatformSettings;
  readonly #pool: Pool;
  /** What waits for a connection waits here: in the pool it would go out however quiet the platform wants it. */
  readonly #turn: LimitFunction;
  readonly #quiet: QuietTime;
  readonly #tokens: TokenWatch;
  readonly #base: string;
  readonly #prefix: string;

  constructor(settings: PlatformSettings) {
    this.#settings = settings;
    const url = checkedBaseUrl(settings.baseUrl);
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#base = url.href;
    this.#pool = new Pool(url.origin, { connections: settings.connections, pipelining: 1, keepAliveTimeout: 10_000 });
    this.#turn = pLimit(settings.connections);
    this.#quiet = openQuietTime(settings.notice);
    this.#tokens = watchToken(settings);
  }

  /**
   * Sends it once, when it may be sent; `deadline` (`performance.now()`) is for a platform that wants to be left alone.
   * Throws `platform_busy` where it would be too late then, `platform_unauthorized` where a refused token was waited out in
   * vain, and `platform_unreachable` where no complete answer came. Redirects are answers like others.
   */
  send(operation: Operation, call: AnyCall, deadline: number): Promise<RawAnswer> {
    const { signal } = call;
    let begun = false;
    const sent = this.#turn(() => {
      begun = true;
      return this.#send(operation, call, deadline);
    });
    if (signal === undefined) return sent;
    // Whoever is cancelled does not wait for a connection any more; at its turn nothing is sent.
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        if (!begun) reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      sent.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
    });
  }

  async #send(operation: Operation, call: AnyCall, deadline: number): Promise<RawAnswer> {
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
      body = isReady(call.body) ? call.body : JSON.stringify(call.body);
    }
    const token = await this.#clearance(operation, call, deadline);
    const { authHeader, authScheme } = this.#settings;
    headers[authHeader] = authScheme === '' ? token : `${authScheme} ${token}`;
    const sentAt = performance.now();
    const answer = await this.#exchange(operation, { method: operation.method, path, headers, body }, call);
    if (answer.status < 300) this.#tokens.taken(token, sentAt);
    // Whoever says what is wrong with a token may quote it.
    const unquoted = answer.status < 300 ? answer : { ...answer, text: answer.text.replaceAll(token, '[token]') };
    if (answer.status === 401) this.#tokens.refused(token, readFailure(operation, unquoted));
    return unquoted;
  }

  /** Whether the next request waits for another token once one was refused. */
  get waitsForTokens(): boolean {
    return this.#tokens.mayCome;
  }

  /** The token, once nothing is in the way of sending any more. */
  async #clearance(operation: Operation, { before, signal }: AnyCall, deadline: number): Promise<string> {
    for (;;) {
      signal?.throwIfAborted();
      await this.#quiet.wait(operation, deadline - performance.now(), signal);
      const token = await this.#tokens.current(operation, signal);
      await before?.();
      if (this.#quiet.left() === 0) return token;
    }
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

  async #exchange(operation: Operation, request: HttpRequest, call: CallOptions): Promise<RawAnswer> {
    const { timeout } = call;
    const signal = call.finish === true ? undefined : call.signal;
    const limit = Math.min(timeout ?? Infinity, this.#settings.requestTimeout);
    const answerBytes = this.#settings.maxAnswerBytes;
    try {
      let asked: number | undefined;
      const onHead = ({ status, header }: AnswerHead): void => {
        // On a success it is about what was called, not about calling.
        if (status < 300) return;
        asked = retryAfterMs(header('retry-after'), Date.now(), header('date')) ?? undefined;
        if (asked !== undefined) this.#quiet.ask(asked);
      };
      const limits = { deadline: limit, answerBytes, signal, onHead };
      const { status, header, text } = await exchange(this.#pool, request, limits);
      return {
        ...{ status, text },
        contentType: header('content-type') ?? '',
        requestId: header('x-request-id'),
        retryAfterMs: asked,
        location: originOf(header('location'), this.#base),
      };
    } catch (error) {
      if (error instanceof ExchangeEnded && error.why === 'too long')
        throw platformError('platform_answer_invalid', operation, `answered more than ${answerBytes} bytes`);
      if (signal?.aborted) throw signal.reason;
      const code = errorCode(error);
      const reason =
        error instanceof ExchangeEnded ? `no complete answer within ${limit} ms` : code || (error as Error).name;
      throw platformError('platform_unreachable', operation, `failed: ${reason}`, {
        // Refused or unresolved connections never carried the request; everything else may have.
        inDoubt: !NEVER_SENT.has(code),
      });
    }
  }
}

function originOf(location: string | undefined, base: string): string | undefined {
  if (location === undefined || !URL.canParse(location, base)) return undefined;
  const { protocol, origin } = new URL(location, base);
  return /^https?:$/.test(protocol) ? origin : undefined;
}

const isReady = (body: object | string): body is ReadyBody => typeof body === 'string' || body instanceof Uint8Array;

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
