/**
 * Removal plans: the records of a mapping whose rows a run found vanished. A plan is filled page by page,
 * decided on, approved if it needs to be, and carried out. After that only its counts are kept.
 */
import type { Knex } from 'knex';
import type { Actor } from '../domain/run/audit.js';
import type { Exceeded } from '../domain/sync/guard.js';
import type { RemovalPlan, RemovalState } from '../domain/run/removal-plan.js';
import { writeAudit } from './audit.js';
import { settleRowsOfPlan } from './changes/changed-rows.js';
import { endSearch } from './changes/feeds.js';
import { scanRecords, type ScannedRecords } from './record-index/index.js';
import type { RecordKeys, RecordPlace } from './record-key.js';
import { inTransaction } from './database/statements.js';

/** A plan as the run that makes it needs it. */
export interface OpenPlan {
  readonly id: string;
  readonly mappingId: number;
  /** What is sent for each record, except its id: an approval is for this action only. */
  readonly action: string;
  readonly state: RemovalState;
  /** Whether some records of the ledger have been looked through for it. */
  readonly begun: boolean;
  /** The limit for which it has to be approved; null if it need not be. */
  readonly exceeded: Exceeded | null;
}

/** How many records of one tenant a plan has, and those that it had before it was opened again. */
export interface TenantRemovals {
  readonly records: number;
  /** Those of them that are in no approved plan of the mapping with the same action. */
  readonly unapproved: number;
  /** All accepted records of the tenant that were not marked as deleted before the plan. */
  readonly accepted: number;
}

export interface Removals {
  /**
   * The run's plan for the mapping, which the first call inserts.
   *
   * @param again whether a plan with which nothing is left to be done takes further records
   */
  open(runId: string, mappingId: number, action: string, again?: boolean): Promise<OpenPlan>;
  /**
   * The next records of the ledger, of so many blocks, that have not been looked through for the plan; null at the end.
   */
  scan(plan: OpenPlan, blocks: number): Promise<ScannedRecords | null>;
  /** Whether the run has a plan for the mapping. */
  has(runId: string, mappingId: number): Promise<boolean>;
  /** The mappings of the run's plans that are not carried out. */
  unfinished(runId: string): Promise<readonly number[]>;
  /** Whether a person has approved the run's plan for the mapping. */
  isApproved(runId: string, mappingId: number): Promise<boolean>;
  /**
   * Adds records to the plan, and records that the ledger is looked through up to `next`, if it is looked through. Returns
   * whether it has: a plan that was decided on takes no more.
   */
  add(plan: OpenPlan, records: RecordKeys, next: RecordPlace | null): Promise<boolean>;
  /** One entry for each tenant that has records of the mapping. */
  count(plan: OpenPlan): Promise<readonly TenantRemovals[]>;
  /** Ends the search. Earlier plans of the mapping are replaced, but the records of approved ones are kept. */
  decide(
    plan: OpenPlan,
    state: 'awaiting_approval' | 'empty' | 'due',
    counted: { readonly records: number; readonly accepted: number; readonly exceeded?: Exceeded | null },
  ): Promise<void>;
  /**
   * Replaces plans of runs that have ended, with records of changed rows alone, if none of these rows is still to be delivered: they
   * have come back since.
   */
  replaceSettled(mappingId: number): Promise<void>;
  /**
   * Replaces plans of runs that have ended, of mappings of the sync that are not among these: nobody will carry them out, since their
   * files, or what they said of deleted rows, are gone.
   */
  replaceOthers(sync: string, names: readonly string[]): Promise<void>;
  /** Up to `limit` records of the plan, by tenant and external id, from the one after `after`; null begins. */
  page(planId: string, after: RecordPlace | null, limit: number): Promise<readonly PlannedRemoval[]>;
  /** Ends a plan that was carried out. Its records and those of all earlier plans of the mapping are deleted. */
  finish(plan: OpenPlan): Promise<void>;
  /** Plans of the sync that a person has to approve. */
  awaitingApproval(sync: string): Promise<readonly RemovalPlan[]>;
  /** Those, and the plans of which nothing is done because the source has no row. */
  needingAttention(sync: string): Promise<readonly RemovalPlan[]>;
  /** Plans that the run has made. */
  ofRun(runId: string): Promise<readonly RemovalPlan[]>;
  /**
   * Approves the action of each plan for the records in it; the run looks in the former tenants, too, that those of the plans were told of.
   * The audit tells who did so, with which run.
   */
  approve(planIds: readonly string[], by: ApprovedBy): Promise<void>;
}

