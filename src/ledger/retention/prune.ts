/** Removes what is old from the ledger, in small steps: each is a short transaction, so nobody waits for it. */
import type { Knex } from 'knex';
import { RETENTION_KINDS, type Prunable, type Retention, type RetentionKind } from '../../domain/sync/retention.js';
import { inTransaction, retryOnDeadlock } from '../database/statements.js';
import {
  NEEDED_RUNS,
  OLD_AUDIT,
  OLD_BATCHES,
  OLD_REMOVAL_PLANS,
  oldPartitions,
  oldRuns,
  type Purpose,
} from './prunable-rows.js';

/** How a prune works; everything may be left out. */
export interface PruneOptions {
  /** Asked before each step; the steps end when it says no. */
  readonly shouldContinue?: () => boolean;
  /** Told after each step how many rows of the kind are gone by then. */
  readonly onStep?: (kind: RetentionKind, rows: number) => void;
  /** Ages are counted from this time; by default from the database's own. */
  readonly asOf?: Date;
}

/** What was removed, by kind. */
export interface Pruned {
  readonly removed: readonly Prunable[];
  /** Whether nothing is left to remove. */
  readonly done: boolean;
}

/** Removes old rows. What is never removed, whatever its age: docs/retention.md. */
export interface LedgerRetention {
  /** Removes what is older than `retention` says, until nothing is left or `shouldContinue` says no. */
  prune(sync: string, retention: Retention, options?: PruneOptions): Promise<Pruned>;
  /** What {@link prune} would remove. Writes nothing, but reads every old row. */
  prunable(sync: string, retention: Retention, options?: Pick<PruneOptions, 'asOf'>): Promise<readonly Prunable[]>;
}

/** Rows that one statement deletes: 5 ms, and 10,000 would take 200 ms. */
const STEP = 1000;

export function openRetention(knex: Knex): LedgerRetention {
  return {
    async prune(sync, retention, { shouldContinue = () => true, onStep = () => undefined, asOf } = {}) {
      const removed: Prunable[] = [];
      await deleteDoubtsThatAreOver(knex, sync);
      for (const { kind, sql, order, bindings } of await selections(knex, sync, retention, 'remove', asOf)) {
        const found = tally(removed, kind);
        while (true) {
          if (!shouldContinue()) return { removed, done: false };
          const { rows } = await knex.raw<{ rows: OldRow[] }>(`${sql} ORDER BY ${order} LIMIT ${STEP}`, bindings);
          if (rows.length > 0) {
            await DELETIONS[kind](
              knex,
              rows.map((row) => row.id),
            );
            found.add(rows.length, rows[0]!.at);
            onStep(kind, found.rows);
          }
          if (rows.length < STEP) break;
        }
      }
      return { removed, done: true };
    },
    async prunable(sync, retention, { asOf } = {}) {
      const counted: Prunable[] = [];
      for (const { kind, sql, bindings } of await selections(knex, sync, retention, 'count', asOf)) {
        const { rows } = await knex.raw<{ rows: { rows: number; oldest: Date | null }[] }>(
          `SELECT count(*)::float8 AS rows, min(at) AS oldest FROM (${sql}) old`,
          bindings,
        );
        tally(counted, kind).add(rows[0]!.rows, rows[0]!.oldest);
      }
      return counted;
    },
  };
}

/** They tell nothing about the past, so they are not counted. */
const deleteDoubtsThatAreOver = (knex: Knex, sync: string): Promise<void> =>
  retryOnDeadlock(async () => {
    await knex.raw(
      'DELETE FROM doubts WHERE until < now() AND mapping_id IN (SELECT id FROM mappings WHERE sync = ?)',
      [sync],
    );
  });

interface OldRow {
  readonly id: string;
  readonly at: Date;
}

/** The entry of the kind in the list, which is added if it is not there. */
function tally(list: Prunable[], kind: RetentionKind) {
  let at = list.findIndex((entry) => entry.kind === kind);
  if (at < 0) at = list.push({ kind, rows: 0, oldest: null }) - 1;
  return {
    get rows() {
      return list[at]!.rows;
    },
    add(rows: number, oldest: Date | null): void {
      const before = list[at]!;
      const candidates = [before.oldest, oldest?.toISOString() ?? null].filter((time) => time !== null).sort();
      list[at] = { kind, rows: before.rows + rows, oldest: candidates[0] ?? null };
    },
  };
}

/** Rows of one kind (and one mapping): a SELECT of their ids and ages. */
interface Selection {
  readonly kind: RetentionKind;
  readonly sql: string;
  /** Oldest first, in the order of an index: nothing is sorted for a step. */
  readonly order: string;
  readonly bindings: Readonly<Record<string, Knex.RawBinding>>;
}

