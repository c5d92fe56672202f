/** Dead letters to look at, to read again and to drop; checkpoint() writes them (dead-letters.ts). */
import type { Knex } from 'knex';
import type { DeadLetterCause, DeadLetterFilter, StoredLetter } from '../domain/dead-letter.js';
import type { ParentName } from '../domain/parent.js';
import type { SourceKey } from '../domain/source.js';

export interface LetterKey {
  readonly id: string;
  readonly sourceKey: SourceKey;
}

/** A letter of a record whose parents were not all delivered when it was written. */
export interface LetterOfChild extends LetterKey {
  readonly tenantId: number;
  readonly missing: readonly ParentName[];
}

/** A page of letters: those behind `after`, up to `through`, in the order of ids. */
export interface LetterBounds {
  readonly after: string;
  readonly through: string;
  readonly limit: number;
}

export interface DeadLetters {
  /** Most frequent first. */
  causes(sync: string, filter: DeadLetterFilter): Promise<readonly DeadLetterCause[]>;
  count(sync: string, filter: DeadLetterFilter): Promise<number>;
  /** A page in the order of ids, behind the letter `after`. */
  page(sync: string, filter: DeadLetterFilter, after: string, limit: number): Promise<readonly StoredLetter[]>;
  get(sync: string, id: string): Promise<StoredLetter | undefined>;
  /** The letters of a record, in whichever tenant. */
  ofRecord(mappingId: number, externalId: string): Promise<readonly StoredLetter[]>;
  /** Keys of a page of letters behind `after`; `through` bounds it. */
  keys(mappingId: number, filter: DeadLetterFilter, bounds: LetterBounds): Promise<readonly LetterKey[]>;
  /** Whether there are letters of children that lacked a parent. */
  anyOfChildren(mappingId: number): Promise<boolean>;
  /** The letters of children that lacked a parent, a page of them; not those whose record waits meanwhile. */
  ofChildren(mappingId: number, bounds: LetterBounds): Promise<readonly LetterOfChild[]>;
  /** `tenant id/external id` of those of the records that have a letter, or one that lacked a parent. */
  among(
    mappingId: number,
    keys: readonly { readonly tenantId: number; readonly externalId: string }[],
    which?: { readonly ofChildren: boolean },
  ): Promise<ReadonlySet<string>>;
  /** Those of the external ids that several rows had; null where the mapping has no such letter at all. */
  clashing(mappingId: number, externalIds: readonly string[]): Promise<ReadonlySet<string> | null>;
  /** The id of a mapping's newest letter; 0 where there is none. */
  newest(mappingId: number): Promise<string>;
  /** Deletes letters whose rows are gone, unless a reading that was not over by `before` wrote them anew. */
  close(mappingId: number, ids: readonly string[], before: string): Promise<number>;
  /** Deletes letters unread. Answers how many. */
  drop(sync: string, filter: DeadLetterFilter): Promise<number>;
}

