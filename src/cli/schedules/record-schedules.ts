/** Writes to the ledger what a command has done to schedules: who did what, how they are now, and whether runs are expected. */
import type { Parts } from '../../composition/parts.js';
import type { AuditAction } from '../../domain/run/audit.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/values/json.js';
import { scheduleOf } from '../../domain/sync/schedule-id.js';
import type { Output } from '../output/output.js';
import { thisCommand } from '../actor.js';
import type { SyncSchedule } from './sync-schedules.js';

/**
 * `more`: what the audit is told beside the schedules. Never throws what the ledger throws: the thing is done, and an
 * emergency such as pausing schedules must not need the ledger. Says so on stderr instead.
 */
export async function recordSchedules(
  parts: Parts,
  output: Output,
  sync: string,
  action: AuditAction,
  schedules: readonly SyncSchedule[],
  more: JsonObject = {},
): Promise<void> {
  try {
    const { audit, alerts, schedules: known } = await parts.ledger();
    await audit.add({ sync, action, actor: thisCommand(), subject: { ...subjectOf(schedules), ...more } });
    if (schedules.some(({ id, action: done }) => scheduleOf(id) !== null && done !== 'removed'))
      await alerts.expectRuns(sync);
    const [gone, seen] = [true, false].map((is) => schedules.filter((each) => (each.action === 'removed') === is));
    await known.record(seen!, { byCommand: action === 'schedules_paused' || action === 'schedules_resumed' });
    await known.remove(gone!.map(({ id }) => id));
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    output.note(`not in the audit and the ledger: ${error.message}`);
  }
}

/** The schedules by what was done with them. */
function subjectOf(schedules: readonly SyncSchedule[]): Record<string, string[]> {
  const subject: Record<string, string[]> = {};
  for (const { id, action } of schedules) (subject[action] ??= []).push(id);
  return subject;
}
