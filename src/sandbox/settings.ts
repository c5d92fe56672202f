/** The choices of the sandbox where platform-api.md is silent; docs/assumptions.md lists them all. */
import { DEFAULT_PARAMETER_NAMES, type ParameterNames } from '../platform/contract/operation.js';

export interface SandboxSettings {
  /** Records of one upload; more are answered with 413. Section 8: "maximum number of resources per batch: not shown". */
  readonly maxRecordsPerBatch: number;
  /** Bytes of one request body; more are answered with 413. Section 8: "maximum request size: not shown". */
  readonly maxBodyBytes: number;
  /** Milliseconds between the 202 and the processing, to make asynchrony visible. Section 3, rule 2. */
  readonly processingDelay: number;
  /** Batches processed side by side. Section 3, rule 2: no order between batches is promised. */
  readonly batchesAtOnce: number;
  /** Milliseconds between two looks for pending resources whose wait has elapsed. Section 3, rule 3. */
  readonly expiryCheckInterval: number;
  /** Names of the three query parameters that sections 4.10 and 4.14 do not show. */
  readonly parameterNames: ParameterNames;
  /** Which of the two error shapes 4.5, 4.8 and 4.10 answer with. Section 7: when each is used is not shown. */
  readonly errorShape: 'standard' | 'alternative';
  /** Which names of twin fields answers carry. Sections 1 and 2 say both; a client should survive either alone. */
  readonly fieldNames: 'both' | 'camel' | 'snake';
  /** Host names under which the server may be called besides loopback and its own (a service name in a container network). */
  readonly allowedHosts: readonly string[];
}

export const DEFAULT_SETTINGS: SandboxSettings = {
  maxRecordsPerBatch: 500,
  maxBodyBytes: 4 * 1024 * 1024,
  processingDelay: 0,
  batchesAtOnce: 2,
  expiryCheckInterval: 1_000,
  parameterNames: DEFAULT_PARAMETER_NAMES,
  errorShape: 'standard',
  fieldNames: 'both',
  allowedHosts: [],
};

/** The defaults with what the caller sets; a setting that is left undefined keeps its default. */
export function completeSettings(given: Partial<SandboxSettings> = {}): SandboxSettings {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_SETTINGS, ...(Object.fromEntries(set) as Partial<SandboxSettings>) };
}
