/** What may be asked of a run while it works: Updates of its workflow, from the Web UI's form and the command line. */

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
}

/** A pause that a run is in. */
export interface Pause {
  /** ISO 8601. */
  readonly since: string;
  readonly by: string | null;
  readonly reason: string | null;
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
const FIELDS = { by: TEXT, reason: TEXT };

/** Throws an error that says what is allowed unless the input is one of `pause` and `resume`. */
export const checkControlInput = (update: string, input: unknown): void => checkFields(update, input, FIELDS);

/** Throws an error that says what is allowed unless the input is one of `approve`. */
export const checkApproveInput = (input: unknown): void =>
  checkFields('approve', input, { ...FIELDS, mappings: NAMES });

function checkFields(update: string, input: unknown, fields: Readonly<Record<string, FieldRule>>): void {
  if (input === undefined || input === null) return;
  if (typeof input !== 'object' || Array.isArray(input))
    throw new Error(`${update}: expected nothing, or an object such as {"reason":"maintenance"}`);
  for (const [field, value] of Object.entries(input)) {
    const rule = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (rule === undefined)
      throw new Error(`${update}: unknown field "${field.slice(0, 60)}"; allowed: ${Object.keys(fields).join(', ')}`);
    if (!rule.accepts(value)) throw new Error(`${update}: "${field}" must be ${rule.expected}`);
  }
}

/** The pause for people: `paused since 14:05:10 UTC by ana@ops (maintenance)`. */
export const pauseLine = ({ since, by, reason }: Pause): string =>
  `paused since ${since.slice(11, 19)} UTC${by === null ? '' : ` by ${by}`}${reason === null ? '' : ` (${reason})`}`;
