/** Checks what was given for the fields of an action: by a link, or by a person. */
import { TurnedAway } from '../turned-away.js';
import type { Action, ActionValues } from './actions.js';

const LONGEST_VALUE = 500;

/**
 * The values that were given for an action's fields, checked. Throws {@link TurnedAway} for a value that cannot be, for an
 * unknown field and, if `complete`, for one that is missing.
 */
export function valuesOf(
  { fields }: Action,
  given: Readonly<Record<string, unknown>>,
  { complete }: { readonly complete: boolean },
): ActionValues {
  const invalid = (label: string, problem: string): TurnedAway => new TurnedAway(400, `${label} ${problem}`);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) throw invalid(`"${name}"`, 'is not a field of this action');
    if (typeof value !== 'string') throw invalid(field.label, 'was given more than once');
    if (value.trim() === '') continue;
    if (value.length > LONGEST_VALUE) throw invalid(field.label, `has more than ${LONGEST_VALUE} characters`);
    if (/\p{Cc}/u.test(value)) throw invalid(field.label, 'has a control character');
    const problem =
      field.choices?.includes(value) === false ? `must be ${field.choices.join(', ')}` : field.problem?.(value);
    if (problem !== undefined) throw invalid(field.label, problem);
    values[name] = value.trim();
  }
  for (const [name, { label, required, fixed }] of Object.entries(fields))
    if (required && values[name] === undefined && (complete || fixed)) throw invalid(label, 'is missing');
  return values;
}
