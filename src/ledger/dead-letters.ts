/**
 * Dead letters: for people, and for runs, which read their rows again. Checkpoints write them (write-dead-letters.ts).
 */
import type { Knex } from 'knex';
import type { DeadLetterCause, DeadLetterFilter, StoredDeadLetter } from '../domain/records/dead-letter.js';
import type { ParentName } from '../domain/records/parent.js';
import type { SourceKey } from '../domain/source/source.js';
import type { Actor } from '../domain/run/audit.js';
import type { JsonObject } from '../domain/values/json.js';
import { writeAudit } from './audit.js';
import { inTransaction } from './database/statements.js';
import { keyHash } from './key-hash.js';
import { recordKey, type RecordPlace } from './record-key.js';

/** All methods are about one sync or one of its mappings; a sync that no run has seen has no dead letters. */
export interface DeadLetterView {
  /** Counts by mapping, code, field and rule; most frequent first. */
  causes(sync: string, filter: DeadLetterFilter): Promise<readonly DeadLetterCause[]>;
  count(sync: string, filter: DeadLetterFilter): Promise<number>;
  /** Up to `limit` dead letters in the order of their ids, from the one after the id `after`; `'0'` begins. */
  page(sync: string, filter: DeadLetterFilter, after: string, limit: number): Promise<readonly StoredDeadLetter[]>;
  get(sync: string, id: string): Promise<StoredDeadLetter | undefined>;
  /** How many rows with one of these keys have a dead letter. */
  countRows(mappingId: number, keys: readonly SourceKey[]): Promise<number>;
  /** The dead letters of all records with this external id, in whichever tenant. */
  ofRecord(mappingId: number, externalId: string): Promise<readonly StoredDeadLetter[]>;
}

export interface DeadLetterKey {
  readonly id: string;
  readonly sourceKey: SourceKey;
}

/** A dead letter of a child that lacked a parent when it was written. */
export interface DeadLetterLackingParents extends DeadLetterKey {
  readonly tenantId: number;
  readonly missing: readonly ParentName[];
}

/**
 * A page of dead letters in the order of their ids: up to `limit`, after the id `after`, up to and including `through`.
 */
export interface DeadLetterBounds {
  readonly after: string;
  readonly through: string;
  readonly limit: number;
}

export interface DeadLetters extends DeadLetterView {
  /** A page of the mapping's dead letters. */
  keys(mappingId: number, filter: DeadLetterFilter, bounds: DeadLetterBounds): Promise<readonly DeadLetterKey[]>;
  /** Whether the mapping has dead letters of children that lacked a parent. */
  anyLackingParents(mappingId: number): Promise<boolean>;
  /** A page of the dead letters of children that lacked a parent, without those whose record waits meanwhile. */
  lackingParents(mappingId: number, bounds: DeadLetterBounds): Promise<readonly DeadLetterLackingParents[]>;
  /**
   * The {@link recordKey}s of those that have a dead letter.
   *
   * @param which `lackingParents`: only dead letters of children that lacked a parent
   */
  among(
    mappingId: number,
    keys: readonly { readonly tenantId: number; readonly externalId: string }[],
    which?: { readonly lackingParents: boolean },
  ): Promise<ReadonlySet<string>>;
  /**
   * The external ids that have a dead letter `duplicate_external_id`; null if the mapping has no such dead letter at
   * all.
   */
  duplicateIds(mappingId: number, externalIds: readonly string[]): Promise<ReadonlySet<string> | null>;
  /** The id of the mapping's newest dead letter; `'0'` if there is none. */
  newest(mappingId: number): Promise<string>;
  /**
   * Deletes dead letters whose rows are gone, and returns how many.
   *
   * @param readSeqStart the number drawn before the rows were looked for: those of later readings stay
   * @param partitionId the partition in which the rows were looked for, which counts those that are gone
   */
  close(mappingId: number, ids: readonly string[], readSeqStart: string, partitionId?: string): Promise<number>;
  /** The id of the sync's newest dead letter; `'0'` if there is none. */
  newestOf(sync: string): Promise<string>;
  /**
   * Deletes dead letters up to and including the id `through` without reading their rows, and returns how many. The audit tells who
   * did so.
   */
  drop(sync: string, filter: DeadLetterFilter, through: string, actor: Actor): Promise<number>;
}

