/** Forgetting: removes what the ledger knows of a record, of all records of a tenant, or of whole mappings, in one transaction. */
import type { Knex } from 'knex';
import type { Actor } from '../../domain/run/audit.js';
import type { JsonObject } from '../../domain/values/json.js';
import { writeAudit } from '../audit.js';
import { seconds } from '../../domain/timeouts.js';
import { CLAIM_LOCK } from '../batches/claims.js';
import { closedColumns } from '../batches/close-batches.js';
import { countRecords, forgetRecords } from '../record-index/index.js';
import { inTransaction } from '../database/statements.js';
import * as knownRows from './known-rows.js';

/** What is to be forgotten: a record, all records of a tenant, a record of one tenant only, or all that is known of mappings or a sync. */
export interface Forgetting {
  readonly sync: string;
  /** The platform's id of the tenant; null: of whichever tenant. */
  readonly tenant: string | null;
  /** null: all records of the tenant; without a tenant either, the mappings as a whole. */
  readonly externalId: string | null;
  /** Names of mappings; null: all that the ledger knows of the sync. */
  readonly mappings: readonly string[] | null;
  /** Names of their schema definitions, by which other records refer to it; null: any. */
  readonly schemas: readonly string[] | null;
}

/** How much the ledger knows: rows or entries by the place where they are. */
export interface KnownOf {
  /** Entries of the record index: external ids with hashes of what was accepted. */
  readonly records: number;
  readonly waiting: number;
  readonly deadLetters: number;
  /** Records in removal plans. */
  readonly removals: number;
  /** Inputs of backfills that name it, and partitions that were planned for it or end at it. */
  readonly runs: number;
  /** Dead letters of other records that name it as a missing parent. */
  readonly references: number;
  /** Of whole mappings: open batches, open removal plans, changed rows that were not delivered, and positions. */
  readonly batches: number;
  readonly plans: number;
  readonly changedRows: number;
  readonly positions: number;
}

/** Why nothing can be forgotten now. */
export interface Obstacle {
  readonly kind: 'run' | 'batch';
  /** The run, or the run that sent the batch. */
  readonly run: string;
  /** ISO 8601. */
  readonly since: string;
  /** `working` for a run, else the state of the batch; `in doubt` if its response was lost and the platform may still apply it. */
  readonly state: string;
  /** How many there are of this run in this state. */
  readonly count: number;
}

export interface Forgotten {
  readonly known: KnownOf;
  /** If there are any, nothing was removed. */
  readonly obstacles: readonly Obstacle[];
  /** Waiting records of other mappings that name it as a missing parent; they stay. */
  readonly waitingChildren: number;
}

export interface Forget {
  /** The names of mappings of the sync that the ledger knows. */
  mappingsOf(sync: string): Promise<readonly string[]>;
  /** What {@link forget} would remove, and what it would have to wait for. Writes nothing. */
  known(what: Forgetting): Promise<Forgotten>;
  /**
   * Removes it, unless a run of the sync is working or a batch with such a record is open; of whole mappings, whose batches nobody
   * polls any more, if the platform may still apply it. The audit gets the counts, and neither the record nor the tenant.
   *
   * @param run the run that does so before it sends anything, and so is not in its own way
   */
  forget(what: Forgetting, actor: Actor, run?: string): Promise<Forgotten>;
}

export function openForget(knex: Knex): Forget {
  return {
    mappingsOf: async (sync) =>
      (await knex('mappings').where({ sync }).orderBy('id').select<{ name: string }[]>('name')).map(({ name }) => name),
    known: async (what) => look(knex, what, await placesOf(knex, what)),
    forget: (what, actor, run) =>
      inTransaction(knex, async (trx) => {
        const places = await placesOf(trx, what);
        // In the order of their numbers. From now on no run sends a record of these mappings or plans to.
        for (const id of places.mappings) await trx.raw('SELECT pg_advisory_xact_lock(?, ?)', [CLAIM_LOCK, id]);
        const found = await look(trx, what, places, run);
        if (found.obstacles.length > 0) return found;
        await remove(trx, what, places);
        const { sync, mappings } = what;
        const subject = {
          by: namedBy(what),
          ...(mappings !== null && { mappings }),
          ...withoutZeros(found.known),
        };
        await writeAudit(trx, { sync, action: 'forgotten', actor, subject });
        return found;
      }),
  };
}

