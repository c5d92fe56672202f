/** What a round of a campaign does with a change feed: runs in mode live and incremental ones take turns while workers are killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { oneOf } from './random.mjs';
import { keyRanges } from './shop.mjs';

/** After so many kills and faults, it becomes quiet, and the platform is compared. */
export const KILLS_A_ROUND = 25;

/** How long a run in mode live goes on; one that is stopped before the ledger knows it is merely cancelled. */
const SHORTEST_LIVE_MS = 10_000;
const LONGEST_LIVE_MS = 60_000;
const INCREMENTAL_RUNS = 2;

/**
 * A live run with a backfill of some rows beside it, then incremental runs, and so on. In later rounds, every row has changed
 * before: the feed tells that, too.
 *
 * @param {Promise<void>} attacking resolves when nothing is killed any more
 */
export async function followFeed({ runs }, no, { rows }, random, attacking) {
  let isOver = false;
  const attacked = attacking.then(() => (isOver = true));
  /** One backfill at a time; a kill in one of its short steps is noticed late. */
  let backfill;
  for (let each = 1; !isOver; each++) {
    const name = (what) => `round ${no} ${what} ${each}`;
    const more = sleep(random(LONGEST_LIVE_MS - SHORTEST_LIVE_MS), undefined, { ref: false });
    const stop = sleep(SHORTEST_LIVE_MS).then(() => Promise.race([more, attacked]));
    const range = oneOf(random, keyRanges(rows));
    backfill ??= runs.run(name('range'), 'backfill', range).finally(() => (backfill = undefined));
    await runs.run(name('live'), 'sync', { mode: 'live' }, stop);
    for (let again = 1; again <= INCREMENTAL_RUNS && !isOver; again++)
      await runs.run(name(`incremental ${again} of`), 'sync', {});
  }
  await backfill;
}
