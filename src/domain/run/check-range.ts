/** Checks what a run is asked for before anything is read, as far as that does not need the files of its sync. */
import { PartnerSyncError } from '../errors.js';
import { CURSOR_BOUNDS, cursorBound } from '../values/cursor-bound.js';
import { quoted } from '../values/quoted.js';
import { checkRunInput, type RunInput, type RunKind } from './run.js';

/** Anything else that a Date takes would be read in the zone of whichever worker does so. */
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/** Characters of a list, which is in the history once for each mapping: beyond some megabytes, a run would begin anew for ever. */
const LONGEST_LIST = 250_000;

/**
 * Throws `input_invalid` for a list that is too long, a time without its zone, a bound of the cursor that is none, and for bounds in
 * the wrong order: a database would take "yesterday" for a time, and would find nothing between the others.
 */
export function checkRange(range: Pick<RunInput, 'from' | 'to' | 'replay' | 'externalIds'>): void {
  const { replay: { since } = {}, externalIds = [] } = range;
  if (since !== undefined && !INSTANT.test(since))
    throw new PartnerSyncError(
      'input_invalid',
      `"replay.since" must be a day, or a time with its zone, such as 2026-01-31T08:00:00Z, got ${quoted(since)}`,
    );
  if (JSON.stringify(externalIds).length > LONGEST_LIST)
    throw new PartnerSyncError(
      'input_invalid',
      `"externalIds" has more than ${LONGEST_LIST.toLocaleString('en-GB')} characters, of which Temporal keeps several copies; name fewer, or a range of keys`,
    );
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
