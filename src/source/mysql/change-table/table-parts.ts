/** Which parts of a change table are there in MySQL or MariaDB, and what the account may do with them. */
import type { FeedTable, ReportedTable } from '../../../domain/source/change-feed.js';
import { tableMark } from '../../changes/recorded-source.js';
import type { TableConfig } from '../../changes/table-config.js';
import type { Session } from '../../dialect.js';
import { textLiteral } from '../literals.js';
import { isReadOnly } from '../read-only.js';
import { quoted, quotedTable } from './recorded-keys.js';

/** The names of the parts, ready for SQL. */
export const partNames = (
  { table }: TableConfig,
  schema: string,
): { readonly changes: string; readonly state: string; readonly catalogue: string } => ({
  changes: quotedTable(schema, table),
  state: quotedTable(schema, `${table}_state`),
  catalogue: quotedTable(schema, `${table}_catalogue`),
});

/** The kinds of changes that triggers record. */
export const TRIGGER_KINDS = ['insert', 'update', 'delete'] as const;
export type TriggerKind = (typeof TRIGGER_KINDS)[number];

/** The name of a trigger; its table's name may be too long to be a part of it. */
export const triggerName = ({ table }: TableConfig, of: FeedTable, kind: TriggerKind): string =>
  `${table}_${tableMark(of)}_${kind.slice(0, 1)}`;

/** A trigger of a change table. */
export interface TriggerPart {
  readonly table: string;
  readonly name: string;
  readonly body: string;
  /** When it was made. */
  readonly created: string;
}

/** Everything. */
export interface TableParts {
  /** Which database of which server; only to be compared. */
  readonly database: string;
  readonly schema: string;
  readonly account: string;
  /** Whether it takes no writes, as a replica does. */
  readonly standby: boolean;
  /** Whether other servers take writes, too. */
  readonly hasOtherWriters: boolean;
  readonly hasChanges: boolean;
  readonly hasState: boolean;
  readonly hasFunction: boolean;
  readonly bytes: number | null;
  readonly triggers: readonly TriggerPart[];
  /** Tables that foreign keys change or delete rows of. */
  readonly cascades: readonly { readonly table: string; readonly parent: string }[];
}

/** Which database of which server. */
export const DATABASE_SQL = `CONCAT_WS('/', @@hostname, @@port, @@datadir, DATABASE())`;

const VARIABLES_SQL = `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'auto_increment_increment', 'wsrep_on')`;

/**
 * An expression that gives the triggers, and tables with the parents whose changes change them, as JSON. An account sees only
 * what it might make itself: that of the sync calls a function instead, which sees what its maker does.
 */
export const catalogueJson = ({ table }: TableConfig): string =>
  `CONCAT('[',\n` +
  `  COALESCE((SELECT JSON_ARRAYAGG(JSON_ARRAY(event_object_table, trigger_name, action_statement, CAST(created AS CHAR))) FROM information_schema.triggers\n` +
  `    WHERE trigger_schema = DATABASE() AND trigger_name RLIKE '^${table}_[0-9a-f]{8}_[iud]$'), '[]'), ',',\n` +
  `  COALESCE((SELECT JSON_ARRAYAGG(JSON_ARRAY(table_name, referenced_table_name)) FROM information_schema.referential_constraints\n` +
  `    WHERE constraint_schema = DATABASE() AND NOT (delete_rule IN ('RESTRICT', 'NO ACTION') AND update_rule IN ('RESTRICT', 'NO ACTION'))), '[]'),\n` +
  `  ']')`;

/** Asks the server. Throws what the driver does. */
export async function readTableParts(run: Session['run'], config: TableConfig): Promise<TableParts> {
  const { table } = config;
  const ask = async (sql: string) => (await run({ sql, bindings: [] })).rows;
  const [[database, schema, account]] = (await ask(`SELECT ${DATABASE_SQL}, DATABASE(), CURRENT_USER()`)) as [
    [string, string, string],
  ];
  const variables = new Map((await ask(VARIABLES_SQL)).map(([name, value]) => [name!.toLowerCase(), value!]));
  const names = [table, `${table}_state`].map(textLiteral).join(', ');
  const tables = await ask(
    `SELECT table_name, data_length + index_length FROM information_schema.tables
     WHERE table_schema = DATABASE() AND table_name IN (${names})`,
  );
  const routines = await ask(
    `SELECT 1 FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name = ${textLiteral(`${table}_catalogue`)}`,
  );
  const hasFunction = routines.length > 0;
  const [[json]] = (await ask(
    `SELECT ${hasFunction ? `${partNames(config, schema).catalogue}()` : catalogueJson(config)}`,
  )) as [[string]];
  const [triggers, cascades] = JSON.parse(json) as [[string, string, string, string][], [string, string][]];
  const ofTable = (name: string) => tables.find(([found]) => found === name);
  return {
    database,
    schema,
    account,
    standby: isReadOnly(variables.get('read_only')!),
    hasOtherWriters: variables.get('auto_increment_increment') !== '1' || variables.get('wsrep_on') === 'ON',
    hasChanges: ofTable(table) !== undefined,
    hasState: ofTable(`${table}_state`) !== undefined,
    hasFunction,
    bytes: ofTable(table) === undefined ? null : Number(ofTable(table)![1]),
    triggers: triggers.map(([of, name, body, created]) => ({ table: of, name, body, created })),
    cascades: cascades.map(([of, parent]) => ({ table: of, parent })),
  };
}

/** The tables of which every change is recorded. */
export const recordedTables = (config: TableConfig, { schema, triggers }: TableParts): ReportedTable[] =>
  [...new Set(triggers.map(({ table }) => table))].flatMap((name) => {
    const table: FeedTable = { schema, name };
    const ofTable = TRIGGER_KINDS.map((kind) =>
      triggers.find((each) => each.name === triggerName(config, table, kind)),
    );
    return ofTable.includes(undefined) ? [] : [{ ...table, since: ofTable.map((each) => each!.created).join() }];
  });

/** An account such as `root@%` as GRANT has it. */
export function quotedAccount(account: string): string {
  const [, user, host] = /^(.*)@(.*)$/s.exec(account)!;
  return `${quoted(user!)}@${quoted(host!)}`;
}
