/**
 * The schedules that are paused, as commands and the watch have seen them in Temporal: what is wrong with a sync is judged
 * from the ledger alone.
 */
import type { Knex } from 'knex';
import { foreignText } from '../domain/foreign-text.js';
import { scheduleOf } from '../domain/schedule-id.js';

export interface PausedSchedules {
  /** The ids of those that are recorded, of all syncs. */
  ids(): Promise<readonly string[]>;
  /**
   * Records that they are paused, with their notes in Temporal: why, and by whom, if anybody has said. One that was
   * recorded before keeps its time. Those that are of no sync are left out.
   */
  add(schedules: readonly { readonly id: string; readonly note: string | null }[]): Promise<void>;
  /** Records that they are not paused any more. */
  remove(ids: readonly string[]): Promise<void>;
}

/** Most characters that are kept of a note: anybody may type one in the Web UI. */
const LONGEST_NOTE = 200;
/** How the note begins that Temporal itself writes. The failure in it may name a tenant, and `status` shows it anyway. */
const AFTER_FAILURE = /^paused due to workflow (failure|timeout)/;

const keptNote = (note: string | null): string | null =>
  note === null || note === '' ? null : foreignText(AFTER_FAILURE.exec(note)?.[0] ?? note, LONGEST_NOTE);

export function openPausedSchedules(knex: Knex): PausedSchedules {
  return {
    async ids() {
      const rows = await knex('paused_schedules').select<{ id: string }[]>('id');
      return rows.map(({ id }) => id);
    },
    async add(schedules) {
      const rows = schedules.flatMap(({ id, note }) => {
        const schedule = scheduleOf(id);
        return schedule === null ? [] : [{ id, ...schedule, note: keptNote(note) }];
      });
      if (rows.length > 0) await knex('paused_schedules').insert(rows).onConflict('id').merge(['note']);
    },
    async remove(ids) {
      if (ids.length > 0)
        await knex('paused_schedules')
          .whereIn('id', [...ids])
          .delete();
    },
  };
}
