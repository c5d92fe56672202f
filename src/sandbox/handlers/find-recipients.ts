/** Counts and lists the people of a tenant that segments include and do not exclude (4.7). */
import type { JsonObject } from '../../domain/values/json.js';
import type pg from 'pg';
import { inTransaction } from '../database.js';
import type { StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import type { ConditionGroup } from '../segments/condition.js';
import { groupsSql } from '../segments/condition-sql.js';
import { SqlParameters } from '../segments/operator-values.js';
import { wordsOf } from '../segments/vocabulary.js';

/** The body of 4.7, with the conditions of segments in place of their ids. */
export interface RecipientQuery {
  readonly tenantId: string;
  /** Conditions of each segment. The settings say how segments combine. */
  readonly include: readonly (readonly ConditionGroup[])[];
  readonly exclude: readonly (readonly ConditionGroup[])[];
  readonly search: string | undefined;
  readonly filter: 'all' | 'email' | 'phone';
  readonly limit: number;
  /** The last person of the previous page; null for the first page. */
  readonly after: Position | null;
  readonly now: Date;
}

/** The settings that decide who counts as a person and how segments combine. */
type Rules = Pick<SandboxSettings, 'contactCategories' | 'contactFields' | 'counting'>;

/** Schema id and external id of a person: a sort order that later changes of the person do not affect. */
export type Position = readonly [schemaId: string, externalId: string];

/** A person with the fields of a recipient (section 2). */
export type RecipientRow = Readonly<
  Record<'id' | 'schema_id' | 'external_id', string> &
    Record<'first_name' | 'last_name' | 'email' | 'phone', string | null> &
    Record<'email_opted_out' | 'sms_opted_out', boolean>
>;

/**
 * Hash joins, with enough memory for them. Recently filled tables have no statistics, so the planner takes them to be
 * small: its nested loops over orders and their lines would take hours.
 */
const PLANNING = `set local enable_nestloop = off; set local jit = off; set local work_mem = '64MB'`;

/** One page of the people, and one more where another page follows, with the count of all. */
export async function findRecipients(
  pool: pg.Pool,
  query: RecipientQuery,
  schemas: readonly StoredSchema[],
  { contactCategories, contactFields, counting }: Rules,
): Promise<{ count: number; rows: RecipientRow[] }> {
  const people = schemas.filter(({ definition }) => contactCategories.some((known) => known === definition.category));
  if (people.length === 0) return { count: 0, rows: [] };
  const parameters = new SqlParameters(query.now);
  const schemaIds = new Map(schemas.map(({ name, id }) => [name, id]));
  const scope = { tenantId: query.tenantId, schemaIds, parameters };
  const joined = (segments: RecipientQuery['include'], how: 'any' | 'all') =>
    `(${segments.map((groups) => groupsSql(groups, scope)).join(how === 'any' ? ' or ' : ' and ')})`;
  const chosen = [
    query.include.length === 0 ? counting.withoutSegments === 'everybody' : joined(query.include, counting.included),
    ...(query.exclude.length === 0 ? [] : [`not ${joined(query.exclude, counting.excluded)}`]),
  ];
  const listed = [
    ...(query.filter === 'all' ? [] : [`coalesce(${query.filter}, '') <> ''`]),
    ...(counting.optedOut === 'listed' ? [] : ['not (email_opted_out and sms_opted_out)']),
    ...(query.search === undefined || query.search.trim() === '' ? [] : [searchSql(query.search.trim(), parameters)]),
  ];
  const after =
    query.after === null
      ? 'true'
      : `(schema_id, external_id) > (${parameters.add(query.after[0], 'uuid')}, ${parameters.add(query.after[1], 'text')})`;
  const sql = `with person as (
       select contact.id, contact.schema_id, contact.external_id,
              data ->> f.first_name as first_name, data ->> f.last_name as last_name,
              data ->> f.email as email, data ->> f.phone as phone,
              ${optedOut('email')} as email_opted_out, ${optedOut('sms')} as sms_opted_out
         from sandbox.resources contact
         join ${fieldTable(people, contactFields, parameters)} on f.schema_id = contact.schema_id
        where ${[`contact.tenant_id = ${parameters.add(query.tenantId, 'text')}`, ...chosen].join(' and ')}
     ), recipient as materialized (select * from person where ${['true', ...listed].join(' and ')})
     select total.count, page.*
       from (select count(*)::integer as count from recipient) total
       left join lateral (select * from recipient where ${after}
                           order by schema_id, external_id limit ${parameters.add(query.limit + 1, 'integer')}) page on true
      order by page.schema_id, page.external_id`;
  const { rows } = await inTransaction(pool, async (db) => {
    await db.query(PLANNING);
    return db.query<RecipientRow & { count: number; id: string | null }>(sql, parameters.values);
  });
  return { count: rows[0]!.count, rows: rows.filter(({ id }) => id !== null) };
}

/** SQL for whether a person refused a channel, or has not consented. Who was never asked is not opted out. */
const optedOut = (channel: 'email' | 'sms'): string =>
  `(coalesce(data ->> f.${channel}_opt_out = 'true', false) or coalesce(data ->> f.${channel}_opt_in = 'false', false))`;

/** The property that holds each recipient field, per schema definition: the first that has a known name. */
function fieldTable(people: readonly StoredSchema[], known: Rules['contactFields'], parameters: SqlParameters): string {
  const columns = Object.keys(known).map((field) => wordsOf(field).replaceAll(' ', '_'));
  const key = (name: string) => wordsOf(name).replaceAll(' ', '');
  const rows = people.map(({ id, definition }) => {
    const schema = definition.schema as JsonObject;
    const properties = new Map(Object.keys(schema['properties'] ?? {}).map((name) => [key(name), name]));
    const found = Object.values(known).map(
      (names) => names.map((name) => properties.get(key(name))).find((name) => name !== undefined) ?? null,
    );
    return `(${[parameters.add(id, 'uuid'), ...found.map((name) => parameters.add(name, 'text'))].join(', ')})`;
  });
  return `(values ${rows.join(', ')}) f (schema_id, ${columns.join(', ')})`;
}

/** A substring match on name, email address or phone number, which also matches without spaces and punctuation. */
function searchSql(search: string, parameters: SqlParameters): string {
  const text = parameters.add(search, 'text');
  const digits = search.replaceAll(/[\s()./-]/g, '');
  const phone = /^\+?\d{3,}$/.test(digits)
    ? ` or position(${parameters.add(digits, 'text')} in regexp_replace(phone, '[^0-9+]', '', 'g')) > 0`
    : '';
  return `(position(lower(${text}) in lower(concat_ws(' ', first_name, last_name))) > 0
    or position(lower(${text}) in lower(email)) > 0 or position(${text} in phone) > 0${phone})`;
}
