/** The schedules of a sync, as Temporal has them now. */
import { assertKnown } from '../../cli/known-sync.js';
import { listSchedules, type SyncSchedule } from '../../cli/schedules/sync-schedules.js';
import { scheduleOf } from '../../domain/sync/schedule-id.js';
import { milliseconds } from '../../domain/timeouts.js';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { links } from '../links.js';
import type { Page, PageRequest } from '../page.js';
import { ActionLink } from '../parts/action-link.js';
import { CommandLine } from '../parts/command-line.js';
import { DataTable } from '../parts/data-table.js';
import { count, numbers, State } from '../parts/values.js';

export const schedulesPage: Page = {
  path: '/syncs/:sync/schedules',
  async load(request) {
    const { parts, params, settings } = request;
    const sync = params['sync']!;
    const schedules = await schedulesOf(request, sync);
    if (schedules.length === 0) await assertKnown(parts, sync);
    return {
      title: `Schedules of ${sync}`,
      crumbs: [{ label: 'schedules', href: links.schedules(sync) }],
      sync,
      body: (
        <>
          <DataTable
            caption="Schedules"
            columns={['schedule', 'state', 'next runs (UTC)', ...numbers('skipped', 'missed'), 'note', 'actions']}
            rows={schedules.map(({ id, paused, next, skipped, missed, note }) => {
              const { name } = scheduleOf(id)!;
              return [
                name,
                <State name={paused ? 'paused' : 'ok'} />,
                next.join(', ') || '-',
                count(skipped),
                count(missed),
                note ?? '',
                <div class="actions">
                  <ActionLink
                    action="trigger-schedule"
                    values={{ sync, name }}
                    label={`Start ${name}`}
                    settings={settings}
                  />
                  <ActionLink
                    action={paused ? 'resume-schedule' : 'pause-schedule'}
                    values={{ sync, name }}
                    label={`${paused ? 'Resume' : 'Pause'} ${name}`}
                    settings={settings}
                  />
                </div>,
              ];
            })}
            none="Temporal has no schedule of this sync: sync.yaml declares them, and partner-sync schedules apply creates them."
          />
          <CommandLine args={['schedules', 'list', sync]} />
        </>
      ),
    };
  },
};

async function schedulesOf({ parts }: PageRequest, sync: string): Promise<readonly SyncSchedule[]> {
  const temporal = await connectTemporal(parts.env, milliseconds('statusConnect'));
  const { client } = temporal;
  try {
    return await client.withDeadline(Date.now() + milliseconds('statusQuery'), () => listSchedules(client, sync));
  } finally {
    await temporal.close();
  }
}
