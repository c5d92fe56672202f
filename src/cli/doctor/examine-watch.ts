/** Doctor's check of alerts: whether they are evaluated, and whether mail can be sent. */
import type { Client } from '@temporalio/client';
import { openAlerting } from '../../alerts/open-alerting.js';
import type { CommonParts } from '../../compose.js';
import { readVariable } from '../../config/environment.js';
import type { AlertSettings } from '../../domain/alerts.js';
import { quantity } from '../../domain/quantity.js';
import { findWatch } from '../schedules/watch-schedule.js';
import { fail, ok, warn, type Examined } from './examination.js';

const NAME = 'alerts';

/** Of the sync named, or of all in the mappings folder; no line if none has alerts. */
export async function examineWatch(
  parts: CommonParts,
  client: Client,
  taskQueue: string,
  sync: string | null,
): Promise<Examined[]> {
  const { syncs, unreadable } = await openAlerting(parts.env, () => parts.mappingsFolder()).all();
  const asked = <T>(all: readonly T[], nameOf: (each: T) => string): T[] =>
    all.filter((each) => sync === null || nameOf(each) === sync);
  const settings = asked(syncs, (each) => each.sync);
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
  if (watch === null)
    return warn(
      NAME,
      'there is no watch schedule: a sync that stops running is not noticed',
      `partner-sync schedules apply ${settings[0]!.sync}`,
    );
  if (watch.paused)
    return warn(
      NAME,
      `the watch schedule is paused: ${watch.note ?? 'nobody has said why'}`,
      `temporal schedule toggle --schedule-id ${watch.id} --unpause --reason "..."`,
    );
  const targets = settings.flatMap((each) => each.targets);
  return ok(NAME, `${quantity(targets.length, 'target')}; evaluated each minute by the watch schedule`);
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
