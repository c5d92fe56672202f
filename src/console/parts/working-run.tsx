/** A run that is active: how far it has come with each mapping, how fast, and for how long still; in mode live, how late it is. */
import { deliveryCells } from '../../domain/monitoring/live-progress.js';
import { percentOf, rateOf, stateOf, type MappingProgress } from '../../domain/run/progress.js';
import type { FeedDelivery } from '../../ledger/changes/feed-view.js';
import type { LedgerView } from '../../ledger/ledger-view.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import { links } from '../links.js';
import type { ConsoleSettings } from '../console-settings.js';
import { DataTable } from './data-table.js';
import { TemporalLink } from './temporal-link.js';
import { count, Moment, numbers, Progress } from './values.js';

/** What the ledger knows of an active run. */
export interface WorkingRunState {
  readonly run: RunRow;
  readonly mappings: readonly MappingProgress[];
  /** How far the changes of the sync are delivered; null for a run that has an end. */
  readonly delivery: FeedDelivery | null;
}

export async function workingRunState(
  { counts, feeds }: Pick<LedgerView, 'counts' | 'feeds'>,
  run: RunRow,
): Promise<WorkingRunState> {
  const [mappings, delivery] = await Promise.all([
    counts.progress(run.id),
    run.mode === 'live' ? feeds.delivery(run.sync) : null,
  ]);
  return { run, mappings, delivery };
}

export interface WorkingRunProps {
  readonly state: WorkingRunState;
  readonly settings: ConsoleSettings;
}

export const WorkingRun = ({ state: { run, mappings, delivery }, settings }: WorkingRunProps) => (
  <>
    <p>
      Run <a href={links.run(run.sync, run.id)}>{run.id}</a> ({run.mode}), started <Moment at={run.started_at} /> UTC by{' '}
      {run.started_by ?? 'somebody'}: <TemporalLink run={run} settings={settings} />
    </p>
    <DataTable
      caption={`How far run ${run.id} has come`}
      columns={[
        'mapping',
        'progress',
        ...numbers('read', 'in flight', 'accepted', 'unchanged', 'waiting', 'dead', 'rows/s'),
      ]}
      rows={mappings.map((mapping) => {
        const followed = followedOf(delivery, mapping);
        return [
          mapping.mapping,
          followed === null ? (
            <Progress label={stateOf(mapping, 'done')} percent={percentOf(mapping)} />
          ) : (
            `delivered ${deliveryCells(followed, delivery!.now).join('; ')}`
          ),
          count(mapping.read),
          count(mapping.inFlight),
          count(mapping.accepted),
          count(mapping.unchanged),
          count(followed?.waiting ?? mapping.waiting),
          count(mapping.deadLettered),
          // Over days, it says nothing about now.
          followed === null ? (rateOf(mapping) ?? '-') : '-',
        ];
      })}
      none="It has not planned a mapping yet."
    />
  </>
);

/** How far the changes of a mapping are delivered, once every row of it was read. */
const followedOf = (delivery: FeedDelivery | null, { mapping }: MappingProgress) =>
  delivery?.mappings.find((each) => each.mapping === mapping && each.loaded && each.deliveredUntil !== null) ?? null;
