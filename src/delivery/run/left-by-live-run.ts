/** What a run in mode `live` leaves when it ends: it is judged by that, since it reads rows as often as they change. */
import { removesRecords } from '../../domain/sync/sync.js';
import type { RunOutcome } from '../../domain/run/run.js';
import type { OpenRecords } from '../../ledger/views/counts.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import type { Dependencies } from '../dependencies.js';

export interface LeftByLiveRun extends OpenRecords {
  /**
   * Mappings of which not every row was read, whose feed the run has never read to its end, or, if the feed could not tell which rows
   * are gone, of which not every record was looked for.
   */
  readonly unfinished: readonly string[];
}

export async function leftByLiveRun(
  { ledger, openSync }: Pick<Dependencies, 'ledger' | 'openSync'>,
  { id, sync: name, input, started_at: startedAt }: RunRow,
): Promise<LeftByLiveRun> {
  const sync = await openSync(name, id);
  const unfinished: string[] = [];
  const mappingIds: number[] = [];
  for (const spec of sync.spec.mappings) {
    if (input.mappings !== undefined && !input.mappings.includes(spec.name)) continue;
    const { mappingId } = await sync.mapping(spec.name);
    mappingIds.push(mappingId);
    const fed = await ledger.feeds.mapping(mappingId);
    const isRead = fed?.loaded === true && fed.readAt >= startedAt;
    if (!isRead || (removesRecords(spec) && fed.missedDeletes)) unfinished.push(spec.name);
  }
  return { ...(await ledger.counts.open(mappingIds)), unfinished };
}

export function outcomeOfLeft({ waiting, changedRows, deadLettered, unfinished }: LeftByLiveRun): RunOutcome {
  if (waiting + changedRows + unfinished.length > 0) return 'incomplete';
  return deadLettered > 0 ? 'complete_with_dead_letters' : 'complete';
}
