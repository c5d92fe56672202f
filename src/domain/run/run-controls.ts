/** What may be asked of a run while it works: Updates of its workflow, from the Web UI's form and the command line. */
import { quantity } from '../values/quantity.js';

/** Input of `pause` and `resume`; the Web UI's form may be left empty. */
export interface ControlInput {
  /** Who asks, and why: shown with the run. */
  readonly by?: string;
  readonly reason?: string;
}

/** Input of `approve`; the Web UI's form may be left empty. */
export interface ApproveInput extends ControlInput {
  /** The mappings on hold to approve; all of them if there are none. */
  readonly mappings?: readonly string[];
  /** The holds that were shown, each by its mapping and when it ends; if one is over by now, nothing is approved. */
  readonly shown?: readonly { readonly mapping: string; readonly until: string }[];
}

/** Input of `setRate`: limits of requests for all workers, until the next run; without any, those of sync.yaml. */
export interface SetRateInput extends ControlInput {
  readonly requestsAtOnce?: number;
  readonly requestsPerSecond?: number;
}

/** A pause that a run is in. */
export interface Pause {
  /** ISO 8601. */
  readonly since: string;
  readonly by: string | null;
  readonly reason: string | null;
}

/**
 * Why an Update is refused, for whoever has sent it. It has no stack, which the Web UI would show as part of the reason,
 * with the paths of the worker's machine.
 */
export class UpdateRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'UpdateRefused';
    this.stack = '';
  }
}

interface FieldRule {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

const LONGEST = 200;
const TEXT: FieldRule = {
  expected: `text of at most ${LONGEST} characters`,
  accepts: (value) => typeof value === 'string' && value.length <= LONGEST,
};
const NAMES: FieldRule = {
  expected: 'a list of names of mappings, such as ["orders"]',
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string'),
};
const HOLDS: FieldRule = {
  expected: 'a list of holds, such as [{"mapping":"orders","until":"2026-11-29T10:00:00.000Z"}]',
  accepts: (value) =>
    Array.isArray(value) &&
    value.every((hold: { mapping?: unknown; until?: unknown } | null) =>
      [hold?.mapping, hold?.until].every((text) => typeof text === 'string'),
    ),
};
const AT_ONCE: FieldRule = {
  expected: 'a whole number from 1 to 64',
  accepts: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 64,
};
const PER_SECOND: FieldRule = {
  expected: 'a number from 0.1 to 1000',
  accepts: (value) => typeof value === 'number' && value >= 0.1 && value <= 1000,
};
const FIELDS = { by: TEXT, reason: TEXT };

/** Throws {@link UpdateRefused} that says what is allowed unless the input is one of `pause` and `resume`. */
export const checkControlInput = (update: string, input: unknown): void => checkFields(update, input, FIELDS);

/** Throws {@link UpdateRefused} that says what is allowed unless the input is one of `approve`. */
export const checkApproveInput = (input: unknown): void =>
  checkFields('approve', input, { ...FIELDS, mappings: NAMES, shown: HOLDS });

/** Throws {@link UpdateRefused} that says what is allowed unless the input is one of `setRate`; the bounds are those of sync.yaml. */
export const checkSetRateInput = (input: unknown): void =>
  checkFields('setRate', input, { ...FIELDS, requestsAtOnce: AT_ONCE, requestsPerSecond: PER_SECOND });

function checkFields(update: string, input: unknown, fields: Readonly<Record<string, FieldRule>>): void {
  if (input === undefined || input === null) return;
  if (typeof input !== 'object' || Array.isArray(input))
    throw new UpdateRefused(`${update}: expected nothing, or an object such as {"reason":"maintenance"}`);
  for (const [field, value] of Object.entries(input)) {
    const rule = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (rule === undefined)
      throw new UpdateRefused(
        `${update}: unknown field "${field.slice(0, 60)}"; allowed: ${Object.keys(fields).join(', ')}`,
      );
    if (!rule.accepts(value)) throw new UpdateRefused(`${update}: "${field}" must be ${rule.expected}`);
  }
}

/** The limits for people: `at most 2 requests at once and 5 a second`. */
export function rateLine({ requestsAtOnce, requestsPerSecond }: SetRateInput): string {
  const parts = [
    ...(requestsAtOnce === undefined ? [] : [`${quantity(requestsAtOnce, 'request')} at once`]),
    ...(requestsPerSecond === undefined ? [] : [`${requestsPerSecond} a second`]),
  ];
  return parts.length === 0 ? 'the limits of sync.yaml' : `at most ${parts.join(' and ')}`;
}

/** The pause for people: `paused since 14:05:10 UTC by ana@ops (maintenance)`. */
export const pauseLine = ({ since, by, reason }: Pause): string =>
  `paused since ${since.slice(11, 19)} UTC${by === null ? '' : ` by ${by}`}${reason === null ? '' : ` (${reason})`}`;
