/** What may be asked of a run while it works: Updates of its workflow, from the Web UI's form and the command line. */

/** Input of `pause` and `resume`; the Web UI's form may be left empty. */
export interface ControlInput {
  /** Who asks, and why: shown with the run. */
  readonly by?: string;
  readonly reason?: string;
}

/** A pause that a run is in. */
export interface Pause {
  /** ISO 8601. */
  readonly since: string;
  readonly by: string | null;
  readonly reason: string | null;
}

const FIELDS = ['by', 'reason'];
const LONGEST = 200;

/** Returns the input with its type; throws an error that says what is allowed. */
export function checkControlInput(update: string, input: unknown): ControlInput {
  if (input === undefined || input === null) return {};
  if (typeof input !== 'object' || Array.isArray(input))
    throw new Error(`${update}: expected nothing, or an object such as {"reason":"maintenance"}`);
  for (const [field, value] of Object.entries(input)) {
    if (!FIELDS.includes(field))
      throw new Error(`${update}: unknown field "${field.slice(0, 60)}"; allowed: ${FIELDS.join(', ')}`);
    if (typeof value !== 'string' || value.length > LONGEST)
      throw new Error(`${update}: "${field}" must be text of at most ${LONGEST} characters`);
  }
  return input;
}

/** The pause for people: `paused since 14:05:10 UTC by ana@ops (maintenance)`. */
export const pauseLine = ({ since, by, reason }: Pause): string =>
  `paused since ${since.slice(11, 19)} UTC${by === null ? '' : ` by ${by}`}${reason === null ? '' : ` (${reason})`}`;
