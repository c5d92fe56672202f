/** Removal plans in the ledger: found page by page, held or due, approved, carried out, forgotten. */
import type { Knex } from 'knex';
import type { RemovalPlan, RemovalState } from '../domain/removal.js';
import { REMOVING } from './ranges.js';
import { StoredBlock, type RecordEntry } from './record-block.js';
import type { RecordKeys } from './record-key.js';
import { inTransaction } from './transaction.js';

/** A plan as the run that makes it works on it. */
export interface OpenPlan {
  readonly id: string;
  readonly mappingId: number;
  readonly action: string;
  readonly state: RemovalState;
}

export interface WalkedRecord extends RecordEntry {
  readonly tenantId: number;
}

/** How many records of one tenant a plan has. */
export interface TenantRemovals {
  readonly records: number;
  /** Those of them that are in no plan that somebody approved for the same action. */
  readonly unapproved: number;
  /** All accepted records of the tenant. */
  readonly accepted: number;
}

export interface Removals {
  /** The run's plan for the mapping: made on the first call, found again by later ones. */
  open(runId: string, mappingId: number, action: string): Promise<OpenPlan>;
  /** The next records of the ledger that the plan has not seen, in some blocks; none: all are seen. */
  walk(plan: OpenPlan, blocks: number): Promise<Walked | null>;
  /** Adds records, and notes how far the ledger is looked through. */
  add(plan: OpenPlan, records: RecordKeys, walked: Walked): Promise<void>;
  count(plan: OpenPlan): Promise<readonly TenantRemovals[]>;
  /** Ends the finding; plans before this one that nobody approved are replaced. */
  decide(
    plan: OpenPlan,
    state: 'held' | 'empty' | 'due',
    counted: { records: number; accepted: number },
  ): Promise<void>;
  /** Records of the plan behind `after`, in order. */
  page(planId: string, after: RemovalKey | null, limit: number): Promise<readonly PlannedRemoval[]>;
  /** Ends the plan; its records and those of all before it are forgotten. */
  finish(plan: OpenPlan): Promise<void>;
  /** Plans of the sync that wait for a person: of each mapping the latest. */
  waiting(sync: string): Promise<readonly RemovalPlan[]>;
  ofRun(runId: string): Promise<readonly RemovalPlan[]>;
  /** Approves plans for the records that are in them. */
  approve(planIds: readonly string[]): Promise<void>;
}

export interface Walked {
  readonly tenantId: number;
  readonly low: Buffer;
  readonly records: readonly WalkedRecord[];
}

export interface RemovalKey {
  readonly tenantId: number;
  readonly externalId: string;
}

export interface PlannedRemoval extends RemovalKey {
  readonly tenant: string;
}

const OPEN = 'id, mapping_id AS "mappingId", action, state';