export function openDeadLetters(knex: Knex): DeadLetters {
  const inMapping = (mappingId: number) => knex('dead_letters').where({ mapping_id: mappingId });
  return {
    ...openDeadLetterView(knex),
    async keys(mappingId, filter, { after, through, limit }) {
      const rows = await filtered(deadLettersAndMappings(knex), filter)
        .where('d.mapping_id', mappingId)
        .where('d.id', '>', after)
        .where('d.id', '<=', through)
        .orderBy('d.id')
        .limit(limit)
        .select<{ id: string; source_key: string[] }[]>('d.id', 'd.source_key');
      return rows.map((row) => ({ id: row.id, sourceKey: row.source_key }));
    },
    anyLackingParents: async (mappingId) =>
      (await inMapping(mappingId).whereNotNull('missing').first<{ id: string } | undefined>('id')) !== undefined,
    async lackingParents(mappingId, { after, through, limit }) {
      const rows = await inMapping(mappingId)
        .whereNotNull('missing')
        .whereRaw(
          `NOT EXISTS (SELECT FROM waiting w WHERE w.mapping_id = dead_letters.mapping_id
             AND w.tenant_id = dead_letters.tenant_id AND w.external_id = dead_letters.external_id)`,
        )
        .where('id', '>', after)
        .where('id', '<=', through)
        .orderBy('id')
        .limit(limit)
        .select<{ id: string; source_key: string[]; tenant_id: number; missing: ParentName[] }[]>(
          'id',
          'source_key',
          'tenant_id',
          'missing',
        );
      return rows.map((row) => ({
        id: row.id,
        sourceKey: row.source_key,
        tenantId: row.tenant_id,
        missing: row.missing,
      }));
    },
    async among(mappingId, keys, { lackingParents } = { lackingParents: false }) {
      const { rows } = await knex.raw<{ rows: RecordPlace[] }>(
        `SELECT DISTINCT d.tenant_id AS "tenantId", d.external_id AS "externalId" FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         JOIN dead_letters d ON d.mapping_id = ? AND d.tenant_id = i.tenant_id AND d.external_id = i.external_id
         ${lackingParents ? 'WHERE d.missing IS NOT NULL' : ''}`,
        [keys.map((k) => k.tenantId), keys.map((k) => k.externalId), mappingId],
      );
      return new Set(rows.map(recordKey));
    },
    async duplicateIds(mappingId, externalIds) {
      const duplicates = () => inMapping(mappingId).where({ code: 'duplicate_external_id' });
      if ((await duplicates().first<{ id: string } | undefined>('id')) === undefined) return null;
      const rows = await duplicates()
        .whereRaw('external_id = ANY (CAST(? AS text[]))', [[...externalIds]])
        .distinct<{ external_id: string }[]>('external_id');
      return new Set(rows.map((row) => row.external_id));
    },
    async newest(mappingId) {
      const row = await inMapping(mappingId).max<{ max: string | null }[]>('id').first();
      return row?.max ?? '0';
    },
    async close(mappingId, ids, readSeqStart, partitionId) {
      if (ids.length === 0) return 0;
      // One statement, so that a second attempt finds nothing left to count.
      const { rows } = await knex.raw<{ rows: { closed: number }[] }>(
        `WITH closed AS (
           DELETE FROM dead_letters
           WHERE mapping_id = :mapping AND id = ANY (CAST(:ids AS bigint[])) AND read_seq <= :readSeqStart RETURNING id),
         counted AS (
           UPDATE partitions SET rows_gone = rows_gone + (SELECT count(*) FROM closed)
           WHERE id = CAST(:partition AS bigint))
         SELECT count(*)::float8 AS closed FROM closed`,
        { mapping: mappingId, ids: [...ids], readSeqStart, partition: partitionId ?? null },
      );
      return rows[0]!.closed;
    },
    async newestOf(sync) {
      const row = await deadLettersAndMappings(knex)
        .where('m.sync', sync)
        .max<{ max: string | null }[]>('d.id as max')
        .first();
      return row?.max ?? '0';
    },
    drop: (sync, filter, through, actor) =>
      inTransaction(knex, async (trx) => {
        const ofSync = filtered(deadLettersAndMappings(trx), filter).where('m.sync', sync).where('d.id', '<=', through);
        const rows = await trx('dead_letters').whereIn('id', ofSync.select('d.id')).delete();
        const subject = { rows, filter: filterOf(filter) };
        if (rows > 0) await writeAudit(trx, { sync, action: 'dead_letters_dropped', actor, subject });
        return rows;
      }),
  };
}

/** The filter as JSON. It has names, codes, pointers and a time, and no value of a row. */
const filterOf = ({ mappings, codes, fields, tenants, since }: DeadLetterFilter): JsonObject => ({
  ...(mappings !== undefined && { mappings }),
  ...(codes !== undefined && { codes }),
  ...(fields !== undefined && { fields }),
  ...(tenants !== undefined && { tenants }),
  ...(since !== undefined && { since }),
});

