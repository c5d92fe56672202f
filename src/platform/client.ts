/** The platform's typed client: one method an operation, one place for deadlines, retries and error shapes. */
import { Pool } from 'undici';
import { PartnerSyncError } from '../domain/errors.js';
import { errorCode } from '../domain/foreign-text.js';
import { describe, readFailure, readSuccess, type RawAnswer } from './answer.js';
import { TENANT_HEADER } from './contract/envelope.js';
import type { BodyOf, DataOf, Operation, ParamsOf, QueryOf } from './contract/operation.js';
import { operations, type OperationName } from './contract/operations.js';
import { fillPath, fillQuery } from './path.js';
import { backoffMs, classifyStatus, pause, retryAfterMs } from './retry.js';
import type { PlatformSettings } from './settings.js';

type Operations = typeof operations;

export interface CallOptions {
  /** Tenant to act for; required by tenant-level operations. */
  readonly tenant?: string;
  readonly signal?: AbortSignal;
  /** Milliseconds for one request, if it must end sooner than the settings say. */
  readonly timeout?: number;
  /** Makes one attempt only: the caller decides about others. */
  readonly once?: boolean;
}

export interface CallInput<N extends OperationName> extends CallOptions {
  readonly params?: ParamsOf<Operations[N]>;
  readonly query?: QueryOf<Operations[N]>;
  /** The body, or its JSON text where it was encoded already (the hot path). */
  readonly body?: BodyOf<Operations[N]> | { readonly json: string };
}

export class PlatformClient {
  readonly #settings: PlatformSettings;
  readonly #pool: Pool;
  readonly #prefix: string;

  constructor(settings: PlatformSettings) {
    this.#settings = settings;
    const url = checkedBaseUrl(settings.baseUrl);
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(url.origin, { connections: settings.connections, pipelining: 1, keepAliveTimeout: 10_000 });
  }

  /** platform-api.md 4.4. Throws `platform_refused` when the name is taken. */
  createSchemaDefinition(body: BodyOf<Operations['createSchemaDefinition']>, options: CallOptions = {}) {
    return this.call('createSchemaDefinition', { ...options, body });
  }

  /**
   * platform-api.md 4.8 (and 4.5, which is the same path for the schema named `transactions`).
   * `json` is the text of the whole body, `{"resources":[...]}`, in bytes the platform accepts.
   * Sent once: the caller must be able to stop before each attempt. An answer that was lost, or leaves open
   * whether the batch was taken, shows in {@link isInDoubt}.
   */
  uploadResources(schema: string, json: string, query: QueryOf<Operations['uploadResources']>, options: CallOptions) {
    return this.call('uploadResources', {
      ...options,
      params: { schemaDefinitionNameOrId: schema },
      query,
      body: { json },
      once: true,
    });
  }

  /** platform-api.md 4.10; null when there is no such resource. References come in the `id` format. */
  async getResource(schema: string, externalId: string, options: CallOptions) {
    try {
      return await this.call('getResource', {
        ...options,
        params: { schemaDefinitionNameOrId: schema, externalId },
        query: { referenceFormat: 'id' },
      });
    } catch (error) {
      if (error instanceof PartnerSyncError && error.details['status'] === 404) return null;
      throw error;
    }
  }

  /** platform-api.md 4.14, with the details of pending resources; null when the batch is not visible (yet). */
  async getBatch(batchId: string, options: CallOptions) {
    try {
      return await this.call('getBatch', { ...options, params: { batchId }, query: { includePendingDetails: true } });
    } catch (error) {
      if (error instanceof PartnerSyncError && error.details['status'] === 404) return null;
      throw error;
    }
  }

