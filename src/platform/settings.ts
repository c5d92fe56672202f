/** Settings of the platform client; what platform-api.md leaves open is a setting here (docs/assumptions.md). */
import { DEFAULT_PARAMETER_NAMES, type ParameterNames } from './contract/operation.js';

export interface PlatformSettings {
  /** `https://host[:port][/prefix]`; plain http only towards this machine. */
  readonly baseUrl: string;
  /** The token, or a function that is called before each request, so that a renewed one is picked up. */
  readonly token: string | (() => Promise<string>);
  /** Whose token it is: the platform account's, which must name a tenant, or one tenant's own (5.5: not shown). */
  readonly tokenScope: 'platform' | 'tenant';
  /** How the token is presented (5.4: not shown). */
  readonly authHeader: string;
  /** Word before the token; empty: the token alone. */
  readonly authScheme: string;
  /** Names of the three query parameters that 4.10 and 4.14 do not show. */
  readonly parameterNames: ParameterNames;
  /** Connections, and so requests at once, per client. */
  readonly connections: number;
  /** Milliseconds for one request, from its first to its last byte. */
  readonly requestTimeout: number;
  /** Bytes of an answer; more is refused. */
  readonly maxAnswerBytes: number;
  /** Milliseconds that a call may take with its retries, and with a Retry-After, before the caller gets the error; 0: none. */
  readonly retryBudget: number;
  /**
   * Milliseconds for which requests wait for another token after a 401, where `token` is a function; 0: the caller gets
   * the error at once.
   */
  readonly tokenWait: number;
  /** Milliseconds for which nothing but redirects may come from an operation before the error says that it will not pass. */
  readonly redirectWait: number;
  /** Is told, in a sentence for people, why requests wait. */
  readonly notice: (message: string) => void;
}

export const DEFAULT_PLATFORM_SETTINGS = {
  tokenScope: 'platform',
  authHeader: 'authorization',
  authScheme: 'Bearer',
  parameterNames: DEFAULT_PARAMETER_NAMES,
  connections: 8,
  requestTimeout: 30_000,
  maxAnswerBytes: 5 * 1024 * 1024,
  retryBudget: 60_000,
  tokenWait: 0,
  redirectWait: 5 * 60_000,
  notice: () => undefined,
} as const satisfies Partial<PlatformSettings>;

/** What a caller must say, and may. */
export type PlatformClientOptions = Pick<PlatformSettings, 'baseUrl' | 'token'> & Partial<PlatformSettings>;
