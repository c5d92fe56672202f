/**
 * The settings of the platform client. Whatever platform-api.md leaves open is a setting here (docs/assumptions.md).
 */
import { DEFAULT_PARAMETER_NAMES, type ParameterNames } from './contract/operation.js';
import { NO_METERS, type PlatformMeter } from '../domain/monitoring/meters.js';
import type { AccountLimit } from './account-limit.js';
import type { SharedRetryAfter } from './shared-retry-after.js';
import { milliseconds } from '../domain/timeouts.js';

/** All settings of a client. */
export interface PlatformSettings {
  /** `https://host[:port][/prefix]`; plain http only for this machine. */
  readonly baseUrl: string;
  /** The token, or a function that is called before each request, so that a renewed one is picked up. */
  readonly token: string | (() => Promise<string>);
  /** Whose token it is: the platform account's, which must name a tenant, or one tenant's own (5.5: not shown). */
  readonly tokenScope: 'platform' | 'tenant';
  /** How the token is presented (5.4: not shown). */
  readonly authHeader: string;
  /** The word before the token; empty for the token alone. */
  readonly authScheme: string;
  /** Names of the three query parameters that 4.10 and 4.14 do not show. */
  readonly parameterNames: ParameterNames;
  /** Connections per client, and so requests in flight. */
  readonly connections: number;
  /** Milliseconds for one request, from its first to its last byte. */
  readonly requestTimeout: number;
  /** Bytes of a response; a longer one is an error. */
  readonly maxResponseBytes: number;
  /**
   * Milliseconds that a call may take with its retries and with a Retry-After before the caller gets the error; 0: no
   * retries.
   */
  readonly retryBudget: number;
  /**
   * Milliseconds for which requests wait for another token after a 401, if `token` is a function; 0: the caller gets
   * the error at once.
   */
  readonly tokenWait: number;
  /** Milliseconds for which an operation may return nothing but redirects before they count as permanent. */
  readonly redirectWait: number;
  /** What other processes have heard of a Retry-After; absent: this one goes by what it hears itself. */
  readonly sharedRetryAfter?: SharedRetryAfter;
  /** What all requests with the account go by; absent: `connections` alone. */
  readonly accountLimit?: AccountLimit;
  /** Called with a sentence for people when requests have to wait. */
  readonly warn: (message: string) => void;
  /** Told of each request and retry. */
  readonly meter: PlatformMeter;
}

/** The settings of a client that are not given. */
export const DEFAULT_PLATFORM_SETTINGS = {
  tokenScope: 'platform',
  authHeader: 'authorization',
  authScheme: 'Bearer',
  parameterNames: DEFAULT_PARAMETER_NAMES,
  connections: 8,
  requestTimeout: milliseconds('platformRequest'),
  maxResponseBytes: 5 * 1024 * 1024,
  retryBudget: milliseconds('platformCall'),
  tokenWait: 0,
  redirectWait: milliseconds('redirectWait'),
  /** Warnings go nowhere. */
  warn: () => undefined,
  meter: NO_METERS.platform,
} as const satisfies Partial<PlatformSettings>;

/** What a caller must give, and may. */
export type PlatformClientOptions = Pick<PlatformSettings, 'baseUrl' | 'token'> & Partial<PlatformSettings>;
