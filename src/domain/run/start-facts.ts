/** What a run was asked for, for people who look at it in Temporal. */
import { keysLabel } from './partition-label.js';
import type { RunInput, RunKind } from './run.js';

/** Names and values; without an id of a record, and without a key that may be more than a number. */
export function startFacts(
  kind: RunKind,
  { mode, mappings, mapping, from, to, afterKey, throughKey, limit, externalIds, replay }: RunInput,
): readonly (readonly [string, string])[] {
  const window = [from !== undefined && `from ${from}`, to !== undefined && `to before ${to}`].filter((part) => part);
  const hasKeys = afterKey !== undefined || throughKey !== undefined;
  const facts: Readonly<Record<string, string | undefined>> = {
    mode: kind === 'backfill' ? 'backfill' : (mode ?? 'as sync.yaml says'),
    mappings: mapping ?? mappings?.join(', '),
    'cursor column': window.length > 0 ? window.join(', ') : undefined,
    range: hasKeys ? (keysLabel(afterKey ?? null, throughKey ?? null) ?? 'a range of keys') : undefined,
    rows: limit === undefined ? undefined : `the first ${limit} of each mapping`,
    records: externalIds === undefined ? undefined : `${externalIds.length}, by external id`,
    'dead letters': replay === undefined ? undefined : 'replayed',
  };
  return Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}
