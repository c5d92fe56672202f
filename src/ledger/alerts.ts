/** What is wrong with syncs, as it was last seen, and who has been told of it. */
import type { Knex } from 'knex';
import type { HealthProblem, HealthTrigger } from '../domain/sync-health.js';
import { seconds } from '../domain/timeouts.js';
import { inTransaction } from './database/statements.js';
import { openSyncStates, type SyncState } from './views/sync-state.js';

/** A target, by what stands for it in the ledger, and a problem that it is told of. */
export interface Subscription {
  readonly target: string;
  readonly problem: HealthTrigger;
}

/** Something that is wrong with a sync, or was. */
export interface Alert {
  readonly sync: string;
  readonly problem: HealthTrigger;
  /** As it was last seen. */
  readonly what: string;
  /** When it was first seen. */
  readonly since: Date;
  readonly endedAt: Date | null;
  /** Raised by each change that is to be told: it begins, a day has gone by, it is over. */
  readonly version: number;
}

/** An alert that a target does not know of in its present version. */
export interface DueAlert extends Alert {
  readonly target: string;
  /** Whether the target was told that it has begun. */
  readonly begun: boolean;
}

/** An alert that is open, or that some target has not been told of. */
export interface UnfinishedAlert extends Alert {
  readonly lookedAt: Date;
  /** Targets that are to be told, whether they are still in sync.yaml or not. */
  readonly untold: readonly string[];
}

/** What a look has found. */
export interface Looked {
  /** How many problems are open. */
  readonly open: number;
  /** Targets that are to be told something. */
  readonly due: readonly string[];
}

export interface Alerts {
  /**
   * Compares what is wrong with the sync now, by `judge`, with what was, in one transaction; two looks at a sync take
   * turns. `judge` gets, for a sync that has never run, the seconds since it was first looked at.
   */
  look(
    sync: string,
    subscriptions: readonly Subscription[],
    judge: (state: SyncState | { readonly awaitedFor: number }) => readonly HealthProblem[],
  ): Promise<Looked>;
  /** What the subscribers are to be told now. */
  due(sync: string, subscriptions: readonly Subscription[]): Promise<readonly DueAlert[]>;
  /** Notes that a target knows this version; an older one than it knows changes nothing. */
  told(alert: DueAlert): Promise<void>;
  /** Open alerts, and ended ones that some target has not been told of, of one sync or of all. */
  unfinished(sync: string | undefined): Promise<readonly UnfinishedAlert[]>;
}

export function openAlerts(knex: Knex): Alerts {
  const due = async (db: Knex, sync: string, subscriptions: readonly Subscription[]): Promise<readonly DueAlert[]> => {
    const { rows } = await db.raw<{ rows: DueAlert[] }>(
      `SELECT ${COLUMNS}, d.target, d.told_version >= a.opened_version AS begun
       FROM alerts a JOIN alert_deliveries d USING (sync, problem) JOIN ${SUBSCRIPTIONS} s USING (target, problem)
       WHERE a.sync = :sync AND a.version > d.told_version`,
      { sync, subscriptions: JSON.stringify(subscriptions) },
    );
    return rows;
  };
  return {
    look: (sync, subscriptions, judge) =>
      inTransaction(knex, async (trx) => {
        await trx.raw(`SELECT pg_advisory_xact_lock(hashtextextended('alerts of ' || :sync, 0))`, { sync });
        // Read after the lock: a state read before another look would undo its findings.
        const [state] = await openSyncStates(trx).of(sync);
        const problems = judge(state ?? { awaitedFor: await awaitedFor(trx, sync) });
        await writeOpen(trx, sync, problems);
        await writeEnded(trx, sync, problems);
        await trx.raw(
          `INSERT INTO alert_deliveries (sync, problem, target, told_version)
           SELECT a.sync, a.problem, s.target, a.opened_version - 1 FROM alerts a JOIN ${SUBSCRIPTIONS} s USING (problem)
           WHERE a.sync = :sync AND a.ended_at IS NULL ON CONFLICT DO NOTHING`,
          { sync, subscriptions: JSON.stringify(subscriptions) },
        );
        const targets = (await due(trx, sync, subscriptions)).map(({ target }) => target);
        return { open: problems.length, due: [...new Set(targets)] };
      }),
    due: (sync, subscriptions) => due(knex, sync, subscriptions),
    async told({ sync, problem, target, version }) {
      await knex.raw(
        `UPDATE alert_deliveries SET told_version = :version, told_at = now()
         WHERE sync = :sync AND problem = :problem AND target = :target AND told_version < :version`,
        { sync, problem, target, version },
      );
    },
    async unfinished(sync) {
      const { rows } = await knex.raw<{ rows: UnfinishedAlert[] }>(
        `SELECT ${COLUMNS}, a.looked_at AS "lookedAt", u.untold
         FROM alerts a, LATERAL (
           SELECT coalesce(array_agg(d.target), '{}') AS untold FROM alert_deliveries d
           WHERE d.sync = a.sync AND d.problem = a.problem AND d.told_version < a.version) u
         WHERE (CAST(:sync AS text) IS NULL OR a.sync = :sync) AND (a.ended_at IS NULL OR u.untold <> '{}')
         ORDER BY a.sync, a.since, a.problem`,
        { sync: sync ?? null },
      );
      return rows;
    },
  };
}

