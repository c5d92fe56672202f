/** One run: its report, or how far it has come. */
import { reportLines } from '../../cli/output/report-lines.js';
import { shownRun } from '../../cli/runs/run-status.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { seconds } from '../../domain/timeouts.js';
import { links } from '../links.js';
import type { Page } from '../page.js';
import { TemporalLink } from '../parts/temporal-link.js';
import { Age, Moment, State } from '../parts/values.js';
import { WorkingRun } from '../parts/working-run.js';

export const runPage: Page = {
  path: '/syncs/:sync/runs/:run',
  async load({ parts, params, settings }) {
    const [sync, id] = [params['sync']!, params['run']!];
    const ledger = await parts.ledger();
    const row = /^\d{1,18}$/.test(id) ? await ledger.runs.find(id) : undefined;
    if (row?.sync !== sync) throw new PartnerSyncError('input_invalid', `${sync} has no run ${id}`);
    const run = shownRun(row);
    const progress = row.ended_at === null ? await ledger.counts.progress(id) : [];
    return {
      title: `Run ${id} of ${sync}`,
      crumbs: [
        { label: sync, href: links.sync(sync) },
        { label: `run ${id}`, href: links.run(sync, id) },
      ],
      sync,
      ...(row.ended_at === null && { refresh: seconds('consoleSync') }),
      body: (
        <div id="run" data-live>
          <dl class="facts">
            <dt>outcome</dt>
            <dd>
              <State name={run.outcome} />
              {run.failure === null ? '' : ` ${run.failure.code}: ${run.failure.message}`}
            </dd>
            <dt>mode</dt>
            <dd>{run.mode}</dd>
            <dt>started (UTC)</dt>
            <dd>
              <Moment at={run.startedAt} /> by {run.startedBy ?? 'somebody'}
            </dd>
            <dt>took</dt>
            <dd>
              <Age
                seconds={row.ended_at === null ? null : (row.ended_at.getTime() - row.started_at.getTime()) / 1000}
              />
            </dd>
            <dt>version of the files</dt>
            <dd>{row.mapping_version}</dd>
            <dt>workflow</dt>
            <dd>
              <TemporalLink run={row} settings={settings} />
            </dd>
          </dl>
          {row.ended_at === null ? <WorkingRun run={row} mappings={progress} settings={settings} /> : null}
          {row.report === null ? null : (
            <pre tabIndex={0} aria-label="The report of the run">
              {reportLines(row.report).join('\n')}
            </pre>
          )}
        </div>
      ),
    };
  },
};