  /** Calls any operation of the contract; repeats what may be repeated until the retry budget is spent. */
  async call<N extends OperationName>(name: N, input: CallInput<N>): Promise<DataOf<Operations[N]>> {
    const operation: Operation = operations[name];
    const started = performance.now();
    for (let attempt = 0; ; attempt++) {
      try {
        return readSuccess(name, await this.#request(operation, input)) as DataOf<Operations[N]>;
      } catch (error) {
        const spent = performance.now() - started;
        if (input.once || !(error instanceof PartnerSyncError) || !mayRepeat(operation, error)) throw error;
        const delay = (error.details['retryAfterMs'] as number | undefined) ?? backoffMs(attempt);
        if (spent + delay > this.#settings.retryBudget) throw error;
        await pause(delay, input.signal);
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #request(operation: Operation, input: CallInput<OperationName>): Promise<RawAnswer> {
    const path =
      this.#prefix +
      fillPath(operation.path, { ...input.params }) +
      fillQuery({ ...input.query }, { ...this.#settings.parameterNames });
    const headers: Record<string, string> = {
      [this.#settings.authHeader]: `${this.#settings.authScheme} ${await this.#settings.token()}`.trim(),
      accept: 'application/json',
    };
    if (operation.scope === 'tenant') {
      if (input.tenant === undefined)
        throw new PartnerSyncError('input_invalid', `${describe(operation)} needs a tenant`);
      headers[TENANT_HEADER] = input.tenant;
    }
    let body: string | null = null;
    if (input.body !== undefined) {
      headers['content-type'] = 'application/json';
      const given = input.body as object;
      body = 'json' in given && typeof given.json === 'string' ? given.json : JSON.stringify(given);
    }
    const answer = await this.#exchange(operation, path, headers, body, input);
    if (answer.status === operation.status || (answer.status >= 200 && answer.status < 300)) return answer;
    const kind = classifyStatus(answer.status);
    const error = readFailure(operation, answer, kind);
    throw new PartnerSyncError(error.code, error.message, {
      ...error.details,
      inDoubt: kind === 'unclear',
      retryAfterMs: retryAfterMs(answer.retryAfter, Date.now()) ?? undefined,
    });
  }

  async #exchange(
    operation: Operation,
    path: string,
    headers: Record<string, string>,
    body: string | null,
    { signal, timeout }: CallOptions,
  ) {
    // undici's own timeouts restart with each byte; only a total deadline ends a slow drip.
    const limit = Math.min(timeout ?? Infinity, this.#settings.requestTimeout);
    const deadline = AbortSignal.timeout(limit);
    try {
      const response = await this.#pool.request({
        method: operation.method,
        path,
        headers,
        body,
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      });
      const text = await readText(response.body, this.#settings.maxAnswerBytes);
      const header = (name: string): string | undefined => [response.headers[name]].flat()[0];
      return {
        status: response.statusCode,
        contentType: header('content-type') ?? '',
        requestId: header('x-request-id'),
        retryAfter: header('retry-after'),
        text,
      };
    } catch (error) {
      if (error instanceof PartnerSyncError) throw error;
      if (signal?.aborted) throw signal.reason;
      const code = errorCode(error);
      const reason = deadline.aborted ? `no complete answer within ${limit} ms` : code || (error as Error).name;
      throw new PartnerSyncError('platform_unreachable', `${describe(operation)}: ${reason}`, {
        // Refused or unresolved connections never carried the request; everything else may have.
        inDoubt: !NEVER_SENT.has(code),
      });
    }
  }
}

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether the request may have taken effect although no usable answer came. */
export function isInDoubt(error: unknown): boolean {
  return (
    error instanceof PartnerSyncError && (error.details['inDoubt'] === true || error.code === 'platform_answer_invalid')
  );
}

function mayRepeat(operation: Operation, error: PartnerSyncError): boolean {
  if (error.code === 'platform_busy') return true;
  const passing =
    error.code === 'platform_unreachable' ||
    error.code === 'platform_failed' ||
    error.code === 'platform_answer_invalid';
  return passing && (operation.idempotent || !isInDoubt(error));
}

async function readText(body: AsyncIterable<Buffer>, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new PartnerSyncError('platform_answer_invalid', `the answer is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}

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