const COLUMNS = 'a.sync, a.problem, a.what, a.since, a.ended_at AS "endedAt", a.version';
const SUBSCRIPTIONS = '(SELECT * FROM json_to_recordset(CAST(:subscriptions AS json)) AS t(target text, problem text))';

/** Seconds since a sync was first looked at that has never run. */
async function awaitedFor(trx: Knex, sync: string): Promise<number> {
  await trx.raw('INSERT INTO awaited_syncs (sync) VALUES (:sync) ON CONFLICT DO NOTHING', { sync });
  const { rows } = await trx.raw<{ rows: { seconds: number }[] }>(
    'SELECT extract(epoch FROM now() - since)::float8 AS seconds FROM awaited_syncs WHERE sync = :sync',
    { sync },
  );
  return rows[0]!.seconds;
}

/** Problems that are there now: new ones begin, and those that have lasted for another day get a reminder. */
async function writeOpen(trx: Knex, sync: string, problems: readonly HealthProblem[]): Promise<void> {
  const isDue = `alerts.ended_at IS NOT NULL OR alerts.changed_at <= now() - make_interval(secs => :reminder)`;
  await trx.raw(
    `INSERT INTO alerts (sync, problem, what)
     SELECT :sync, trigger, what FROM json_to_recordset(CAST(:problems AS json)) AS p(trigger text, what text)
     ON CONFLICT (sync, problem) DO UPDATE SET what = excluded.what, looked_at = now(), ended_at = NULL,
       since = CASE WHEN alerts.ended_at IS NULL THEN alerts.since ELSE now() END,
       opened_version = CASE WHEN alerts.ended_at IS NULL THEN alerts.opened_version ELSE alerts.version + 1 END,
       version = alerts.version + CASE WHEN ${isDue} THEN 1 ELSE 0 END,
       changed_at = CASE WHEN ${isDue} THEN now() ELSE alerts.changed_at END`,
    { sync, problems: JSON.stringify(problems), reminder: seconds('alertReminder') },
  );
}

/** Problems that were there and are not any more. */
async function writeEnded(trx: Knex, sync: string, problems: readonly HealthProblem[]): Promise<void> {
  await trx.raw(
    `UPDATE alerts SET ended_at = now(), changed_at = now(), looked_at = now(), version = version + 1
     WHERE sync = :sync AND ended_at IS NULL AND NOT problem = ANY (CAST(:still AS text[]))`,
    { sync, still: problems.map(({ trigger }) => trigger) },
  );
}
