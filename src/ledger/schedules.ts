/**
 * The schedules of syncs, as commands and the watch have seen them in Temporal: what is wrong with a sync is judged from
 * the ledger alone.
 */
import type { Knex } from 'knex';
import { foreignText } from '../domain/values/foreign-text.js';
import { scheduleOf } from '../domain/sync/schedule-id.js';
import { writeAudit } from './audit.js';
import { inTransaction } from './database/statements.js';

/** A schedule as Temporal shows it. */
export interface SeenSchedule {
  readonly id: string;
  readonly paused: boolean;
  /** Why it is paused, and by whom, if anybody has said. */
  readonly note: string | null;
  /** Runs that it has not started since it was created: because one was active, and because an outage lasted too long. */
  readonly skipped: number;
  readonly missed: number;
}

/** Those that the ledger knows, and when it was asked, by its own clock. */
export interface KnownSchedules {
  readonly ids: readonly string[];
  readonly at: string;
}

export interface Schedules {
  known(): Promise<KnownSchedules>;
  /**
   * Records the schedules as they are; those that are of no sync are left out. Writes to the audit which of them somebody
   * has paused or resumed since they were last seen, unless a command has done it, which writes an entry of its own.
   *
   * `before`: when the caller began to look. What a command has recorded since then is newer.
   */
  record(schedules: readonly SeenSchedule[], options?: { byCommand?: boolean; before?: string }): Promise<void>;
  /** Removes those that are gone from Temporal. */
  remove(ids: readonly string[]): Promise<void>;
}

/** Most characters that are kept of a note: anybody may type one in the Web UI. */
const LONGEST_NOTE = 200;
/** How the note begins that Temporal itself writes. The failure in it may name a tenant, and `status` shows it anyway. */
const AFTER_FAILURE = /^paused due to workflow (failure|timeout)/;

const keptNote = (note: string | null): string | null =>
  note === null || note === '' ? null : foreignText(AFTER_FAILURE.exec(note)?.[0] ?? note, LONGEST_NOTE);

interface Row {
  readonly id: string;
  readonly sync: string;
  readonly name: string;
  readonly paused: boolean;
  readonly note: string | null;
  readonly skipped: number;
  readonly missed: number;
}

export function openSchedules(knex: Knex): Schedules {
  return {
    async known() {
      const { rows } = await knex.raw<{ rows: [KnownSchedules] }>(
        'SELECT ARRAY(SELECT id FROM schedules ORDER BY id) AS ids, clock_timestamp()::text AS at',
      );
      return rows[0];
    },
    async record(schedules, { byCommand = false, before } = {}) {
      const rows = schedules.flatMap(({ id, paused, note, skipped, missed }): Row[] => {
        const schedule = scheduleOf(id);
        return schedule === null
          ? []
          : [{ id, ...schedule, paused, note: paused ? keptNote(note) : null, skipped, missed }];
      });
      if (rows.length === 0) return;
      await inTransaction(knex, async (trx) => {
        // Two that see the same change must not both write it to the audit.
        await trx.raw(`SELECT pg_advisory_xact_lock(hashtextextended('schedules', 0))`);
        const changed = await write(trx, rows, before);
        if (!byCommand) for (const row of changed) await writeAudit(trx, changeOf(row));
      });
    },
    async remove(ids) {
      if (ids.length > 0)
        await knex('schedules')
          .whereIn('id', [...ids])
          .delete();
    },
  };
}

/** Returns those that were paused or resumed; one that is new and not paused is neither. */
async function write(trx: Knex, rows: readonly Row[], before: string | undefined): Promise<Row[]> {
  const result = await trx.raw<{ rows: { id: string }[] }>(
    `WITH seen AS (
       SELECT * FROM json_to_recordset(CAST(:rows AS json))
         AS t(id text, sync text, name text, paused boolean, note text, skipped integer, missed integer)
     ), was AS (SELECT id, paused_since IS NOT NULL AS paused FROM schedules WHERE id IN (SELECT id FROM seen)
     ), written AS (
       INSERT INTO schedules AS s (id, sync, name, paused_since, note, skipped, missed, not_started_at, seen_at)
       SELECT id, sync, name, CASE WHEN paused THEN now() END, note, skipped, missed,
         CASE WHEN skipped + missed > 0 THEN now() END, clock_timestamp() FROM seen
       ON CONFLICT (id) DO UPDATE SET note = excluded.note, skipped = excluded.skipped, missed = excluded.missed,
         paused_since = CASE WHEN excluded.paused_since IS NOT NULL THEN coalesce(s.paused_since, excluded.paused_since) END,
         not_started_at = CASE WHEN excluded.skipped + excluded.missed > s.skipped + s.missed THEN now()
           WHEN excluded.skipped + excluded.missed > 0 THEN s.not_started_at END,
         seen_at = excluded.seen_at
       WHERE CAST(:before AS timestamptz) IS NULL OR s.seen_at <= CAST(:before AS timestamptz)
       RETURNING s.id, s.paused_since IS NOT NULL AS paused
     )
     SELECT w.id FROM written w LEFT JOIN was USING (id) WHERE w.paused <> coalesce(was.paused, false)`,
    { rows: JSON.stringify(rows), before: before ?? null },
  );
  return rows.filter(({ id }) => result.rows.some((changed) => changed.id === id));
}

/** Nobody has told us who it was: at most the note says so. */
const changeOf = ({ id, sync, paused, note }: Row) => ({
  sync,
  action: paused ? ('schedules_paused' as const) : ('schedules_resumed' as const),
  actor: { who: null, origin: 'temporal' as const },
  subject: { [paused ? 'paused' : 'resumed']: [id], ...(note !== null && { note }) },
});