interface DeadLetterRow {
  id: string;
  mapping: string;
  tenant: string | null;
  source_key: string[];
  external_id: string | null;
  mapping_version: string;
  code: string;
  pointer: string;
  rule: string;
  reason: string;
  shape: string;
  missing: ParentName[] | null;
  run_id: string;
  times: number;
  first_seen: Date;
  last_seen: Date;
}

const storedDeadLetterOf = (row: DeadLetterRow): StoredDeadLetter => ({
  id: row.id,
  mapping: row.mapping,
  tenant: row.tenant,
  sourceKey: row.source_key,
  externalId: row.external_id,
  mappingVersion: row.mapping_version,
  code: row.code,
  pointer: row.pointer,
  rule: row.rule,
  reason: row.reason,
  shape: row.shape,
  missing: row.missing ?? [],
  run: row.run_id,
  times: row.times,
  firstSeen: row.first_seen.toISOString(),
  lastSeen: row.last_seen.toISOString(),
});

export function openDeadLetterView(knex: Knex): DeadLetterView {
  const rows = () =>
    deadLettersAndMappings(knex)
      .leftJoin('tenants as t', 't.id', 'd.tenant_id')
      .select<DeadLetterRow[]>('d.*', 'm.name as mapping', 't.platform_id as tenant');
  return {
    async causes(sync, filter) {
      type Cause = Omit<DeadLetterCause, 'firstSeen' | 'lastSeen'> & { first_seen: Date; last_seen: Date };
      const causes = await filtered(deadLettersAndMappings(knex), filter)
        .where('m.sync', sync)
        .groupBy('m.name', 'd.code', 'd.pointer', 'd.rule')
        .orderByRaw('count(*) DESC, 1, 2, 3, 4')
        .select<Cause[]>(
          'm.name as mapping',
          'd.code',
          'd.pointer',
          'd.rule',
          knex.raw('count(*)::float8 AS count, min(d.first_seen) AS first_seen, max(d.last_seen) AS last_seen'),
        );
      return causes.map(({ first_seen, last_seen, ...cause }) => ({
        ...cause,
        firstSeen: first_seen.toISOString(),
        lastSeen: last_seen.toISOString(),
      }));
    },
    async count(sync, filter) {
      const [row] = await filtered(deadLettersAndMappings(knex), filter)
        .where('m.sync', sync)
        .select<{ n: number }[]>(knex.raw('count(*)::float8 AS n'));
      return row!.n;
    },
    async page(sync, filter, after, limit) {
      const page = await filtered(rows(), filter)
        .where('m.sync', sync)
        .where('d.id', '>', after)
        .orderBy('d.id')
        .limit(limit);
      return page.map(storedDeadLetterOf);
    },
    async get(sync, id) {
      const [row] = await rows().where({ 'm.sync': sync, 'd.id': id });
      return row === undefined ? undefined : storedDeadLetterOf(row);
    },
    async countRows(mappingId, keys) {
      const { rows } = await knex.raw<{ rows: { n: number }[] }>(
        `SELECT count(*)::float8 AS n FROM dead_letters WHERE mapping_id = ?
           AND key_hash IN (SELECT ${keyHash('key')} FROM jsonb_array_elements(CAST(? AS jsonb)) AS r(key))`,
        [mappingId, JSON.stringify(keys)],
      );
      return rows[0]!.n;
    },
    async ofRecord(mappingId, externalId) {
      const found = await rows().where({ 'd.mapping_id': mappingId, 'd.external_id': externalId }).orderBy('d.id');
      return found.map(storedDeadLetterOf);
    },
  };
}

/** The tables that {@link filtered} refers to: dead letters as `d` and their mappings as `m`. */
const deadLettersAndMappings = (knex: Knex) => knex('dead_letters as d').join('mappings as m', 'm.id', 'd.mapping_id');

function filtered<T extends Knex.QueryBuilder>(
  query: T,
  { mappings, codes, fields, tenants, since }: DeadLetterFilter,
): T {
  if (mappings !== undefined) void query.whereIn('m.name', [...mappings]);
  if (codes !== undefined) void query.whereIn('d.code', [...codes]);
  if (fields !== undefined) void query.whereIn('d.pointer', [...fields]);
  if (tenants !== undefined)
    void query.whereRaw('d.tenant_id IN (SELECT id FROM tenants WHERE platform_id = ANY (CAST(? AS text[])))', [
      [...tenants],
    ]);
  if (since !== undefined) void query.where('d.last_seen', '>=', new Date(since).toISOString());
  return query;
}
