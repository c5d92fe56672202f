/** Dead letters read again: a replay delivers their rows anew; rows that are gone take their letters with them. */
import type { ReplayRef, SliceResult, SweepInput } from '../src/domain/work.js';
import type { SourceKey } from '../src/domain/source.js';
import type { LetterKey } from '../src/state/dead-letter-box.js';
import { END_OF_RANGE, rowsOf } from '../src/state/group-outcome.js';
import { deliverAheadNow } from './deliver-ahead.js';
import { deliverGroup } from './deliver-group.js';
import type { Dependencies } from './dependencies.js';
import { takeRange } from './load-slice.js';
import { resultsOf, rowsIn } from '../src/reading/group.js';
import { readKeys } from './read-keys.js';
import { readWhatFits } from './read-what-fits.js';
import { recoverRange } from './recover-range.js';

const LETTERS_AT_ONCE = 500;
/** Milliseconds of one slice, as in load-slice.ts. */
const SLICE_TIME = 15_000;

/** Reads the rows of a range's letters by their keys, and maps and delivers them as any other rows. */
export async function replayLetters(deps: Dependencies, ref: ReplayRef, signal: AbortSignal): Promise<SliceResult> {
  const { ledger } = deps;
  const scope = await takeRange(deps, ref, signal);
  const { range, sync, mapping } = scope;
  if (!range.done) await recoverRange(scope);
  const deadline = performance.now() + SLICE_TIME;
  let after = range.bounds.after?.key[0] ?? '0';
  let done = range.done;
  while (!done && performance.now() < deadline) {
    signal.throwIfAborted();
    const bounds = { after, through: range.bounds.throughKey![0]!, limit: LETTERS_AT_ONCE };
    const letters = await ledger.deadLetters.keys(mapping.mappingId, ref.filter, bounds);
    const last = letters.at(-1);
    if (last === undefined) {
      await ledger.checkpoint(range, END_OF_RANGE);
      done = true;
      break;
    }
    const group = await readKeys(
      ledger,
      sync,
      mapping,
      mapping.plan.key,
      letters.map((l) => l.sourceKey),
    );
    await ledger.deadLetters.close(
      mapping.mappingId,
      gone(
        letters,
        resultsOf(group).map((r) => r.sourceKey),
      ),
      group.before,
    );
    await deliverAheadNow(scope, group);
    const delivery = await deliverGroup(scope, group);
    await ledger.checkpoint(range, {
      ...delivery,
      reading: { kind: 'first', before: group.before, after: group.after },
      readTwice: rowsIn(group) - rowsOf(delivery),
      position: { cursor: null, key: [last.id] },
      done: false,
    });
    after = last.id;
  }
  return { done, progress: await ledger.books.progress(ref.runId) };
}

/** Closes the letters of rows that are no longer there: a run that has read every row has not met them. */
export async function sweepLetters(deps: Dependencies, input: SweepInput, signal: AbortSignal): Promise<void> {
  const { ledger } = deps;
  const sync = await deps.openSync(input.sync, input.runId);
  for (const name of input.mappings) {
    const mapping = await sync.mapping(name);
    const { key } = mapping.plan;
    const through = await ledger.deadLetters.newest(mapping.mappingId);
    for (let after = '0'; ;) {
      signal.throwIfAborted();
      const letters = await ledger.deadLetters.keys(mapping.mappingId, {}, { after, through, limit: LETTERS_AT_ONCE });
      const last = letters.at(-1);
      if (last === undefined) break;
      const before = await ledger.stamp();
      const page = await readWhatFits(
        sync.source,
        { ...mapping.plan, columns: key },
        key,
        letters.map((l) => l.sourceKey),
      );
      await ledger.deadLetters.close(mapping.mappingId, gone(letters, page.rows as readonly SourceKey[]), before);
      after = last.id;
    }
  }
}

/** Ids of the letters whose keys are not among those found. */
function gone(letters: readonly LetterKey[], found: readonly SourceKey[]): string[] {
  const there = new Set(found.map((key) => JSON.stringify(key)));
  return letters.filter((l) => !there.has(JSON.stringify(l.sourceKey))).map((l) => l.id);
}