interface Row {
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

const viewOf = (row: Row): StoredLetter => ({
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

export function openDeadLetters(knex: Knex): DeadLetters {
  const letters = () => knex('dead_letters as d').join('mappings as m', 'm.id', 'd.mapping_id');
  const views = () =>
    letters()
      .leftJoin('tenants as t', 't.id', 'd.tenant_id')
      .select<Row[]>('d.*', 'm.name as mapping', 't.platform_id as tenant');
  return {
    async causes(sync, filter) {
      type Cause = Omit<DeadLetterCause, 'firstSeen' | 'lastSeen'> & { first_seen: Date; last_seen: Date };
      const rows = await narrowed(letters(), filter)
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
      return rows.map(({ first_seen, last_seen, ...cause }) => ({
        ...cause,
        firstSeen: first_seen.toISOString(),
        lastSeen: last_seen.toISOString(),
      }));
    },
    async count(sync, filter) {
      const [row] = await narrowed(letters(), filter)
        .where('m.sync', sync)
        .select<{ n: number }[]>(knex.raw('count(*)::float8 AS n'));
      return row!.n;
    },
    async page(sync, filter, after, limit) {
      const rows = await narrowed(views(), filter)
        .where('m.sync', sync)
        .where('d.id', '>', after)
        .orderBy('d.id')
        .limit(limit);
      return rows.map(viewOf);
    },
    async get(sync, id) {
      const [row] = await views().where({ 'm.sync': sync, 'd.id': id });
      return row === undefined ? undefined : viewOf(row);
    },
    async ofRecord(mappingId, externalId) {
      const rows = await views().where({ 'd.mapping_id': mappingId, 'd.external_id': externalId }).orderBy('d.id');
      return rows.map(viewOf);
    },
    async keys(mappingId, filter, { after, through, limit }) {
      const rows = await narrowed(letters(), filter)
        .where('d.mapping_id', mappingId)
        .where('d.id', '>', after)
        .where('d.id', '<=', through)
        .orderBy('d.id')
        .limit(limit)
        .select<{ id: string; source_key: string[] }[]>('d.id', 'd.source_key');
      return rows.map((row) => ({ id: row.id, sourceKey: row.source_key }));
    },
    anyOfChildren: async (mappingId) =>
      (await knex('dead_letters').where({ mapping_id: mappingId }).whereNotNull('missing').first('id')) !== undefined,
    async ofChildren(mappingId, { after, through, limit }) {
      const rows = await knex('dead_letters')
        .where({ mapping_id: mappingId })
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
        ...{ id: row.id, sourceKey: row.source_key, tenantId: row.tenant_id, missing: row.missing },
      }));
    },
    async among(mappingId, keys, { ofChildren } = { ofChildren: false }) {
      const { rows } = await knex.raw<{ rows: { tenant_id: number; external_id: string }[] }>(
        `SELECT DISTINCT d.tenant_id, d.external_id FROM unnest(?::int[], ?::text[]) AS i(tenant_id, external_id)
         JOIN dead_letters d ON d.mapping_id = ? AND d.tenant_id = i.tenant_id AND d.external_id = i.external_id
         ${ofChildren ? 'WHERE d.missing IS NOT NULL' : ''}`,
        [keys.map((k) => k.tenantId), keys.map((k) => k.externalId), mappingId],
      );
      return new Set(rows.map((row) => `${row.tenant_id}/${row.external_id}`));
    },
    async clashing(mappingId, externalIds) {
      const clashes = () => knex('dead_letters').where({ mapping_id: mappingId, code: 'duplicate_external_id' });
      if ((await clashes().first('id')) === undefined) return null;
      const rows = await clashes()
        .whereRaw('external_id = ANY (CAST(? AS text[]))', [externalIds as string[]])
        .distinct<{ external_id: string }[]>('external_id');
      return new Set(rows.map((row) => row.external_id));
    },
    async newest(mappingId) {
      const row = await knex('dead_letters')
        .where({ mapping_id: mappingId })
        .max<{ max: string | null }[]>('id')
        .first();
      return row?.max ?? '0';
    },
    close: (mappingId, ids, before) =>
      knex('dead_letters')
        .where({ mapping_id: mappingId })
        .whereIn('id', [...ids])
        .where('read_stamp', '<', before)
        .delete(),
    drop: (sync, filter) =>
      knex('dead_letters').whereIn('id', narrowed(letters(), filter).where('m.sync', sync).select('d.id')).delete(),
  };
}

function narrowed<T extends Knex.QueryBuilder>(query: T, { mappings, codes, fields, since }: DeadLetterFilter): T {
  if (mappings !== undefined) void query.whereIn('m.name', [...mappings]);
  if (codes !== undefined) void query.whereIn('d.code', [...codes]);
  if (fields !== undefined) void query.whereIn('d.pointer', [...fields]);
  if (since !== undefined) void query.where('d.last_seen', '>=', new Date(since).toISOString());
  return query;
}
