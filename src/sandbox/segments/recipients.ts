/** 4.7: the people of a tenant that segments include and do not exclude, counted and listed page by page. */
import type { JsonObject } from '../../domain/json.js';
import type pg from 'pg';
import { inTransaction } from '../database.js';
import type { StoredSchema } from '../schema-store.js';
import type { SandboxSettings } from '../settings.js';
import type { ConditionGroup } from './condition.js';
import { groupsSql, type Scope } from './condition-sql.js';
import { contactFieldsOf, type ContactField, type ContactNames } from './contact-fields.js';
import { SqlParameters } from './sql-parameters.js';

export interface RecipientQuery {
  readonly tenantId: string;
  /** Conditions of each segment; of the first list any may hold, of the second none. An empty first list is everybody. */
  readonly include: readonly (readonly ConditionGroup[])[];
  readonly exclude: readonly (readonly ConditionGroup[])[];
  readonly search: string | undefined;
  readonly filter: 'all' | 'email' | 'phone';
  readonly limit: number;
  /** Where the page before ended. */
  readonly after: Position | null;
  readonly now: Date;
}

type Rules = Pick<SandboxSettings, 'contactCategories' | 'contactFields' | 'counting'>;

/** Schema id and external id of a person: the order of the list, which no later change of the person moves. */
export type Position = readonly [schemaId: string, externalId: string];

export interface RecipientRow {
  readonly id: string;
  readonly schema_id: string;
  readonly external_id: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly email_opted_out: boolean;
  readonly sms_opted_out: boolean;
}

export interface Recipients {
  /** Of all pages. */
  readonly count: number;
  /** One more than the limit where there is a next page. */
  readonly rows: readonly RecipientRow[];
}

/**
 * Tables that were just filled have no statistics yet, and the planner takes them for small: joined row by row, orders
 * and their lines would take hours. What is joined by references is hashed instead, in memory that it fits in.
 */
const PLANNING = `set local enable_nestloop = off; set local jit = off; set local work_mem = '64MB'`;

export async function findRecipients(
  pool: pg.Pool,
  query: RecipientQuery,
  schemas: readonly StoredSchema[],
  { contactCategories, contactFields, counting }: Rules,
): Promise<Recipients> {
  const people = schemas.filter(({ definition }) => contactCategories.some((known) => known === definition.category));
  if (people.length === 0) return { count: 0, rows: [] };
  const parameters = new SqlParameters();
  const scope: Scope = {
    tenantId: query.tenantId,
    schemaIds: new Map(schemas.map(({ name, id }) => [name, id])),
    now: query.now,
    parameters,
  };
  const joined = (segments: RecipientQuery['include'], how: 'any' | 'all') =>
    `(${segments.map((groups) => groupsSql(groups, scope)).join(how === 'any' ? ' or ' : ' and ')})`;
  const everybody = counting.withoutSegments === 'everybody' ? 'true' : 'false';
  const chosen = [
    query.include.length === 0 ? everybody : joined(query.include, counting.included),
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

/** Refused, or not agreed where agreement is asked for. Never asked is not opted out. */
const optedOut = (channel: 'email' | 'sms'): string =>
  `(coalesce(data ->> f.${channel}_opt_out = 'true', false) or coalesce(data ->> f.${channel}_opt_in = 'false', false))`;

const COLUMNS: Readonly<Record<ContactField, string>> = {
  firstName: 'first_name',
  lastName: 'last_name',
  email: 'email',
  phone: 'phone',
  emailOptOut: 'email_opt_out',
  smsOptOut: 'sms_opt_out',
  emailOptIn: 'email_opt_in',
  smsOptIn: 'sms_opt_in',
};

/** Which field of which schema holds what, as a table: schemas of people may name them differently. */
function fieldTable(people: readonly StoredSchema[], known: ContactNames, parameters: SqlParameters): string {
  const names = Object.keys(COLUMNS) as ContactField[];
  const rows = people.map(({ id, definition }) => {
    const fields = contactFieldsOf(definition.schema as JsonObject, known);
    return `(${[parameters.add(id, 'uuid'), ...names.map((name) => parameters.add(fields[name], 'text'))].join(', ')})`;
  });
  return `(values ${rows.join(', ')}) f (schema_id, ${names.map((name) => COLUMNS[name]).join(', ')})`;
}

/** Part of the name, the email address or the telephone number; of the last one with or without its blanks and signs. */
function searchSql(search: string, parameters: SqlParameters): string {
  const text = parameters.add(search, 'text');
  const digits = search.replaceAll(/[\s()./-]/g, '');
  const phone = /^\+?\d{3,}$/.test(digits)
    ? ` or position(${parameters.add(digits, 'text')} in regexp_replace(phone, '[^0-9+]', '', 'g')) > 0`
    : '';
  return `(position(lower(${text}) in lower(concat_ws(' ', first_name, last_name))) > 0
    or position(lower(${text}) in lower(email)) > 0 or position(${text} in phone) > 0${phone})`;
}
