/** A run that is active: how far it has come with each mapping, how fast, and for how long still. */
import { percentOf, rateOf, stateOf, type MappingProgress } from '../../domain/run/progress.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import { links } from '../links.js';
import type { ConsoleSettings } from '../console-settings.js';
import { DataTable } from './data-table.js';
import { TemporalLink } from './temporal-link.js';
import { count, Moment, numbers, Progress } from './values.js';

export interface WorkingRunProps {
  readonly run: RunRow;
  readonly mappings: readonly MappingProgress[];
  readonly settings: ConsoleSettings;
}

export const WorkingRun = ({ run, mappings, settings }: WorkingRunProps) => (
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
      rows={mappings.map((mapping) => [
        mapping.mapping,
        <Progress label={stateOf(mapping, 'done')} percent={percentOf(mapping)} />,
        count(mapping.read),
        count(mapping.inFlight),
        count(mapping.accepted),
        count(mapping.unchanged),
        count(mapping.waiting),
        count(mapping.deadLettered),
        rateOf(mapping) ?? '-',
      ])}
      none="It has not planned a mapping yet."
    />
  </>
);