function namedBy({ tenant, externalId, mappings }: Forgetting): string {
  if (externalId === null && tenant === null) return mappings === null ? 'sync' : 'mapping';
  if (externalId === null) return 'tenant';
  return tenant === null ? 'external id' : 'tenant and external id';
}

const withoutZeros = (counts: KnownOf): JsonObject =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

/** The bindings of the conditions. */
interface Places {
  readonly sync: string;
  readonly mappings: number[];
  readonly names: string[] | null;
  readonly schemas: string[] | null;
  /** -1 if the ledger does not know the one that is meant: no tenant has it, nor have dead letters of rows without one. */
  readonly tenant: number | null;
  readonly id: string | null;
}

async function placesOf(knex: Knex, { sync, tenant, externalId, mappings, schemas }: Forgetting): Promise<Places> {
  const known = await knex('mappings').where({ sync }).orderBy('id').select<{ id: number; name: string }[]>();
  const chosen = known.filter(({ name }) => mappings === null || mappings.includes(name));
  const row =
    tenant === null
      ? null
      : await knex('tenants').where({ platform_id: tenant }).first<{ id: number } | undefined>('id');
  return {
    sync,
    mappings: chosen.map(({ id }) => id),
    names: mappings === null ? null : [...mappings],
    schemas: schemas === null ? null : [...schemas],
    tenant: row === null ? null : (row?.id ?? -1),
    id: externalId,
  };
}

async function look(knex: Knex, { sync }: Forgetting, places: Places, run?: string): Promise<Forgotten> {
  const count = async (rows: string): Promise<number> => {
    const { rows: found } = await knex.raw<{ rows: [{ n: number }] }>(
      `SELECT count(*)::float8 AS n FROM ${rows}`,
      bindingsOf(places),
    );
    return found[0].n;
  };
  const ofRecord = (rows: string): Promise<number> => (places.id === null ? Promise.resolve(0) : count(rows));
  const ofMappings = (rows: string): Promise<number> => (areWhole(places) ? count(rows) : Promise.resolve(0));
  let records = 0;
  for (const mappingId of places.mappings) records += await countRecords(knex, mappingId, places);
  const known: KnownOf = {
    records,
    waiting: await count(knownRows.WAITING),
    deadLetters: await count(knownRows.DEAD_LETTERS),
    removals: await count(knownRows.REMOVALS),
    runs: (await ofRecord(knownRows.BACKFILLS)) + (await ofRecord(knownRows.PARTITIONS)),
    references: await ofRecord(knownRows.CHILDREN),
    batches: await ofMappings(knownRows.OPEN_BATCHES),
    plans: await ofMappings(knownRows.OPEN_PLANS),
    changedRows: await ofMappings(knownRows.CHANGED_ROWS),
    positions: (await ofMappings(knownRows.POSITIONS)) + (await ofMappings(knownRows.FED_MAPPINGS)),
  };
  const openBatches = areWhole(places) ? knownRows.KEPT_BATCHES : knownRows.OPEN_BATCHES;
  const { rows } = await knex.raw<{ rows: (Omit<Obstacle, 'since'> & { since: Date })[] }>(
    `SELECT 'run' AS kind, id::text AS run, started_at AS since, 'working' AS state, 1 AS count
     FROM runs WHERE sync = :sync AND ended_at IS NULL AND id IS DISTINCT FROM CAST(:run AS bigint)
     UNION ALL
     SELECT 'batch', run_id::text, min(intended_at), state, count(*)::int FROM ${openBatches} GROUP BY run_id, state
     UNION ALL
     SELECT 'batch', run_id::text, min(since), 'in doubt', count(*)::int FROM ${knownRows.DOUBTS} AND until > now() GROUP BY run_id
     ORDER BY 3`,
    {
      ...bindingsOf({ ...places, sync }),
      run: run ?? null,
      keptFor: seconds('longestPending') + seconds('clocksApart'),
    },
  );
  const obstacles = rows.map(({ since, ...obstacle }) => ({ ...obstacle, since: since.toISOString() }));
  return { known, obstacles, waitingChildren: await ofRecord(knownRows.WAITING_CHILDREN) };
}

