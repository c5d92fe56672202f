/** Runs of a sync, the latest first. */
import { shownRun } from '../../cli/runs/run-status.js';
import { rateText } from '../../report/figures.js';
import type { RunRow } from '../../ledger/runs/runs.js';
import type { ConsoleSettings } from '../console-settings.js';
import { links } from '../links.js';
import { DataTable } from './data-table.js';
import { TemporalLink } from './temporal-link.js';
import { Age, count, Moment, numbers, State } from './values.js';

export interface RunTableProps {
  readonly runs: readonly RunRow[];
  readonly sync: string;
  readonly settings: ConsoleSettings;
}

const COUNTS = ['read', 'accepted', 'unchanged', 'waiting', 'deadLettered'] as const;

export const RunTable = ({ runs, sync, settings }: RunTableProps) => (
  <DataTable
    caption="The latest runs"
    columns={[
      'run',
      'outcome',
      'mode',
      'started (UTC)',
      'by',
      ...numbers('took', 'rate', 'read', 'accepted', 'unchanged', 'waiting', 'dead'),
      'workflow',
    ]}
    rows={runs.map((row) => {
      const { run, outcome, failure, mode, startedAt, startedBy } = shownRun(row);
      const total = row.report?.total;
      const seconds = row.ended_at === null ? null : (row.ended_at.getTime() - row.started_at.getTime()) / 1000;
      return [
        <a href={links.run(sync, run)}>{run}</a>,
        <>
          <State name={outcome} />
          {failure === null ? null : <div class="quiet">{failure.code}</div>}
        </>,
        mode,
        <Moment at={startedAt} />,
        startedBy ?? '-',
        <Age seconds={seconds} />,
        total === undefined || seconds === null ? '-' : rateText(total.read, seconds),
        ...COUNTS.map((name) => (total === undefined ? '-' : count(total[name]))),
        <TemporalLink run={row} settings={settings} />,
      ];
    })}
    none="No run is in the ledger yet."
  />
);