/** A run that names removal plans to carry out, and who started it. */
export interface ApprovedBy {
  readonly sync: string;
  readonly run: string;
  readonly actor: Actor;
}

export interface PlannedRemoval extends RecordPlace {
  readonly tenant: string;
}

/**
 * The mapping's plans that this one can replace: one of changed rows alone says nothing of what a search has found, and a run
 * that works beside this one carries its plan out itself.
 */
const plansOf = (trx: Knex, { id, mappingId }: OpenPlan) =>
  trx('removal_plans')
    .where({ mapping_id: mappingId })
    .whereRaw('(NOT searched OR (SELECT searched FROM removal_plans WHERE id = ?))', [id])
    .whereRaw('(id = ? OR run_id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL))', [id]);

/** A plan that was carried out, or could not be since the source had no row, takes records again. */
const reopen = (knex: Knex, runId: string, mappingId: number): Promise<void> =>
  inTransaction(knex, async (trx) => {
    const of = { run_id: runId, mapping_id: mappingId };
    const reopened = await trx('removal_plans')
      .where(of)
      .whereIn('state', ['done', 'empty'])
      .update({ state: 'finding', searched: false, next_tenant: 0, next_id: '', approved_at: null });
    if (reopened === 0) return;
    await trx('partitions')
      .where({ ...of, kind: 'removals' })
      .update({ resume_key: null, done: false });
  });