async function selections(
  knex: Knex,
  sync: string,
  retention: Retention,
  purpose: Purpose,
  asOf: Date | undefined,
): Promise<Selection[]> {
  const mappings = await knex('mappings').where({ sync }).orderBy('id').select<{ id: number }[]>('id');
  const needed = await knex.raw<{ rows: [NeededRuns] }>(NEEDED_RUNS, { sync });
  const all = { sync, ...(await cutoffs(knex, retention, asOf)) };
  const ofMappings = (kind: RetentionKind, sql: string, order: string): Selection[] =>
    mappings.map(({ id }) => ({ kind, sql, order, bindings: { ...all, mapping: id } }));
  return [
    ...ofMappings('batches', OLD_BATCHES, 'at'),
    ...ofMappings('partitions', oldPartitions(purpose), 'p.run_id'),
    { kind: 'removalPlans', sql: OLD_REMOVAL_PLANS, order: 'p.id', bindings: all },
    { kind: 'runs', sql: oldRuns(purpose), order: 'r.ended_at', bindings: { ...all, ...needed.rows[0] } },
    { kind: 'audit', sql: OLD_AUDIT, order: 'at', bindings: all },
  ];
}

/** Times as texts: a `Date` would lose microseconds. */
interface NeededRuns {
  readonly kept: string[];
  readonly badSince: string;
  readonly refusedSince: string;
  readonly schedules: string[];
  readonly badFrom: string[];
}

/** The times before which rows of each kind are old, by one clock and as texts: a `Date` would lose microseconds. */
async function cutoffs(
  knex: Knex,
  retention: Retention,
  asOf: Date | undefined,
): Promise<Readonly<Record<RetentionKind, string>>> {
  const columns = RETENTION_KINDS.map((kind) => `(t - make_interval(secs => :${kind}))::text AS "${kind}"`);
  const { rows } = await knex.raw<{ rows: [Record<RetentionKind, string>] }>(
    `SELECT ${columns.join(', ')} FROM (SELECT coalesce(CAST(:asOf AS timestamptz), now()) AS t) clock`,
    { ...retention, asOf: asOf?.toISOString() ?? null },
  );
  return rows[0];
}

type Deletion = (knex: Knex, ids: readonly string[]) => Promise<void>;

/** Another process may prune the same sync: then the rows are gone already, or the two meet in another order. */
const deletion =
  (table: string): Deletion =>
  (knex, ids) =>
    retryOnDeadlock(() => deleteRows(knex, table, ids));

async function deleteRows(knex: Knex, table: string, ids: readonly string[]): Promise<void> {
  await knex.raw(`DELETE FROM ${table} WHERE id = ANY (CAST(? AS bigint[]))`, [[...ids]]);
}

const SOME_OF_THEM = `partition_id = ANY (CAST(? AS bigint[])) LIMIT ${STEP}`;
/**
 * What partitions have: counts of each tenant, and many periods, so that those of many partitions are too much for one
 * statement. By ctid: given keys, PostgreSQL would scan the whole table. Rows of runs that have ended stay where they are.
 */
const OF_PARTITIONS: readonly string[] = [
  `DELETE FROM partition_counts WHERE ctid = ANY (ARRAY(SELECT ctid FROM partition_counts WHERE ${SOME_OF_THEM}))`,
  `DELETE FROM partition_periods WHERE ctid = ANY (ARRAY(SELECT ctid FROM partition_periods WHERE ${SOME_OF_THEM}))`,
  `DELETE FROM partition_requests WHERE ctid = ANY (ARRAY(SELECT ctid FROM partition_requests WHERE ${SOME_OF_THEM}))`,
];

const DELETIONS: Readonly<Record<RetentionKind, Deletion>> = {
  batches: deletion('batches'),
  async partitions(knex, ids) {
    for (const sql of OF_PARTITIONS)
      while ((await retryOnDeadlock(async () => knex.raw<{ rowCount: number }>(sql, [[...ids]]))).rowCount === STEP);
    // The guards of these runs go too, since they contain keys of rows.
    await knex.raw(
      `DELETE FROM guards WHERE run_id = ANY (ARRAY(SELECT run_id FROM partitions WHERE id = ANY (CAST(? AS bigint[]))))`,
      [[...ids]],
    );
    await deletion('partitions')(knex, ids);
  },
  removalPlans: deletion('removal_plans'),
  async runs(knex, ids) {
    await knex.raw('DELETE FROM guards WHERE run_id = ANY (CAST(? AS bigint[]))', [[...ids]]);
    await deletion('runs')(knex, ids);
  },
  audit: (knex, ids) =>
    inTransaction(knex, async (trx) => {
      await trx.raw(`SET LOCAL partner_sync.prunes_audit = 'on'`);
      await deleteRows(trx, 'audit', ids);
    }),
};
