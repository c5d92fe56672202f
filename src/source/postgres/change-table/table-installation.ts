/** The SQL with which a partner's administrator makes a change table in PostgreSQL, and removes it again. */
import type { InstallationStatement, PlannedTable } from '../../../domain/source/feed-installation.js';
import { neededOf, type Step } from '../../changes/steps.js';
import { recordedSource } from '../../changes/recorded-source.js';
import type { TableConfig } from '../../changes/table-config.js';
import { literal, quotedName, quotedTable } from '../changes/quoted-names.js';
import { DROP_EMPTY_SCHEMA } from '../changes/slot-installation.js';
import { FUNCTION_SCHEMA } from '../changes/slot-functions.js';
import { functionName, tableNames, triggerKinds, triggerName, type TriggerKind } from './table-names.js';
import { triggerOf, type TableParts } from './table-parts.js';

/** A table, and whether its changes are to be recorded row by row. */
export interface RecordedTable extends PlannedTable {
  readonly byRow: boolean;
}

/** As the sessions that read pages, so that texts are the same. And with a fixed search_path: see slot-installation.ts. */
const SETTINGS: Readonly<Record<string, string>> = {
  search_path: 'pg_catalog, pg_temp',
  timezone: "'UTC'",
  datestyle: "'ISO, YMD'",
  intervalstyle: "'iso_8601'",
  bytea_output: "'hex'",
  extra_float_digits: "'1'",
};

const qualified = (name: string): string => `${FUNCTION_SCHEMA}.${quotedName(name)}`;

/** The statements that install what is missing, in their order. Parts that differ are left as they are. */
export function tableInstallation(
  config: TableConfig,
  tables: readonly RecordedTable[],
  parts: TableParts,
): InstallationStatement[] {
  const { changes, state } = tableNames(config);
  const account = quotedName(parts.account);
  return neededOf([
    {
      isNeeded: parts.schema === null,
      sql: `CREATE SCHEMA IF NOT EXISTS ${FUNCTION_SCHEMA}`,
      why: 'has all parts of change feeds',
    },
    {
      isNeeded: parts.changes === null && parts.state !== null,
      sql: `DROP TABLE ${state}`,
      why: 'was about a change table that is gone',
    },
    {
      isNeeded: parts.changes === null,
      sql:
        `CREATE TABLE ${changes} (xid bigint NOT NULL DEFAULT txid_current(), seq bigint GENERATED ALWAYS AS IDENTITY,\n` +
        `  source text NOT NULL, key text[], PRIMARY KEY (xid, seq))`,
      why: 'has the keys of changed rows, until they have been read',
    },
    {
      isNeeded: parts.changes === null || parts.state === null,
      sql:
        `CREATE TABLE ${state} (id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),\n` +
        `  origin text NOT NULL DEFAULT md5(random()::text || clock_timestamp()::text),\n` +
        `  pruned_xid bigint NOT NULL DEFAULT 0, pruned_seq bigint NOT NULL DEFAULT 0)`,
      why: 'says which change table this is, and up to where rows were deleted',
    },
    {
      isNeeded: parts.changes === null || parts.state === null,
      sql: `INSERT INTO ${state} DEFAULT VALUES`,
      why: 'its only row',
    },
    ...tables.flatMap((table) => tableSteps(config, table, parts)),
    {
      isNeeded: parts.schema?.isGranted !== true,
      sql: `GRANT USAGE ON SCHEMA ${FUNCTION_SCHEMA} TO ${account}`,
      why: 'lets the account find the change table',
    },
    {
      isNeeded: parts.changes?.canRead !== true || !parts.changes.canPrune,
      sql: `GRANT SELECT, DELETE ON ${changes} TO ${account}`,
      why: 'lets the account read it, and delete what it has read',
    },
    {
      isNeeded: parts.changes === null || parts.state?.canRead !== true || !parts.state.canWrite,
      sql: `GRANT SELECT, UPDATE ON ${state} TO ${account}`,
      why: 'lets the account say up to where it has deleted rows',
    },
  ]);
}

/** What one table needs. */
function tableSteps(config: TableConfig, recorded: RecordedTable, parts: TableParts): Step[] {
  const name = functionName(config, recorded.table);
  const known = parts.functions.find((part) => part.name === name);
  const missing = triggerKinds(recorded.byRow).filter(
    (kind) => triggerOf(config, parts, recorded.table, kind) === undefined,
  );
  const table = quotedTable(recorded.table);
  return [
    {
      isNeeded: known === undefined,
      sql: recordingFunction(config, recorded),
      why: `records the keys of changed rows of ${table.replaceAll('"', '')}`,
    },
    {
      isNeeded: known === undefined || known.isPublic,
      sql: `REVOKE ALL ON FUNCTION ${qualified(name)}() FROM PUBLIC`,
      why: 'by default everybody may make triggers with it',
    },
    ...missing.map((kind): Step => ({
      isNeeded: true,
      sql: `CREATE TRIGGER ${quotedName(triggerName(config, kind))} ${TRIGGERS[kind](table)} EXECUTE FUNCTION ${qualified(name)}()`,
      why: 'waits for transactions that write to the table',
    })),
    {
      isNeeded: missing.length > 0,
      sql: enableAlways(config, recorded, missing),
      why: 'by default replication, and imports that act like it, skip triggers',
    },
  ];
}

