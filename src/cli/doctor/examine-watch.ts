/** Doctor's check of the watch: whether it evaluates alerts and looks at schedules, and whether mail can be sent. */
import type { Client } from '@temporalio/client';
import { openAlerting } from '../../alerts/open-alerting.js';
import type { CommonParts } from '../../composition/parts.js';
import { readVariable } from '../../config/environment.js';
import { hasAlerts, needsWatch, type AlertSettings } from '../../domain/monitoring/alerts.js';
import { quantity } from '../../domain/values/quantity.js';
import { findWatch } from '../schedules/watch-schedule.js';
import { fail, ok, warn, type Examined } from './examination.js';

const NAME = 'alerts';

/** Of the sync named, or of all in the mappings folder; no line if none has alerts or schedules. */
export async function examineWatch(
  parts: CommonParts,
  client: Client,
  taskQueue: string,
  sync: string | null,
): Promise<Examined[]> {
  const { syncs, unreadable } = await openAlerting(parts.env, () => parts.mappingsFolder()).all();
  const asked = <T>(all: readonly T[], nameOf: (each: T) => string): T[] =>
    all.filter((each) => sync === null || nameOf(each) === sync);
  const settings = asked(syncs, (each) => each.sync).filter(needsWatch);
  return [
    ...asked(unreadable, (each) => each.sync).map(({ sync: name }) =>
      fail(NAME, `those of ${name} cannot be read: nobody is notified of what is wrong`, `partner-sync check ${name}`),
    ),
    ...(settings.length === 0
      ? []
      : [await watchLine(client, taskQueue, settings), ...(await mailLines(parts, settings))]),
  ];
}

async function watchLine(client: Client, taskQueue: string, settings: readonly AlertSettings[]): Promise<Examined> {
  const watch = await findWatch(client, taskQueue);
  const targets = settings.flatMap((each) => each.targets);
  const isForAlerts = settings.some(hasAlerts);
  const name = isForAlerts ? NAME : 'schedules';
  if (watch === null)
    return warn(
      name,
      isForAlerts
        ? 'there is no watch schedule: a sync that stops running is not noticed'
        : 'there is no watch schedule: status does not know of schedules that are paused in the Web UI or after a failure',
      `partner-sync schedules apply ${settings[0]!.sync}`,
    );
  if (watch.paused)
    return warn(
      name,
      `the watch schedule is paused: ${watch.note ?? 'nobody has said why'}`,
      `temporal schedule toggle --schedule-id ${watch.id} --unpause --reason "..."`,
    );
  return isForAlerts
    ? ok(name, `${quantity(targets.length, 'target')}; evaluated each minute by the watch schedule`)
    : ok(name, 'looked at each minute by the watch schedule');
}

/** A warning only: the workers may have the variables that this machine lacks. */
async function mailLines({ env }: CommonParts, settings: readonly AlertSettings[]): Promise<Examined[]> {
  if (!settings.some(({ targets }) => targets.some(({ address }) => address.kind === 'email'))) return [];
  const missing: string[] = [];
  for (const name of ['PARTNER_SYNC_SMTP_URL', 'PARTNER_SYNC_SMTP_FROM'] as const)
    if (!(await readVariable(env, name))) missing.push(name);
  return missing.length === 0
    ? []
    : [
        warn(
          'alerts mail',
          `not set here: ${missing.join(', ')}`,
          'set them where workers run; no mail is sent without them',
        ),
      ];
}
