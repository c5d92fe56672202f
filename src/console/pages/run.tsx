/** One run: its report with plots, and how far it has come while it goes on. */
import { assertKnown } from '../../cli/known-sync.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { seconds } from '../../domain/timeouts.js';
import { RunReportContent } from '../../report/run-report-page.js';
import { links } from '../links.js';
import type { Page } from '../page.js';
import { CommandLine } from '../parts/command-line.js';
import { TemporalLink } from '../parts/temporal-link.js';
import { WorkingRun, workingRunState } from '../parts/working-run.js';

export const runPage: Page = {
  path: '/syncs/:sync/runs/:run',
  async load({ parts, params, settings }) {
    const [sync, id] = [params['sync']!, params['run']!];
    const ledger = await parts.ledger();
    const isId = /^\d{1,18}$/.test(id);
    const [row, history] = isId ? await Promise.all([ledger.runs.find(id), ledger.runHistories.of(id)]) : [];
    if (row?.sync !== sync || history === undefined) {
      await assertKnown(parts, sync);
      throw new PartnerSyncError('input_invalid', `${sync} has no run ${id}`);
    }
    const isActive = row.ended_at === null;
    return {
      title: `Run ${id} of ${sync}`,
      crumbs: [{ label: `run ${id}`, href: links.run(sync, id) }],
      sync,
      ...(isActive && { refresh: seconds('consoleSync') }),
      body: (
        <>
          <p>
            Workflow <TemporalLink run={row} settings={settings} />
          </p>
          {isActive ? (
            <div id="progress" data-live>
              <WorkingRun state={await workingRunState(ledger, row)} settings={settings} />
            </div>
          ) : null}
          <div class="report">
            <RunReportContent history={history} />
          </div>
          <CommandLine args={['report', sync, id, '--html', `run-${id}.html`]} />
        </>
      ),
    };
  },
};
