/** Dead letters, which are rows that could not be delivered, and the filter that selects some of them. */
import { PartnerSyncError } from '../errors.js';
import { quoted } from '../values/quoted.js';
import { isText } from '../values/text.js';
import type { ParentName } from './parent.js';
import type { SourceKey } from '../source/source.js';

/** One dead letter. It has keys, places and reasons; of the offending value only its masked shape. */
export interface StoredDeadLetter {
  readonly id: string;
  readonly mapping: string;
  /** null if the row has no known tenant. */
  readonly tenant: string | null;
  readonly sourceKey: SourceKey;
  readonly externalId: string | null;
  /** Version of the sync's files that the row was mapped with. */
  readonly mappingVersion: string;
  readonly code: string;
  /** JSON pointer into the record; empty if no field is meant. */
  readonly pointer: string;
  readonly rule: string;
  /** Our message, or the platform's with every value of the row masked. */
  readonly reason: string;
  readonly shape: string;
  /** Parents that were not delivered when it was written: the row is delivered automatically once they are. */
  readonly missing: readonly ParentName[];
  readonly run: string;
  /** How often the row has failed. */
  readonly times: number;
  /** ISO 8601. */
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/** Dead letters of one cause, counted: `4,012 rows: /email format`. */
export interface DeadLetterCause {
  readonly mapping: string;
  readonly code: string;
  readonly pointer: string;
  readonly rule: string;
  readonly count: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/** Selects dead letters of a sync; a field that is absent does not restrict the selection. */
export interface DeadLetterFilter {
  readonly mappings?: readonly string[];
  /** Codes of the catalogue of errors. */
  readonly codes?: readonly string[];
  /** JSON pointers: `/email`. */
  readonly fields?: readonly string[];
  /** Ids by which the platform knows tenants. */
  readonly tenants?: readonly string[];
  /** Seen last at this time or later; ISO 8601. */
  readonly since?: string;
}

const FILTER_FIELDS = ['codes', 'fields', 'tenants', 'since'] as const;

/**
 * Checks the `replay` field of a workflow's input; throws `input_invalid`. It has no `mappings`, which are a field of
 * the input.
 */
export function checkReplay(given: unknown): void {
  const invalid = (message: string): PartnerSyncError =>
    new PartnerSyncError('input_invalid', `Input of the backfill workflow: ${message}`);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid(`"replay" must be an object; {} means all dead letters`);
  for (const [name, value] of Object.entries(given)) {
    if (!FILTER_FIELDS.some((field) => field === name))
      throw invalid(`unknown field ${quoted(`replay.${name}`)}; allowed: ${FILTER_FIELDS.join(', ')}`);
    if (name === 'since') {
      if (typeof value !== 'string' || Number.isNaN(Date.parse(value)))
        throw invalid('"replay.since" must be a time such as "2026-01-31T08:00:00Z"');
    } else if (!Array.isArray(value) || value.length === 0 || !value.every(isText))
      throw invalid(`"replay.${name}" must be a list of texts, at least one`);
  }
}