export function openRemovals(knex: Knex): Removals {
  const plans = async (condition: string, values: readonly string[]): Promise<RemovalPlan[]> => {
    const { rows } = await knex.raw<{ rows: (RemovalPlan & { idsChangedAt: Date | null })[] }>(
      `SELECT p.id AS plan, p.run_id AS run, m.name AS mapping, p.state, m.ids_changed_at AS "idsChangedAt", p.records::float8 AS records, p.accepted::float8 AS accepted,
         coalesce(sum(c.accepted + c.unchanged), 0)::float8 AS marked,
         coalesce(sum(c.waiting), 0)::float8 AS waiting, coalesce(sum(c.dead_lettered), 0)::float8 AS "deadLettered"
       FROM removal_plans p JOIN mappings m ON m.id = p.mapping_id
         LEFT JOIN partitions r ON r.run_id = p.run_id AND r.mapping_id = p.mapping_id AND r.kind = 'removals'
         LEFT JOIN partition_counts c ON c.partition_id = r.id
       WHERE ${condition} GROUP BY p.id, m.id ORDER BY p.id`,
      [...values],
    );
    return rows.map(({ idsChangedAt, ...plan }) => ({ ...plan, idsChangedAt: idsChangedAt?.toISOString() ?? null }));
  };
  return {
    async open(runId, mappingId, action, again = false) {
      await knex('removal_plans')
        .insert({ run_id: runId, mapping_id: mappingId, action })
        .onConflict(['run_id', 'mapping_id'])
        .ignore();
      if (again) await reopen(knex, runId, mappingId);
      const { rows } = await knex.raw<{ rows: OpenPlan[] }>(
        `SELECT id, mapping_id AS "mappingId", action, state, (next_tenant, next_id) <> (0, '') AS begun, exceeded
         FROM removal_plans WHERE run_id = ? AND mapping_id = ?`,
        [runId, mappingId],
      );
      return rows[0]!;
    },
    has: async (runId, mappingId) =>
      (await knex('removal_plans').where({ run_id: runId, mapping_id: mappingId }).first<object | undefined>('id')) !==
      undefined,
    async unfinished(runId) {
      const plans = await knex('removal_plans')
        .where({ run_id: runId })
        .whereIn('state', ['finding', 'awaiting_approval', 'due'])
        .select<{ id: number }[]>('mapping_id as id');
      return plans.map(({ id }) => id);
    },
    isApproved: async (runId, mappingId) =>
      (await knex('removal_plans')
        .where({ run_id: runId, mapping_id: mappingId })
        .whereNotNull('approved_at')
        .first<object | undefined>('id')) !== undefined,
    async scan(plan, blocks) {
      const from = await knex('removal_plans')
        .where({ id: plan.id })
        .first<RecordPlace>('next_tenant as tenantId', 'next_id as externalId');
      return scanRecords(knex, plan.mappingId, from, null, blocks);
    },
    async add(plan, { tenantIds, externalIds }, next) {
      return inTransaction(knex, async (trx) => {
        const open = await trx('removal_plans')
          .where({ id: plan.id, state: 'finding' })
          .forUpdate()
          .first<object | undefined>('id');
        if (open === undefined) return false;
        await trx.raw(
          `INSERT INTO removals (plan_id, tenant_id, external_id)
           SELECT ?, tenant, id FROM unnest(CAST(? AS int[]), CAST(? AS text[])) AS r(tenant, id) ON CONFLICT DO NOTHING`,
          [plan.id, [...tenantIds], [...externalIds]],
        );
        if (next !== null)
          await trx('removal_plans')
            .where({ id: plan.id })
            .update({ next_tenant: next.tenantId, next_id: next.externalId });
        return true;
      });
    },
    async count(plan) {
      const { rows } = await knex.raw<{ rows: TenantRemovals[] }>(
        `SELECT (coalesce(r.records, 0) + coalesce(e.records, 0))::float8 AS records,
           (coalesce(r.unapproved, 0) + coalesce(e.records, 0))::float8 AS unapproved,
           (b.accepted + coalesce(e.records, 0))::float8 AS accepted
         FROM (SELECT tenant_id, sum(accepted) AS accepted FROM record_blocks WHERE mapping_id = :mapping GROUP BY 1) b
         LEFT JOIN (
           SELECT r.tenant_id, count(*) AS records, count(*) FILTER (WHERE NOT EXISTS (
             SELECT FROM removal_plans p JOIN removals a ON a.plan_id = p.id
             WHERE p.mapping_id = :mapping AND p.action = :action AND p.approved_at IS NOT NULL
               AND a.tenant_id = r.tenant_id AND a.external_id = r.external_id)) AS unapproved
           FROM removals r WHERE r.plan_id = :plan GROUP BY 1
         ) r USING (tenant_id)
         LEFT JOIN (
           SELECT c.tenant_id, c.read AS records FROM removal_plans own
             JOIN partitions p ON p.run_id = own.run_id AND p.mapping_id = own.mapping_id AND p.kind = 'removals'
             JOIN partition_counts c ON c.partition_id = p.id
           WHERE own.id = :plan
         ) e USING (tenant_id)`,
        { plan: plan.id, mapping: plan.mappingId, action: plan.action },
      );
      return rows;
    },
    async decide(plan, state, counted) {
      await inTransaction(knex, async (trx) => {
        // An attempt that was frozen meanwhile must not decide again.
        const decided = await trx('removal_plans')
          .where({ id: plan.id, state: 'finding' })
          .update({ ...counted, state });
        if (decided === 0) return;
        const before = () => plansOf(trx, plan).where('id', '<', plan.id);
        await trx('removals').whereIn('plan_id', before().whereNull('approved_at').select('id')).delete();
        await before().whereIn('state', ['finding', 'awaiting_approval', 'empty', 'due']).update({ state: 'replaced' });
      });
    },
    async replaceSettled(mappingId) {
      await knex.raw(
        `WITH replaced AS (
           UPDATE removal_plans p SET state = 'replaced'
           WHERE p.mapping_id = :mappingId AND p.state IN ('awaiting_approval', 'empty') AND NOT p.searched
             AND p.run_id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL)
             AND NOT EXISTS (SELECT FROM changed_rows c WHERE c.mapping_id = p.mapping_id AND c.plan_id = p.id)
           RETURNING p.id)
         DELETE FROM removals WHERE plan_id IN (SELECT id FROM replaced)`,
        { mappingId },
      );
    },
    async replaceOthers(sync, names) {
      await knex.raw(
        `WITH replaced AS (
           UPDATE removal_plans p SET state = 'replaced'
           FROM mappings m WHERE m.id = p.mapping_id AND m.sync = :sync AND NOT m.name = ANY (CAST(:names AS text[]))
             AND p.state IN ('finding', 'awaiting_approval', 'empty', 'due')
             AND p.run_id IN (SELECT id FROM runs WHERE ended_at IS NOT NULL)
           RETURNING p.id)
         DELETE FROM removals WHERE plan_id IN (SELECT id FROM replaced)`,
        { sync, names: [...names] },
      );
    },
    async page(planId, after, limit) {
      const { rows } = await knex.raw<{ rows: PlannedRemoval[] }>(
        `SELECT r.tenant_id AS "tenantId", t.platform_id AS tenant, r.external_id AS "externalId"
         FROM removals r JOIN tenants t ON t.id = r.tenant_id
         WHERE r.plan_id = ? AND (r.tenant_id, r.external_id) > (?, ?) ORDER BY r.tenant_id, r.external_id LIMIT ?`,
        [planId, after?.tenantId ?? 0, after?.externalId ?? '', limit],
      );
      return rows;
    },
    async finish(plan) {
      await inTransaction(knex, async (trx) => {
        // An attempt that was frozen meanwhile must not end a plan that has been opened again.
        const { rowCount } = await trx.raw<{ rowCount: number }>(
          `UPDATE removal_plans p SET state = 'done' WHERE p.id = ? AND NOT EXISTS (SELECT FROM partitions r
             WHERE (r.run_id, r.mapping_id, r.kind) = (p.run_id, p.mapping_id, 'removals') AND NOT r.done)`,
          [plan.id],
        );
        if (rowCount === 0) return;
        const through = plansOf(trx, plan).where('id', '<=', plan.id);
        await trx('removals').whereIn('plan_id', through.select('id')).delete();
        await settleRowsOfPlan(trx, plan.mappingId, plan.id);
        await endSearch(trx, plan.id);
        await trx.raw(
          `UPDATE mappings m SET ids_changed_at = NULL FROM removal_plans p
           WHERE p.id = ? AND p.searched AND m.id = p.mapping_id AND m.ids_changed_at IS NOT NULL`,
          [plan.id],
        );
      });
    },
    awaitingApproval: (sync) => plans(`m.sync = ? AND p.state = 'awaiting_approval'`, [sync]),
    needingAttention: (sync) => plans(`m.sync = ? AND p.state IN ('awaiting_approval', 'empty')`, [sync]),
    ofRun: (runId) => plans('p.run_id = ?', [runId]),
    approve: (planIds, { sync, run, actor }) =>
      inTransaction(knex, async (trx) => {
        const approved = await trx('removal_plans')
          .whereIn('id', [...planIds])
          .whereNull('approved_at')
          .update({ approved_at: trx.fn.now() })
          .returning<{ id: string; records: string }[]>(['id', 'records']);
        await trx.raw(
          `UPDATE runs r SET input = jsonb_set(r.input, '{formerTenants}', f.tenants)
           FROM (SELECT jsonb_agg(DISTINCT tenant) AS tenants FROM runs o, jsonb_array_elements_text(o.input->'formerTenants') AS tenant
                 WHERE o.id = :run OR o.id IN (SELECT run_id FROM removal_plans WHERE id = ANY (CAST(:plans AS bigint[])))) f
           WHERE r.id = :run AND f.tenants IS NOT NULL`,
          { run, plans: [...planIds] },
        );
        if (approved.length === 0) return;
        const records = approved.reduce((sum, plan) => sum + Number(plan.records), 0);
        const subject = { run, plans: approved.map((plan) => plan.id), records };
        await writeAudit(trx, { sync, action: 'removals_approved', actor, subject });
      }),
  };
}
