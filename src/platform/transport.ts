/** One request to the platform: where it goes, what it carries, and how long it may take. */
import { Pool } from 'undici';
import { PartnerSyncError } from '../domain/errors.js';
import { errorCode } from '../domain/foreign-text.js';
import { isTenantId } from '../domain/names.js';
import type { RawAnswer } from './answer.js';
import { TENANT_HEADER } from './contract/envelope.js';
import type { Operation } from './contract/operation.js';
import { describe, platformError } from './error.js';
import { exchange, ExchangeEnded, type HttpRequest } from './exchange.js';
import { fillPath, fillQuery } from './path.js';
import type { PlatformSettings } from './settings.js';

/** What a caller may say about any call. */
export interface CallOptions {
  /**
   * Tenant to act for. Tenant operations need it, unless the token is a tenant's own (`tokenScope`); on
   * `listVoiceAggregates` it limits the result; elsewhere it is not sent.
   */
  readonly tenant?: string;
  /** Ends the call, also between two attempts; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds for one request, if it must end sooner than the settings say. */
  readonly timeout?: number;
  /** Makes one attempt only: the caller decides about others. */
  readonly once?: boolean;
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
  readonly #prefix: string;

  constructor(settings: PlatformSettings) {
    this.#settings = settings;
    const url = checkedBaseUrl(settings.baseUrl);
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(url.origin, { connections: settings.connections, pipelining: 1, keepAliveTimeout: 10_000 });
  }

  /** Sends it once. Throws `platform_unreachable` where no complete answer came. Redirects are answers like others. */
  async send(operation: Operation, call: AnyCall): Promise<RawAnswer> {
    const path =
      this.#prefix +
      fillPath(operation.path, { ...call.params }) +
      fillQuery({ ...call.query }, { ...this.#settings.parameterNames });
    const headers: Record<string, string> = {
      [this.#settings.authHeader]: await this.#credentials(),
      accept: 'application/json',
    };
    const tenant = this.#tenantOf(operation, call);
    if (tenant !== undefined) headers[TENANT_HEADER] = tenant;
    let body: ReadyBody | null = null;
    if (call.body !== undefined) {
      headers['content-type'] = 'application/json';
      body = isReady(call.body) ? call.body : JSON.stringify(call.body);
    }
    return this.#exchange(operation, { method: operation.method, path, headers, body }, call);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #credentials(): Promise<string> {
    const { token, authScheme } = this.#settings;
    const text = typeof token === 'string' ? token : await token();
    // Elsewhere it would fail with a message that may quote it.
    if (!/^[\x21-\x7e]+$/.test(text))
      throw new PartnerSyncError('config_invalid', 'the token (PLATFORM_TOKEN) holds characters that no token has');
    return authScheme === '' ? text : `${authScheme} ${text}`;
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

  async #exchange(operation: Operation, request: HttpRequest, { signal, timeout }: CallOptions): Promise<RawAnswer> {
    const limit = Math.min(timeout ?? Infinity, this.#settings.requestTimeout);
    const answerBytes = this.#settings.maxAnswerBytes;
    try {
      const { status, header, text } = await exchange(this.#pool, request, { deadline: limit, answerBytes, signal });
      return {
        ...{ status, text },
        contentType: header('content-type') ?? '',
        requestId: header('x-request-id'),
        retryAfter: header('retry-after'),
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

const isReady = (body: object | string): body is ReadyBody => typeof body === 'string' || body instanceof Uint8Array;

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Refuses what would send a token and personal data in the clear, or hide credentials in the address. */
function checkedBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const wrong =
    url === null
      ? 'is not a URL'
      : url.username !== '' || url.password !== ''
        ? 'must not carry credentials'
        : url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname))
          ? 'must be https (http only towards this machine)'
          : null;
  if (wrong !== null) throw new PartnerSyncError('config_invalid', `PLATFORM_BASE_URL ${wrong}`);
  return url!;
}