/** Whether all that is known of the mappings is meant. */
const areWhole = ({ tenant, id }: Places): boolean => tenant === null && id === null;

const bindingsOf = (places: Places): Record<string, Knex.RawBinding> => ({ ...places });

async function remove(trx: Knex, { sync }: Forgetting, places: Places): Promise<void> {
  for (const mappingId of places.mappings) await forgetRecords(trx, mappingId, places);
  const bindings = bindingsOf({ ...places, sync });
  // What a person is asked to approve has to be what is still in the plan.
  await trx.raw(
    `WITH gone AS (DELETE FROM ${knownRows.REMOVALS} RETURNING plan_id)
     UPDATE removal_plans p SET records = p.records - g.n
     FROM (SELECT plan_id, count(*) AS n FROM gone GROUP BY 1) g WHERE p.id = g.plan_id`,
    bindings,
  );
  await trx.raw(
    `UPDATE removal_plans SET next_tenant = 0, next_id = '' WHERE id IN (SELECT id FROM ${knownRows.PLANS})`,
    bindings,
  );
  // Keys of rows, shown while a run is on hold: no run is working.
  await trx('guards').whereIn('mapping_id', places.mappings).whereNotNull('examples').update({ examples: null });
  await trx.raw(`DELETE FROM ${knownRows.WAITING}`, bindings);
  await trx.raw(`DELETE FROM ${knownRows.DOUBTS}`, bindings);
  await trx.raw(`DELETE FROM ${knownRows.DEAD_LETTERS}`, bindings);
  if (areWhole(places)) await removeMappings(trx, places);
  // Of the whole sync, nothing is known any more that a platform has.
  if (areWhole(places) && places.names === null) await trx('sync_platforms').where({ sync }).delete();
  if (places.id === null) return;
  await trx.raw(
    `UPDATE dead_letters SET missing = ${knownRows.OTHER_PARENTS} WHERE id IN (SELECT id FROM ${knownRows.CHILDREN})`,
    bindings,
  );
  await trx.raw(
    `UPDATE runs SET input = ${knownRows.OTHER_INPUT} WHERE id IN (SELECT id FROM ${knownRows.BACKFILLS})`,
    bindings,
  );
  await trx.raw(
    `UPDATE partitions SET external_ids = array_remove(external_ids, :id),
       ${['resume_key', 'after_key', 'through_key'].map((key) => `${key} = CASE WHEN :id = ANY (${key}) THEN NULL ELSE ${key} END`).join(', ')}
     WHERE id IN (SELECT id FROM ${knownRows.PARTITIONS})`,
    bindings,
  );
}

/** What only whole mappings have. Their counts stay as long as those of others, and so do their numbers, by which counts refer to them. */
async function removeMappings(trx: Knex, places: Places): Promise<void> {
  const bindings = bindingsOf(places);
  await trx('batches')
    .whereRaw(`id IN (SELECT id FROM ${knownRows.OPEN_BATCHES})`, bindings)
    .update(closedColumns(trx, 'superseded'));
  await trx.raw(
    `UPDATE removal_plans SET state = 'replaced' WHERE id IN (SELECT id FROM ${knownRows.OPEN_PLANS})`,
    bindings,
  );
  for (const rows of [knownRows.CHANGED_ROWS, knownRows.POSITIONS, knownRows.FED_MAPPINGS])
    await trx.raw(`DELETE FROM ${rows}`, bindings);
  await trx('seen_columns').whereIn('mapping_id', places.mappings).delete();
  await trx('mappings')
    .whereIn('id', places.mappings)
    .update({ id_rule: null, ids_changed_at: null, schema_name: null, read_until: null });
}