export function openRemovals(knex: Knex): Removals {
  const plans = async (condition: string, values: readonly string[]): Promise<RemovalPlan[]> => {
    const { rows } = await knex.raw<{ rows: RemovalPlan[] }>(
      `SELECT p.id AS plan, p.run_id AS run, m.name AS mapping, p.state, p.records::float8 AS records, p.accepted::float8 AS accepted,
         coalesce(sum(b.accepted + b.unchanged), 0)::float8 AS marked,
         coalesce(sum(b.waiting), 0)::float8 AS waiting, coalesce(sum(b.dead_lettered), 0)::float8 AS "deadLettered"
       FROM removal_plans p JOIN mappings m ON m.id = p.mapping_id
         LEFT JOIN ranges r ON r.run_id = p.run_id AND r.mapping_id = p.mapping_id AND r.no = ${REMOVING}
         LEFT JOIN books b ON b.range_id = r.id
       WHERE ${condition} GROUP BY p.id, m.name ORDER BY p.id`,
      [...values],
    );
    return rows;
  };
  return {
    async open(runId, mappingId, action) {
      await knex('removal_plans')
        .insert({ run_id: runId, mapping_id: mappingId, action })
        .onConflict(['run_id', 'mapping_id'])
        .ignore();
      const { rows } = await knex.raw<{ rows: OpenPlan[] }>(
        `SELECT ${OPEN} FROM removal_plans WHERE run_id = ? AND mapping_id = ?`,
        [runId, mappingId],
      );
      return rows[0]!;
    },
    async walk(plan, blocks) {
      const { rows } = await knex.raw<{ rows: { tenant_id: number; low: Buffer; records: string }[] }>(
        `SELECT b.tenant_id, b.low, b.records FROM removal_plans p
         JOIN record_blocks b ON b.mapping_id = p.mapping_id AND (b.tenant_id, b.low) > (p.walked_tenant, p.walked_low)
         WHERE p.id = ? ORDER BY b.tenant_id, b.low LIMIT ?`,
        [plan.id, blocks],
      );
      const last = rows.at(-1);
      if (last === undefined) return null;
      const records = rows.flatMap((row) =>
        new StoredBlock(row.tenant_id, row.records).entries.map((entry) => ({ ...entry, tenantId: row.tenant_id })),
      );
      return { tenantId: last.tenant_id, low: last.low, records };
    },
    async add(plan, { tenantIds, externalIds }, walked) {
      await inTransaction(knex, async (trx) => {
        await trx.raw(
          `INSERT INTO removals (plan_id, tenant_id, external_id)
           SELECT ?, tenant, id FROM unnest(CAST(? AS int[]), CAST(? AS text[])) AS r(tenant, id) ON CONFLICT DO NOTHING`,
          [plan.id, [...tenantIds], [...externalIds]],
        );
        await trx('removal_plans')
          .where({ id: plan.id })
          .update({ walked_tenant: walked.tenantId, walked_low: walked.low });
      });
    },
    async count(plan) {
      const { rows } = await knex.raw<{ rows: TenantRemovals[] }>(
        `SELECT coalesce(r.records, 0)::float8 AS records, coalesce(r.unapproved, 0)::float8 AS unapproved,
           b.accepted::float8 AS accepted
         FROM (SELECT tenant_id, sum(accepted) AS accepted FROM record_blocks WHERE mapping_id = :mapping GROUP BY 1) b
         LEFT JOIN (
           SELECT r.tenant_id, count(*) AS records, count(*) FILTER (WHERE NOT EXISTS (
             SELECT FROM removal_plans p JOIN removals a ON a.plan_id = p.id
             WHERE p.mapping_id = :mapping AND p.action = :action AND p.approved_at IS NOT NULL
               AND a.tenant_id = r.tenant_id AND a.external_id = r.external_id)) AS unapproved
           FROM removals r WHERE r.plan_id = :plan GROUP BY 1
         ) r USING (tenant_id)`,
        { plan: plan.id, mapping: plan.mappingId, action: plan.action },
      );
      return rows;
    },
    async decide(plan, state, counted) {
      await inTransaction(knex, async (trx) => {
        // An attempt that was frozen meanwhile decides nothing any more.
        const decided = await trx('removal_plans')
          .where({ id: plan.id, state: 'finding' })
          .update({ ...counted, state });
        if (decided === 0) return;
        const before = () => trx('removal_plans').where({ mapping_id: plan.mappingId }).where('id', '<', plan.id);
        await trx('removals').whereIn('plan_id', before().whereNull('approved_at').select('id')).delete();
        await before().whereIn('state', ['finding', 'held', 'empty', 'due']).update({ state: 'replaced' });
      });
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
        await trx('removal_plans').where({ id: plan.id }).update({ state: 'done' });
        const through = trx('removal_plans').where({ mapping_id: plan.mappingId }).where('id', '<=', plan.id);
        await trx('removals').whereIn('plan_id', through.select('id')).delete();
      });
    },
    waiting: (sync) => plans(`m.sync = ? AND p.state IN ('held', 'empty')`, [sync]),
    ofRun: (runId) => plans('p.run_id = ?', [runId]),
    async approve(planIds) {
      await knex('removal_plans')
        .whereIn('id', [...planIds])
        .whereNull('approved_at')
        .update({ approved_at: knex.fn.now() });
    },
  };
}
