/** Records in the ledger which rows a change feed has named, and tells the source that it need not keep these changes any more. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappingNote } from '../../domain/run/run.js';
import type { CollectChangesInput, CollectedChanges } from '../../domain/run/work.js';
import { declaredFeeds } from '../../domain/sync/declared-feeds.js';
import type { Dependencies } from '../dependencies.js';
import { acquireFeed } from './feed-reader.js';

/**
 * Reads the feed from its position to its end. Keys go into the ledger before the source is told that it may forget them, so
 * rows that cannot be delivered keep nothing at the source.
 *
 * A feed that has not begun begins now: its mappings are then read in full once. So does one whose changes are lost; records
 * of rows that were deleted meanwhile are found by looking all of them through. Beside a run in mode `live`, which goes on
 * reading the feed, nothing is left to do.
 *
 * @throws PartnerSyncError `config_invalid` if the feed does not report a mapping's table or key, `changes_lost` if there is
 *   no feed at all
 */
export async function collectChanges(
  deps: Pick<Dependencies, 'ledger' | 'openSync'>,
  input: CollectChangesInput,
  signal: AbortSignal,
): Promise<CollectedChanges> {
  if (await isFollowed(deps, input)) return { notes: [], unloaded: [] };
  const reader = await acquireFeed(deps, input, signal);
  const notes: MappingNote[] = [];
  let hasBegun = reader.position !== null;
  const readAgain = (why: string): void =>
    void notes.push(...reader.mappings.map((mapping) => ({ mapping, message: `${why}; every row is read again` })));
  if (hasBegun) {
    try {
      await reader.record(signal);
    } catch (error) {
      if (!(error instanceof PartnerSyncError) || error.code !== 'changes_lost') throw error;
      readAgain(error.message);
      hasBegun = false;
    }
  } else if (reader.givenUp !== null) readAgain(reader.givenUp);
  if (!hasBegun) {
    await reader.begin();
    await reader.record(signal);
  }
  const unloaded = await reader.unloaded();
  // Its table may have just been added to the publication: what a transaction has written before, and commits later, is
  // not reported. The reading of all rows that follows has to see it.
  if (hasBegun && unloaded.length > 0) await reader.awaitOpenTransactions();
  return { notes, unloaded };
}

/** Whether another run follows the feed, and has read every row of all its mappings. */
async function isFollowed(
  { ledger, openSync }: Pick<Dependencies, 'ledger' | 'openSync'>,
  { sync: name, runId, feed, skipped }: CollectChangesInput,
): Promise<boolean> {
  const isLive = (await ledger.runs.notEnded(name)).some(({ id, mode }) => mode === 'live' && id !== runId);
  if (!isLive) return false;
  const sync = await openSync(name, runId);
  const { mappings } = declaredFeeds(sync.spec).find((declared) => declared.name === feed)!;
  const own = mappings.filter((mapping) => !skipped.includes(mapping.name));
  const ids = await Promise.all(own.map(async (mapping) => (await sync.mapping(mapping.name)).mappingId));
  const fed = await ledger.feeds.mappings(ids);
  return ids.every((id) => fed.get(id)?.loaded === true);
}
