/** Settings of the platform client; what platform-api.md leaves open is a setting here (docs/assumptions.md). */
import { DEFAULT_PARAMETER_NAMES, type ParameterNames } from './contract/operation.js';

export interface PlatformSettings {
  /** `https://host[:port][/prefix]`; plain http only towards this machine. */
  readonly baseUrl: string;
  /** Called before each request, so that a renewed token file is picked up without a restart. */
  readonly token: () => Promise<string>;
  /** How the token is presented (platform-api.md 5.4: not shown). */
  readonly authHeader: string;
  readonly authScheme: string;
  readonly parameterNames: ParameterNames;
  /** Connections, and so requests at once, per client. */
  readonly connections: number;
  /** Milliseconds for one request, from its first to its last byte. */
  readonly requestTimeout: number;
  /** Bytes of an answer; more is refused. */
  readonly maxAnswerBytes: number;
  /** Milliseconds that blind retries may take in all before the caller gets the error. */
  readonly retryBudget: number;
}

export const DEFAULT_PLATFORM_SETTINGS = {
  authHeader: 'authorization',
  authScheme: 'Bearer',
  parameterNames: DEFAULT_PARAMETER_NAMES,
  connections: 8,
  requestTimeout: 30_000,
  maxAnswerBytes: 5 * 1024 * 1024,
  retryBudget: 60_000,
} as const satisfies Partial<PlatformSettings>;
