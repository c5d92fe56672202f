/** The SQL with which a partner's administrator makes a slot that one account may read, and removes it again. */
import { PartnerSyncError } from '../../../domain/errors.js';
import type { InstallationStatement, PlannedTable } from '../../../domain/source/feed-installation.js';
import { isSameTable } from '../../../domain/source/feed-table.js';
import { neededOf, type Step } from '../../changes/steps.js';
import { columnList, literal, quotedName, quotedTable } from './quoted-names.js';
import { FUNCTION_SCHEMA, functionNames } from './slot-functions.js';
import { NO_PARTS, type FunctionPart, type SlotParts } from './slot-parts.js';

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

/** The first versions that know lists of columns in a publication, and partitioned tables. */
const COLUMN_LISTS_SINCE = 15;
const PARTITIONED_SINCE = 13;
/** A slot may have these characters only; names of functions are made from it, which have 63 at most. */
const SLOT_NAME = /^[a-z0-9_]{1,54}$/;

/** Everything that a plan makes, by the names that SQL needs. */
function namesOf({ slot, publication, account }: Pick<SlotPlan, 'slot' | 'publication' | 'account'>) {
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

/**
 * The statements that install what is missing of a slot, in their order. Parts that differ are left as they are:
 * slot-differences.ts. Throws `config_invalid` for a name that a slot cannot have.
 */
export function slotInstallation(plan: SlotPlan, parts: SlotParts = NO_PARTS): InstallationStatement[] {
  const { owner, peek, advance, account } = namesOf(plan);
  const functions = `${peek}, ${advance}`;
  const names = functionNames(plan.slot);
  const [peekPart, advancePart] = [names.peek, names.advance].map((name) =>
    parts.functions.find((part) => part.name === name),
  );
  /** Of functions that are not there yet, or are not so. */
  const someIs = (wrong: (part: FunctionPart) => boolean): boolean =>
    [peekPart, advancePart].some((part) => part === undefined || wrong(part));
  const isOwned = (part: FunctionPart | undefined): boolean => part?.owner === `${plan.slot}_owner`;
  return neededOf([
    ...publicationSteps(plan, parts),
    {
      isNeeded: parts.role === null,
      sql: `CREATE ROLE ${owner} NOLOGIN REPLICATION`,
      why: 'may read slots; nobody can log in as this role',
    },
    {
      isNeeded: parts.schema === null,
      sql: `CREATE SCHEMA IF NOT EXISTS ${FUNCTION_SCHEMA}`,
      why: 'the functions below are called through it',
    },
    {
      isNeeded: peekPart === undefined,
      sql: functionSql(peek, PEEK_RESULT, peekBody(plan)),
      why: 'reads this slot, and no other',
    },
    {
      isNeeded: advancePart === undefined,
      sql: functionSql(advance, ADVANCE_RESULT, advanceBody(plan)),
      why: 'says which changes need not be kept any more',
    },
    {
      isNeeded: someIs(({ isPublic }) => isPublic),
      sql: `REVOKE ALL ON FUNCTION ${functions} FROM PUBLIC`,
      why: 'by default everybody may call a function',
    },
    { isNeeded: !isOwned(peekPart), sql: `ALTER FUNCTION ${peek} OWNER TO ${owner}`, why: OWNED },
    { isNeeded: !isOwned(advancePart), sql: `ALTER FUNCTION ${advance} OWNER TO ${owner}`, why: OWNED },
    {
      isNeeded: parts.schema?.isGranted !== true,
      sql: `GRANT USAGE ON SCHEMA ${FUNCTION_SCHEMA} TO ${account}`,
      why: 'lets the account find the functions',
    },
    {
      isNeeded: someIs(({ isGranted, isPublic }) => !isGranted || isPublic),
      sql: `GRANT EXECUTE ON FUNCTION ${functions} TO ${account}`,
      why: 'lets the account call them',
    },
    {
      isNeeded: parts.slot === null,
      sql: `SELECT pg_create_logical_replication_slot(${literal(plan.slot)}, 'pgoutput')`,
      why: 'from here on the server keeps its log for the slot; after the publication, which it would not find otherwise',
    },
  ]);
}

const OWNED = 'it runs with the rights of that role only';

/** The publication as a whole, or the tables that it lacks. */
function publicationSteps(plan: SlotPlan, { publication }: SlotParts): Step[] {
  const { version } = plan;
  const name = namesOf(plan).publication;
  const hasLists = version >= COLUMN_LISTS_SINCE;
  const withKey = ({ table, key }: PlannedTable): string =>
    `${quotedTable(table)}${hasLists ? ` (${columnList(key)})` : ''}`;
  const options = version >= PARTITIONED_SINCE ? ' WITH (publish_via_partition_root = true)' : '';
  const sent = hasLists
    ? 'the columns of which values are sent: the keys'
    : 'whole rows are sent, of which only the keys are used';
  if (publication === null)
    return [
      {
        isNeeded: true,
        sql: `CREATE PUBLICATION ${name} FOR TABLE ${plan.tables.map(withKey).join(', ')}${options}`,
        why: hasLists ? `names the tables, and ${sent}` : `names the tables; ${sent}`,
      },
    ];
  const known = [...publication.members, ...publication.reported.map(({ table }) => table)];
  return plan.tables.map((planned) => ({
    isNeeded: !known.some((table) => isSameTable(table, planned.table)),
    sql: `ALTER PUBLICATION ${name} ADD TABLE ${withKey(planned)}`,
    why: hasLists ? `names one more table, and ${sent}` : `names one more table; ${sent}`,
  }));
}

/** With a fixed search_path: names that are not qualified must not be found in a schema of somebody else. */
const functionSql = (name: string, returns: string, body: string): string =>
  `CREATE FUNCTION ${name.replace('(pg_lsn)', '(upto pg_lsn)')} RETURNS ${returns}\n` +
  `  LANGUAGE sql SECURITY DEFINER SET search_path = ${SEARCH_PATH}\n  AS ${literal(body)}`;

const SEARCH_PATH = 'pg_catalog, pg_temp';
const PEEK_RESULT = 'TABLE(lsn pg_lsn, data bytea)';
const ADVANCE_RESULT = 'pg_lsn';

/** Which of these functions are not what {@link slotInstallation} makes, each with the SQL that removes it. */
export function differingFunctions(
  plan: SlotPlan,
  { functions }: SlotParts,
): { readonly name: string; readonly removal: string }[] {
  const { peek, advance } = functionNames(plan.slot);
  const expected = [
    { name: peek, result: PEEK_RESULT, body: peekBody(plan), removal: namesOf(plan).peek },
    { name: advance, result: ADVANCE_RESULT, body: advanceBody(plan), removal: namesOf(plan).advance },
  ];
  return expected.flatMap(({ name, result, body, removal }) => {
    const part = functions.find((each) => each.name === name);
    const isAsExpected =
      part === undefined ||
      (part.body === body &&
        part.result === result &&
        part.language === 'sql' &&
        part.runsAsOwner &&
        part.settings?.length === 1 &&
        part.settings[0] === `search_path=${SEARCH_PATH}`);
    return isAsExpected ? [] : [{ name: `${FUNCTION_SCHEMA}.${name}`, removal: `DROP FUNCTION ${removal}` }];
  });
}

const peekBody = ({ slot, publication }: SlotPlan): string =>
  `SELECT lsn, data FROM pg_catalog.pg_logical_slot_peek_binary_changes(${literal(slot)}, upto, NULL, ` +
  `'proto_version', '1', 'publication_names', ${literal(quotedName(publication))})`;

const advanceBody = ({ slot }: SlotPlan): string =>
  `SELECT end_lsn FROM pg_catalog.pg_replication_slot_advance(${literal(slot)}, upto)`;

/**
 * The statements that remove what {@link slotInstallation} has made: what is there of it, or without `parts` whatever of it
 * may be there. A slot that somebody else has made for something else stays.
 */
export function slotRemoval(plan: Pick<SlotPlan, 'slot' | 'publication'>, parts?: SlotParts): InstallationStatement[] {
  const { owner, peek, advance, publication } = namesOf({ ...plan, account: '' });
  return neededOf([
    {
      isNeeded: parts === undefined || parts.slot?.isOfThisKind === true,
      sql:
        `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots\n` +
        `  WHERE slot_name = ${literal(plan.slot)} AND plugin = 'pgoutput' AND database = current_database()`,
      why: 'the server need not keep its log for the slot any more',
    },
    {
      isNeeded: parts === undefined || parts.functions.length > 0 || parts.schema?.isEmpty === true,
      sql: dropFunctions([peek, advance]),
      why: 'also drops the schema, unless functions for other slots are in it',
    },
    {
      isNeeded: parts === undefined || parts.publication !== null,
      sql: `DROP PUBLICATION IF EXISTS ${publication}`,
      why: 'nothing is published any more',
    },
    {
      isNeeded: parts === undefined || parts.role !== null,
      sql: `DROP ROLE IF EXISTS ${owner}`,
      why: 'it owned nothing but the functions',
    },
  ]);
}

/** DROP FUNCTION IF EXISTS would fail if there were no schema. */
const dropFunctions = (functions: readonly string[]): string =>
  `DO ${literal(`BEGIN
    IF to_regnamespace('${FUNCTION_SCHEMA}') IS NULL THEN RETURN; END IF;
    ${functions.map((name) => `DROP FUNCTION IF EXISTS ${name};`).join(' ')}
    ${DROP_EMPTY_SCHEMA}
  END`)}`;

/** For the body of a block: other feeds of the database may have their parts in the schema. */
export const DROP_EMPTY_SCHEMA = `
    IF NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = '${FUNCTION_SCHEMA}'::regnamespace)
      AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = '${FUNCTION_SCHEMA}'::regnamespace) THEN
      DROP SCHEMA ${FUNCTION_SCHEMA};
    END IF;`.trim();
