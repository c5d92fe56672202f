/** Runs that only Temporal knows: those that failed before the ledger recorded them. */
import type { Unrecorded } from '../../cli/runs/unrecorded-runs.js';
import { Moment } from './values.js';

export interface UnrecordedRunsProps {
  /** null where Temporal was not asked yet: the address `later` has them. */
  readonly unrecorded: Unrecorded | null;
  readonly later: string;
}

export function UnrecordedRuns({ unrecorded, later }: UnrecordedRunsProps) {
  if (unrecorded === null)
    return (
      <div id="unrecorded" data-src={later}>
        <p>
          <a href={later}>Ask Temporal for runs that the ledger does not have</a>
        </p>
      </div>
    );
  if ('unknown' in unrecorded)
    return (
      <div id="unrecorded" class="notice warning">
        <p>Runs that failed before the ledger recorded them are not shown: {unrecorded.unknown}</p>
      </div>
    );
  return (
    <div id="unrecorded">
      {unrecorded.runs.map(({ workflowId, state, failure, startedAt }) => (
        <div key={workflowId} class="notice bad">
          <p>
            Known to Temporal only: {workflowId}, {state}, started <Moment at={startedAt} /> UTC
            {failure === null ? '' : `: ${failure.message}`}
          </p>
        </div>
      ))}
    </div>
  );
}