const TRIGGERS: Readonly<Record<TriggerKind, (table: string) => string>> = {
  insert: (table) => `AFTER INSERT ON ${table}\n  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT`,
  update: (table) =>
    `AFTER UPDATE ON ${table}\n  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT`,
  delete: (table) => `AFTER DELETE ON ${table}\n  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT`,
  truncate: (table) => `AFTER TRUNCATE ON ${table}\n  FOR EACH STATEMENT`,
  row: (table) => `AFTER INSERT OR UPDATE OR DELETE ON ${table}\n  FOR EACH ROW`,
};

/** The statement that lets triggers of a table fire in every session. */
export const enableAlways = (config: TableConfig, { table }: PlannedTable, kinds: readonly TriggerKind[]): string =>
  `ALTER TABLE ${quotedTable(table)} ${kinds.map((kind) => `ENABLE ALWAYS TRIGGER ${quotedName(triggerName(config, kind))}`).join(', ')}`;

/** The statement that makes the function, or makes it as it has to be. */
export const recordingFunction = (config: TableConfig, recorded: RecordedTable): string =>
  `CREATE OR REPLACE FUNCTION ${qualified(functionName(config, recorded.table))}() RETURNS trigger\n` +
  `  LANGUAGE plpgsql SECURITY DEFINER ${Object.entries(SETTINGS)
    .map(([name, value]) => `SET ${name} = ${value}`)
    .join(' ')}\n` +
  `  AS ${literal(recordingBody(config, recorded))}`;

/** Whether a function is the one that would be installed. */
export const isAsInstalled = (
  config: TableConfig,
  recorded: RecordedTable,
  { body, runsAsOwner, settings }: TableParts['functions'][number],
): boolean =>
  body === recordingBody(config, recorded) &&
  runsAsOwner &&
  (settings ?? [])
    .map((setting) => setting.split('=')[0]!.toLowerCase())
    .toSorted()
    .join() === Object.keys(SETTINGS).toSorted().join();

/**
 * concat() writes values as a query does, which a cast to text does not for each type. UNION could not compare columns of two
 * collations, and would take two keys for one if a collation ignores case.
 */
function recordingBody(config: TableConfig, { table, key, byRow }: RecordedTable): string {
  const into = `INSERT INTO ${tableNames(config).changes} (source, key)`;
  const source = literal(recordedSource({ table, key }));
  const select = (row: string, from: string): string => {
    const columns = key.map((column) => `${row}.${quotedName(column)}`);
    return `SELECT ${source}, ARRAY[${columns.map((column) => `concat(${column}) COLLATE "C"`).join(', ')}]${from} WHERE num_nulls(${columns.join(', ')}) = 0`;
  };
  const [old, fresh] = byRow
    ? [select('OLD', ''), select('NEW', '')]
    : [select('r', ' FROM old_rows r'), select('r', ' FROM new_rows r')];
  return `
BEGIN
  IF TG_OP = 'INSERT' THEN
    ${into} ${fresh};
  ELSIF TG_OP = 'UPDATE' THEN
    ${into} ${old} UNION ${fresh};
  ELSIF TG_OP = 'DELETE' THEN
    ${into} ${old};
  ELSE
    ${into} VALUES (${source}, NULL);
  END IF;
  RETURN NULL;
END`;
}

/** The statements that remove what is there of a change table. */
export function tableRemoval(config: TableConfig, parts: TableParts): InstallationStatement[] {
  const { changes, state } = tableNames(config);
  return neededOf([
    ...parts.functions.map(({ name }): Step => ({
      isNeeded: true,
      sql: `DROP FUNCTION ${qualified(name)}() CASCADE`,
      why: triggersOf(name, parts),
    })),
    { isNeeded: parts.changes !== null, sql: `DROP TABLE ${changes}`, why: 'nothing writes to it any more' },
    { isNeeded: parts.state !== null, sql: `DROP TABLE ${state}`, why: 'was about the change table' },
    {
      isNeeded:
        parts.functions.length > 0 || parts.changes !== null || parts.state !== null || parts.schema?.isEmpty === true,
      sql: `DO ${literal(`BEGIN\n    ${DROP_EMPTY_SCHEMA}\n  END`)}`,
      why: 'drops the schema, unless parts of other feeds are in it',
    },
  ]);
}

function triggersOf(name: string, { triggers }: TableParts): string {
  const tables = new Set(
    triggers.filter((part) => part.function === name).map(({ schema, name: of }) => `${schema}.${of}`),
  );
  return tables.size === 0 ? 'no trigger calls it' : `and with it the triggers of ${[...tables].join(', ')}`;
}
