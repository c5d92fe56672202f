/** One sync: what is wrong with it, what runs now, its stages, and its latest runs. */
import { assertKnown } from '../../cli/known-sync.js';
import { healthsOf } from '../../cli/runs/sync-healths.js';
import { unrecordedRuns } from '../../cli/runs/unrecorded-runs.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { seconds } from '../../domain/timeouts.js';
import { links, withQuery } from '../links.js';
import type { Page, PageRequest } from '../page.js';
import { ActionLink } from '../parts/action-link.js';
import { Health } from '../parts/health.js';
import { OnHold } from '../parts/on-hold.js';
import { RunTable } from '../parts/run-table.js';
import { Stages } from '../parts/stages.js';
import { UnrecordedRuns } from '../parts/unrecorded-runs.js';
import { WorkingRun, workingRunState } from '../parts/working-run.js';

const RUNS_SHOWN = 20;

export const syncPage: Page = {
  path: '/syncs/:sync',
  async load(request) {
    const { parts, params, query, settings } = request;
    const sync = params['sync']!;
    const ledger = await parts.ledger();
    const [runs, [health], working, onHold, plans, spec] = await Promise.all([
      ledger.runs.latest(sync, RUNS_SHOWN),
      healthsOf(parts, sync, []),
      ledger.runs.notEnded(sync),
      ledger.guards.onHold(sync),
      ledger.removals.needingAttention(sync),
      specOf(request, sync),
    ]);
    if (runs.length === 0) await assertKnown(parts, sync);
    const states = await Promise.all(working.map((run) => workingRunState(ledger, run)));
    // What takes a while is looked up only when the page is asked for it; live.js does so at once.
    const later = withQuery(links.sync(sync), { ask: 'all' });
    const [statuses, unrecorded] =
      query['ask'] === undefined
        ? [null, null]
        : await Promise.all([ledger.counts.statuses(sync), unrecordedRuns(parts, sync)]);
    return {
      title: sync,
      crumbs: [],
      sync,
      refresh: seconds('consoleSync'),
      body: (
        <>
          <div id="health" data-live>
            <Health health={health} />
          </div>
          <div class="actions" id="actions" data-live>
            <ActionLink action="run" values={{ sync }} label="Start a run" settings={settings} />
            {working.flatMap(({ id, workflow_id: workflow }) =>
              (['pause', 'resume', 'stop'] as const).map((action) => (
                <ActionLink
                  key={`${action} ${id}`}
                  action={action}
                  values={{ sync, workflow }}
                  label={working.length === 1 ? LABELS[action] : `${LABELS[action]} run ${id}`}
                  settings={settings}
                />
              )),
            )}
          </div>
          <section id="now" data-live aria-labelledby="now-title">
            <h2 id="now-title">Now</h2>
            {working.length === 0 ? <p class="none">No run is active.</p> : null}
            {states.map((state) => (
              <WorkingRun key={state.run.id} state={state} settings={settings} />
            ))}
            {onHold.map((hold) => (
              <OnHold key={hold.mapping} sync={sync} hold={hold} settings={settings} />
            ))}
            {plans.length === 0 ? null : (
              <p>
                <a href={links.removals(sync)}>Removal plans that need a decision: {plans.length}</a>
              </p>
            )}
          </section>
          <UnrecordedRuns unrecorded={unrecorded} later={later} />
          <section aria-labelledby="stages-title">
            <h2 id="stages-title">Stages</h2>
            <Stages sync={sync} spec={spec} statuses={statuses} later={later} />
          </section>
          <section id="runs" data-live aria-labelledby="runs-title">
            <h2 id="runs-title">Runs</h2>
            <RunTable runs={runs} sync={sync} settings={settings} />
          </section>
        </>
      ),
    };
  },
};

/** What may be done to a run that is active. */
const LABELS = { pause: 'Pause', resume: 'Resume', stop: 'Stop' } as const;

/** Undefined where the sync's files cannot be read, as on a machine that only watches. */
async function specOf({ parts }: PageRequest, sync: string): Promise<SyncSpec | undefined> {
  try {
    return (await parts.loadSync(sync)).spec;
  } catch (error) {
    if (error instanceof PartnerSyncError) return undefined;
    throw error;
  }
}
