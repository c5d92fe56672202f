/** Whether a sync is well by its limits, and by what that is judged. */
import type { SyncHealth } from '../../cli/runs/sync-healths.js';
import { quantityToBound } from '../../domain/values/quantity.js';
import { Age, State } from './values.js';

/** `health`: undefined for a sync that has not run. */
export function Health({ health }: { readonly health: SyncHealth | undefined }) {
  if (health === undefined) return <p class="none">This sync has not run yet.</p>;
  const { problems, lastSuccessAge, lag, live, feeds, oldestWaitingAge, pausedSchedules, pausedRuns } = health;
  const { refused, defaultLimits } = health;
  return (
    <>
      <p>
        <State name={problems[0]?.trigger ?? 'ok'} />
      </p>
      {problems.map(({ trigger, what }) => (
        <div key={trigger} class="notice bad">
          <p>{what}</p>
        </div>
      ))}
      <dl class="facts">
        <dt>last success</dt>
        <dd>
          <Age seconds={lastSuccessAge} none={live === null ? 'never' : '-'} />
          {lastSuccessAge === null ? '' : ' ago'}
        </dd>
        <dt>read until</dt>
        <dd>
          <Age seconds={lag?.seconds ?? null} />
          {lag === null ? '' : ` ago (${lag.mapping})`}
        </dd>
        {live === null ? null : (
          <>
            <dt>changes</dt>
            <dd>{live}</dd>
          </>
        )}
        {feeds.map(({ name, summary }) => (
          <>
            <dt>change feed</dt>
            <dd key={name}>{summary.replace(/^change feed /, '')}</dd>
          </>
        ))}
        <dt>oldest waiting record</dt>
        <dd>
          <Age seconds={oldestWaitingAge} none="none" />
        </dd>
        {pausedSchedules.map(({ name, note }) => (
          <>
            <dt>paused schedule</dt>
            <dd>{note === null ? name : `${name}: ${note}`}</dd>
          </>
        ))}
        {pausedRuns.map(({ workflowId, by, reason }) => (
          <>
            <dt>paused run</dt>
            <dd>{[workflowId, by, reason].filter((part) => part !== null).join(': ')}</dd>
          </>
        ))}
        {refused === 0 ? null : (
          <>
            <dt>refused</dt>
            <dd>{quantityToBound(refused, 'run')}, as another one was working</dd>
          </>
        )}
      </dl>
      {defaultLimits ? <p class="quiet">Judged by the default limits: its files cannot be read here.</p> : null}
    </>
  );
}
