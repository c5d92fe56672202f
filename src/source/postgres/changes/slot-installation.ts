/** The SQL with which a partner's administrator makes a slot that one account may read, and removes it again. */
import { PartnerSyncError } from '../../../domain/errors.js';
import type { FeedTable } from '../../../domain/source/change-feed.js';
import { FUNCTION_SCHEMA, functionNames } from './slot-functions.js';

/** A table that a slot is to report, and the columns that identify its rows. */
export interface PlannedTable {
  readonly table: FeedTable;
  readonly key: readonly string[];
}

/** What is to be installed. */
export interface SlotPlan {
  /** The major version of the server. */
  readonly version: number;
  readonly slot: string;
  readonly publication: string;
  /** Who reads the slot. */
  readonly account: string;
  readonly tables: readonly PlannedTable[];
}

/** One statement, to be run by itself: a slot cannot be created in a transaction that has written something. */
export interface InstallationStatement {
  readonly sql: string;
  /** One line about what it is for. */
  readonly why: string;
}

/** The first versions that know lists of columns in a publication, and partitioned tables. */
const COLUMN_LISTS_SINCE = 15;
const PARTITIONED_SINCE = 13;
/** A slot may have these characters only; names of functions are made from it, which have 63 at most. */
const SLOT_NAME = /^[a-z0-9_]{1,54}$/;

/** Quotes a name for SQL. */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Quotes the name of a table with its schema. */
export const quotedTable = ({ schema, name }: FeedTable): string =>
  schema === null ? quotedName(name) : `${quotedName(schema)}.${quotedName(name)}`;
const columnList = (columns: readonly string[]): string => columns.map(quotedName).join(', ');

/** Everything that a plan makes, by the names that SQL needs. */
function namesOf({ slot, publication, account }: SlotPlan) {
  if (!SLOT_NAME.test(slot))
    throw new PartnerSyncError(
      'config_invalid',
      `the name of a slot has up to 54 of a to z, 0 to 9 and _; this is none: ${slot}`,
    );
  const { peek, advance } = functionNames(slot);
  const of = (name: string): string => `${FUNCTION_SCHEMA}.${quotedName(name)}(pg_lsn)`;
  return {
    publication: quotedName(publication),
    account: quotedName(account),
    owner: quotedName(`${slot}_owner`),
    peek: of(peek),
    advance: of(advance),
  };
}

/** The statements that install a slot, in their order. Throws `config_invalid` for a name that a slot cannot have. */
export function slotInstallation(plan: SlotPlan): InstallationStatement[] {
  const { owner, peek, advance, account } = namesOf(plan);
  const functions = `${peek}, ${advance}`;
  return [
    publicationStatement(plan),
    { sql: `CREATE ROLE ${owner} NOLOGIN REPLICATION`, why: 'may read slots; nobody can log in as this role' },
    { sql: `CREATE SCHEMA IF NOT EXISTS ${FUNCTION_SCHEMA}`, why: 'the functions below are called through it' },
    functionStatement(peek, 'TABLE (lsn pg_lsn, data bytea)', peekBody(plan), 'reads this slot, and no other'),
    functionStatement(advance, 'pg_lsn', advanceBody(plan), 'says which changes need not be kept any more'),
    { sql: `REVOKE ALL ON FUNCTION ${functions} FROM PUBLIC`, why: 'by default everybody may call a function' },
    { sql: `ALTER FUNCTION ${peek} OWNER TO ${owner}`, why: 'it runs with the rights of that role only' },
    { sql: `ALTER FUNCTION ${advance} OWNER TO ${owner}`, why: 'it runs with the rights of that role only' },
    { sql: `GRANT USAGE ON SCHEMA ${FUNCTION_SCHEMA} TO ${account}`, why: 'lets the account find the functions' },
    { sql: `GRANT EXECUTE ON FUNCTION ${functions} TO ${account}`, why: 'lets the account call them' },
    {
      sql: `SELECT pg_create_logical_replication_slot(${literal(plan.slot)}, 'pgoutput')`,
      why: 'from here on the server keeps its log for the slot; after the publication, which it would not find otherwise',
    },
  ];
}

function publicationStatement(plan: SlotPlan): InstallationStatement {
  const hasLists = plan.version >= COLUMN_LISTS_SINCE;
  const tables = plan.tables.map(({ table, key }) => `${quotedTable(table)}${hasLists ? ` (${columnList(key)})` : ''}`);
  const options = plan.version >= PARTITIONED_SINCE ? ' WITH (publish_via_partition_root = true)' : '';
  return {
    sql: `CREATE PUBLICATION ${namesOf(plan).publication} FOR TABLE ${tables.join(', ')}${options}`,
    why: hasLists
      ? 'names the tables, and the columns of which values are sent: the keys'
      : 'names the tables; whole rows are sent, of which only the keys are used',
  };
}

/** With a fixed search_path: names that are not qualified must not be found in a schema of somebody else. */
const functionStatement = (name: string, returns: string, body: string, why: string): InstallationStatement => ({
  sql:
    `CREATE FUNCTION ${name.replace('(pg_lsn)', '(upto pg_lsn)')} RETURNS ${returns}\n` +
    `  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp\n  AS ${literal(body)}`,
  why,
});

const peekBody = ({ slot, publication }: SlotPlan): string =>
  `SELECT lsn, data FROM pg_catalog.pg_logical_slot_peek_binary_changes(${literal(slot)}, upto, NULL, ` +
  `'proto_version', '1', 'publication_names', ${literal(quotedName(publication))})`;

const advanceBody = ({ slot }: SlotPlan): string =>
  `SELECT end_lsn FROM pg_catalog.pg_replication_slot_advance(${literal(slot)}, upto)`;

/** The statements that remove what {@link slotInstallation} has made, whether all of it is there or not. */
export function slotRemoval(plan: SlotPlan): InstallationStatement[] {
  const { owner, peek, advance, publication } = namesOf(plan);
  return [
    {
      sql: `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ${literal(plan.slot)}`,
      why: 'the server need not keep its log for the slot any more',
    },
    { sql: dropFunctions([peek, advance]), why: 'also drops the schema, unless functions for other slots are in it' },
    { sql: `DROP PUBLICATION IF EXISTS ${publication}`, why: 'nothing is published any more' },
    { sql: `DROP ROLE IF EXISTS ${owner}`, why: 'it owned nothing but the functions' },
  ];
}

/** DROP FUNCTION IF EXISTS would fail if there were no schema. */
const dropFunctions = (functions: readonly string[]): string =>
  `DO ${literal(`BEGIN
    IF to_regnamespace('${FUNCTION_SCHEMA}') IS NULL THEN RETURN; END IF;
    ${functions.map((name) => `DROP FUNCTION IF EXISTS ${name};`).join(' ')}
    IF NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = '${FUNCTION_SCHEMA}'::regnamespace) THEN
      DROP SCHEMA ${FUNCTION_SCHEMA};
    END IF;
  END`)}`;
