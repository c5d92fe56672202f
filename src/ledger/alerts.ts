/** What is wrong with syncs, as of their last evaluation, and who has been notified of it. */
import type { Knex } from 'knex';
import type { HealthProblem, HealthTrigger } from '../domain/monitoring/sync-health.js';
import { seconds } from '../domain/timeouts.js';
import { inTransaction } from './database/statements.js';
import { openSyncStates, type SyncState } from './views/sync-state.js';

/** A target, by what stands for it in the ledger, and a problem of which it is notified. */
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
  /** Raised by each change that leads to a notification: it begins, a day has gone by, it is over. */
  readonly version: number;
}

/** An alert whose present version a target has not got yet. */
export interface DueAlert extends Alert {
  readonly target: string;
  /** Whether the target got the notification that it has begun. */
  readonly begun: boolean;
}

/** An alert that is open, or whose notification is due for some target. */
export interface UnfinishedAlert extends Alert {
  readonly evaluatedAt: Date;
  /** Targets whose notification is due, whether they are still in sync.yaml or not. */
  readonly undeliveredTo: readonly string[];
}

/** What an evaluation has found. */
export interface AlertEvaluation {
  /** How many problems are open. */
  readonly open: number;
  /** Targets for which a notification is due. */
  readonly due: readonly string[];
}

export interface Alerts {
  /**
   * Compares what is wrong with the sync now, by `judge`, with what was, in one transaction; two evaluations of a sync
   * never overlap. Runs of the sync are expected from then on.
   */
  evaluate(
    sync: string,
    subscriptions: readonly Subscription[],
    judge: (state: SyncState) => readonly HealthProblem[],
  ): Promise<AlertEvaluation>;
  /** Runs of the sync are expected from now on, unless they have been before: it is late if none comes. */
  expectRuns(sync: string): Promise<void>;
  /** The alerts whose notifications are due for the subscribers. */
  due(sync: string, subscriptions: readonly Subscription[]): Promise<readonly DueAlert[]>;
  /** Records that a target has got this version; one older than the last that it got changes nothing. */
  recordDelivery(alert: DueAlert): Promise<void>;
  /** Open alerts, and ended ones whose notification is due for some target, of one sync or of all. */
  unfinished(sync: string | undefined): Promise<readonly UnfinishedAlert[]>;
}

export function openAlerts(knex: Knex): Alerts {
  const due = async (db: Knex, sync: string, subscriptions: readonly Subscription[]): Promise<readonly DueAlert[]> => {
    const { rows } = await db.raw<{ rows: DueAlert[] }>(
      `SELECT ${COLUMNS}, d.target, d.delivered_version >= a.opened_version AS begun
       FROM alerts a JOIN alert_deliveries d USING (sync, problem) JOIN ${SUBSCRIPTIONS} s USING (target, problem)
       WHERE a.sync = :sync AND a.version > d.delivered_version`,
      { sync, subscriptions: JSON.stringify(subscriptions) },
    );
    return rows;
  };
  return {
    evaluate: (sync, subscriptions, judge) =>
      inTransaction(knex, async (trx) => {
        await trx.raw(`SELECT pg_advisory_xact_lock(hashtextextended('alerts of ' || :sync, 0))`, { sync });
        // Read after the lock: a state read before another evaluation ended would undo its findings.
        await expectRuns(trx, sync);
        const [state] = await openSyncStates(trx).of(sync);
        const problems = judge(state!);
        await writeOpen(trx, sync, problems);
        await writeEnded(trx, sync, problems);
        await trx.raw(
          `INSERT INTO alert_deliveries (sync, problem, target, delivered_version)
           SELECT a.sync, a.problem, s.target, a.opened_version - 1 FROM alerts a JOIN ${SUBSCRIPTIONS} s USING (problem)
           WHERE a.sync = :sync AND a.ended_at IS NULL ON CONFLICT DO NOTHING`,
          { sync, subscriptions: JSON.stringify(subscriptions) },
        );
        const targets = (await due(trx, sync, subscriptions)).map(({ target }) => target);
        return { open: problems.length, due: [...new Set(targets)] };
      }),
    expectRuns: (sync) => expectRuns(knex, sync),
    due: (sync, subscriptions) => due(knex, sync, subscriptions),
    async recordDelivery({ sync, problem, target, version }) {
      await knex.raw(
        `UPDATE alert_deliveries SET delivered_version = :version, delivered_at = now()
         WHERE sync = :sync AND problem = :problem AND target = :target AND delivered_version < :version`,
        { sync, problem, target, version },
      );
    },
    async unfinished(sync) {
      const { rows } = await knex.raw<{ rows: UnfinishedAlert[] }>(
        `SELECT ${COLUMNS}, a.evaluated_at AS "evaluatedAt", u.targets AS "undeliveredTo"
         FROM alerts a, LATERAL (
           SELECT coalesce(array_agg(d.target), '{}') AS targets FROM alert_deliveries d
           WHERE d.sync = a.sync AND d.problem = a.problem AND d.delivered_version < a.version) u
         WHERE (CAST(:sync AS text) IS NULL OR a.sync = :sync) AND (a.ended_at IS NULL OR u.targets <> '{}')
         ORDER BY a.sync, a.since, a.problem`,
        { sync: sync ?? null },
      );
      return rows;
    },
  };
}

const COLUMNS = 'a.sync, a.problem, a.what, a.since, a.ended_at AS "endedAt", a.version';
const SUBSCRIPTIONS = '(SELECT * FROM json_to_recordset(CAST(:subscriptions AS json)) AS t(target text, problem text))';

async function expectRuns(knex: Knex, sync: string): Promise<void> {
  await knex.raw('INSERT INTO awaited_syncs (sync) VALUES (:sync) ON CONFLICT DO NOTHING', { sync });
}

/** Problems that are there now: new ones begin, and those that have lasted for another day get a reminder. */
async function writeOpen(trx: Knex, sync: string, problems: readonly HealthProblem[]): Promise<void> {
  const isDue = `alerts.ended_at IS NOT NULL OR alerts.changed_at <= now() - make_interval(secs => :reminder)`;
  await trx.raw(
    `INSERT INTO alerts (sync, problem, what)
     SELECT :sync, trigger, what FROM json_to_recordset(CAST(:problems AS json)) AS p(trigger text, what text)
     ON CONFLICT (sync, problem) DO UPDATE SET what = excluded.what, evaluated_at = now(), ended_at = NULL,
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
    `UPDATE alerts SET ended_at = now(), changed_at = now(), evaluated_at = now(), version = version + 1
     WHERE sync = :sync AND ended_at IS NULL AND NOT problem = ANY (CAST(:still AS text[]))`,
    { sync, still: problems.map(({ trigger }) => trigger) },
  );
}
