/** The SQL that makes a change table in SQLite, and removes it again. */
import type { FeedTable } from '../../../domain/source/change-feed.js';
import type { InstallationStatement, PlannedTable } from '../../../domain/source/feed-installation.js';
import { neededOf, type Step } from '../../changes/steps.js';
import { recordedSource, tableMark } from '../../changes/recorded-source.js';
import type { TableConfig } from '../../changes/table-config.js';

/** Something in the schema of the file. */
export interface SchemaPart {
  readonly type: string;
  readonly name: string;
  /** The table that it is on. */
  readonly table: string;
  readonly sql: string;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The names of tables, ready for SQL. */
export const tableNames = ({ table }: TableConfig): { readonly changes: string; readonly state: string } => ({
  changes: quoted(table),
  state: quoted(`${table}_state`),
});

const KINDS = ['insert', 'update', 'delete'] as const;

/** The beginning of the names of a table's triggers. */
const triggerName = ({ table }: TableConfig, of: FeedTable, kind: (typeof KINDS)[number]): string =>
  `${table}_${tableMark(of)}_${kind}`;

/** The triggers of a table, each with its name and the statement that makes it. */
export function triggersOf(
  config: TableConfig,
  { table, key }: PlannedTable,
): readonly { readonly name: string; readonly sql: string }[] {
  const into = `INSERT INTO ${tableNames(config).changes} (source, key_values, old_key_values)`;
  const source = literal(recordedSource({ table, key }));
  const keyOf = (row: string): string => key.map((column) => `quote(${row}.${quoted(column)})`).join(` || ',' || `);
  const values = {
    insert: `${keyOf('NEW')}, NULL`,
    update: `${keyOf('NEW')}, NULLIF(${keyOf('OLD')}, ${keyOf('NEW')})`,
    delete: `${keyOf('OLD')}, NULL`,
  };
  return KINDS.map((kind) => {
    const name = triggerName(config, table, kind);
    const sql =
      `CREATE TRIGGER ${quoted(name)} AFTER ${kind.toUpperCase()} ON ${quoted(table.name)} BEGIN\n` +
      `  ${into} VALUES (${source}, ${values[kind]});\nEND`;
    return { name, sql };
  });
}

/** The trigger with this name, if there is one. */
export const triggerIn = (parts: readonly SchemaPart[], name: string): SchemaPart | undefined =>
  parts.find((part) => part.type === 'trigger' && part.name === name);

/** Whether there is a table of this name. */
export const hasTable = (parts: readonly SchemaPart[], name: string): boolean =>
  parts.some((part) => part.type === 'table' && part.name === name);

/** The tables of which every change is recorded. */
export function recordedTables(config: TableConfig, parts: readonly SchemaPart[]): FeedTable[] {
  const names = new Set(parts.filter(({ type }) => type === 'trigger').map(({ table }) => table));
  return [...names]
    .map((name): FeedTable => ({ schema: null, name }))
    .filter((table) => KINDS.every((kind) => triggerIn(parts, triggerName(config, table, kind)) !== undefined));
}

/** The key of a table in the JSON that says which installation of triggers each table has. */
export const installedKey = (table: FeedTable): string => `t${tableMark(table)}`;

/** The statements that install what is missing, in their order. Triggers that differ are left as they are. */
export function tableInstallation(
  config: TableConfig,
  tables: readonly PlannedTable[],
  parts: readonly SchemaPart[],
): InstallationStatement[] {
  const { changes, state } = tableNames(config);
  const hasChanges = hasTable(parts, config.table);
  const hasState = hasTable(parts, `${config.table}_state`);
  return neededOf([
    {
      isNeeded: !hasChanges && hasState,
      sql: `DROP TABLE ${state}`,
      why: 'was about a change table that is gone',
    },
    {
      isNeeded: !hasChanges,
      sql:
        `CREATE TABLE ${changes} (seq INTEGER PRIMARY KEY AUTOINCREMENT,\n` +
        `  source TEXT NOT NULL, key_values TEXT NOT NULL, old_key_values TEXT)`,
      why: 'has the keys of changed rows, until they have been read',
    },
    {
      isNeeded: !hasChanges || !hasState,
      sql:
        `CREATE TABLE ${state} (id INTEGER PRIMARY KEY DEFAULT 1 CHECK (id = 1),\n` +
        `  origin TEXT NOT NULL, pruned INTEGER NOT NULL DEFAULT 0, installed TEXT NOT NULL DEFAULT '{}')`,
      why: 'says which change table this is, up to where rows were deleted, and which installation of triggers each table has',
    },
    {
      isNeeded: !hasChanges || !hasState,
      sql: `INSERT INTO ${state} (origin) VALUES (lower(hex(randomblob(16))))`,
      why: 'its only row',
    },
    ...tables.flatMap((planned) => triggerSteps(config, planned, parts)),
  ]);
}

/** The schema does not tell a trigger from one that was made again, so each installation has a mark. */
function triggerSteps(config: TableConfig, planned: PlannedTable, parts: readonly SchemaPart[]): Step[] {
  const steps = triggersOf(config, planned).map(({ name, sql }): Step => ({
    isNeeded: triggerIn(parts, name) === undefined,
    sql,
    why: `records the keys of changed rows of ${planned.table.name}`,
  }));
  return [
    {
      isNeeded: steps.some(({ isNeeded }) => isNeeded),
      sql: `UPDATE ${tableNames(config).state} SET installed = json_set(installed, '$.${installedKey(planned.table)}', lower(hex(randomblob(8))))`,
      why: `tells the triggers of ${planned.table.name} from earlier ones`,
    },
    ...steps,
  ];
}

/** The statement that removes a trigger. */
export const dropTrigger = (name: string): string => `DROP TRIGGER ${quoted(name)}`;

/** The statements that remove what is there of a change table. */
export function tableRemoval(config: TableConfig, parts: readonly SchemaPart[]): InstallationStatement[] {
  const { changes, state } = tableNames(config);
  return neededOf([
    ...parts
      .filter(({ type }) => type === 'trigger')
      .map(({ name, table }): Step => ({
        isNeeded: true,
        sql: dropTrigger(name),
        why: `changes of ${table} are not recorded any more`,
      })),
    { isNeeded: hasTable(parts, config.table), sql: `DROP TABLE ${changes}`, why: 'nothing writes to it any more' },
    {
      isNeeded: hasTable(parts, `${config.table}_state`),
      sql: `DROP TABLE ${state}`,
      why: 'was about the change table',
    },
  ]);
}
