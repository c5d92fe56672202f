/** A link to the page of a run in Temporal's Web UI, or its workflow's id where nobody has said where that is. */
import type { RunRow } from '../../ledger/runs/runs.js';
import type { ConsoleSettings } from '../console-settings.js';

export interface TemporalLinkProps {
  readonly run: Pick<RunRow, 'workflow_id'>;
  readonly settings: Pick<ConsoleSettings, 'temporalUi' | 'temporalNamespace'>;
}

export function TemporalLink({ run, settings }: TemporalLinkProps) {
  const { temporalUi, temporalNamespace } = settings;
  if (temporalUi === null) return <span>{run.workflow_id}</span>;
  const path = ['namespaces', temporalNamespace, 'workflows', run.workflow_id].map(encodeURIComponent).join('/');
  return (
    <a href={`${temporalUi}/${path}`} rel="noreferrer">
      {run.workflow_id}
    </a>
  );
}
