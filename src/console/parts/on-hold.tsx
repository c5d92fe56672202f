/** A mapping that a run holds until somebody approves. */
import { holdLine } from '../../domain/sync/guard.js';
import type { MappingOnHold } from '../../ledger/runs/guards.js';
import type { ConsoleSettings } from '../console-settings.js';
import { ActionLink } from './action-link.js';

export interface OnHoldProps {
  readonly sync: string;
  readonly hold: MappingOnHold;
  readonly settings: ConsoleSettings;
}

export const OnHold = ({ sync, hold, settings }: OnHoldProps) => (
  <div class="notice warning">
    <p>On hold: {holdLine(hold)}</p>
    {hold.examples.length === 0 ? null : <p>Rows with these keys are among them: {hold.examples.join('; ')}</p>}
    <ActionLink
      action="approve"
      values={{ sync, mapping: hold.mapping, run: hold.run, cause: hold.cause }}
      label={`Let ${hold.mapping} continue`}
      settings={settings}
    />
  </div>
);
