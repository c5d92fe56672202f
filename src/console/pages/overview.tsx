/** The overview: every sync, the worst first. From the ledger alone, so that it is fast and always there. */
import { healthsOf, type SyncHealth } from '../../cli/runs/sync-healths.js';
import type { ViewParts } from '../../composition/parts.js';
import { seconds } from '../../domain/timeouts.js';
import { groupBy } from '../../domain/values/group-by.js';
import { links } from '../links.js';
import type { Overview, Page } from '../page.js';
import { DataTable } from '../parts/data-table.js';
import { DAYS, Month } from '../parts/month.js';
import { Age, countToBound, numbers, State } from '../parts/values.js';

/** From the ledger and the files of the syncs; nothing before there is a ledger. */
export async function readOverview(parts: ViewParts): Promise<Overview> {
  const ledger = await parts.ledgerIfAny();
  const today = new Date().toISOString().slice(0, 10);
  if (ledger === null) return { healths: [], active: new Set(), days: new Map(), today };
  const [healths, working, days] = await Promise.all([
    healthsOf(parts, undefined, []),
    ledger.runs.notEnded(undefined),
    ledger.runHistories.days(undefined, DAYS),
  ]);
  return { healths, active: new Set(working.map(({ sync }) => sync)), days: groupBy(days, ({ sync }) => sync), today };
}

export const overviewPage: Page = {
  path: '/',
  async load({ overview }) {
    const { healths, active, days, today } = await overview();
    const well = healths.filter(({ ok }) => ok).length;
    return {
      title: 'Syncs',
      crumbs: [],
      refresh: seconds('consoleOverview'),
      body: (
        <div id="syncs" data-live>
          {healths.length === 0 ? null : (
            <p>
              {well} of {healths.length} are well.
            </p>
          )}
          <DataTable
            caption="All syncs, those that need attention first"
            columns={[
              'sync',
              'state',
              ...numbers('last success', 'read until', 'oldest waiting', 'dead letters'),
              'last 30 days',
            ]}
            rows={healths.map((health) => [
              ...cellsOf(health, active.has(health.sync)),
              <Month days={days.get(health.sync) ?? []} today={today} />,
            ])}
            none="No sync has run yet, and none is expected to. Start one with partner-sync run."
          />
        </div>
      ),
    };
  },
};

const cellsOf = (health: SyncHealth, isActive: boolean) => [
  <a href={links.sync(health.sync)}>{health.sync}</a>,
  <>
    <State name={health.problems[0]?.trigger ?? 'ok'} /> {isActive ? <State name="running" /> : null}
    {health.problems.slice(0, 1).map(({ what }) => (
      <div class="quiet">{what}</div>
    ))}
  </>,
  <Age seconds={health.lastSuccessAge} none={health.live === null ? 'never' : '-'} />,
  <Age seconds={health.lag?.seconds ?? null} />,
  <Age seconds={health.oldestWaitingAge} />,
  health.deadLetters === 0 ? 0 : <a href={links.deadLetters(health.sync)}>{countToBound(health.deadLetters)}</a>,
];
