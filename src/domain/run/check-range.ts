/** Checks the range of a backfill before anything is read. */
import { PartnerSyncError } from '../errors.js';
import { CURSOR_BOUNDS, cursorBound } from '../values/cursor-bound.js';
import { quoted } from '../values/quoted.js';
import { checkRunInput, type RunInput, type RunKind } from './run.js';

/**
 * Throws `input_invalid` for a bound of the cursor that is none, and for bounds in the wrong order: a database would take
 * "yesterday" for a time, and would find nothing between the others.
 */
export function checkRange(range: Pick<RunInput, 'from' | 'to'>): void {
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const text = range[name];
    const bound = text === undefined ? undefined : cursorBound(text);
    if (bound === null)
      throw new PartnerSyncError('input_invalid', `"${name}" must be ${CURSOR_BOUNDS}, got ${quoted(text!)}`);
    return bound;
  });
  if (from === undefined || to === undefined) return;
  if (from.kind !== to.kind || from.value >= to.value)
    throw new PartnerSyncError(
      'input_invalid',
      `"from" must be before "to", got ${quoted(range.from!)} and ${quoted(range.to!)}`,
    );
}

/**
 * Checks all that can be known of a run's input before it is started. A workflow checks its range in an activity: a workflow
 * that began with another release must replay as it was.
 */
export function checkNewRunInput(kind: RunKind, given: unknown): RunInput {
  const input = checkRunInput(kind, given);
  checkRange(input);
  return input;
}
