/** The SQL with which a partner's administrator makes a change table in MySQL or MariaDB, and removes it again. */
import type { InstallationStatement, PlannedTable } from '../../../domain/source/feed-installation.js';
import { neededOf, type Step } from '../../changes/steps.js';
import { recordedSource } from '../../changes/recorded-source.js';
import type { TableConfig } from '../../changes/table-config.js';
import type { ColumnType } from '../../dialect.js';
import { quoted, quotedTable, writingOf } from './recorded-keys.js';
import {
  partNames,
  quotedAccount,
  TRIGGER_KINDS,
  triggerName,
  catalogueJson,
  type TableParts,
  type TriggerKind,
} from './table-parts.js';

/** A table with the types of its key. */
export interface RecordedTable extends PlannedTable {
  readonly types: readonly ColumnType[];
}

/** What the account may do already. */
export interface Permissions {
  readonly canRead: boolean;
  readonly canPrune: boolean;
}

/** A text for SQL, whatever the SQL mode of whoever makes a trigger with it. */
const literal = (text: string): string =>
  /['\\]/.test(text) ? `CONVERT(X'${Buffer.from(text).toString('hex')}' USING utf8mb4)` : `'${text}'`;

/** The body of a trigger: one statement, so that every client can run it without another delimiter. */
export function triggerBody(
  config: TableConfig,
  { schema }: Pick<TableParts, 'schema'>,
  { table, key, types }: RecordedTable,
  kind: TriggerKind,
): string {
  const keyOf = (row: string): string =>
    `JSON_ARRAY(${key.map((column, i) => writingOf(types[i]!)!.sql(`${row}.${quoted(column)}`)).join(', ')})`;
  const values = {
    insert: `${keyOf('NEW')}, NULL`,
    update: `${keyOf('NEW')}, IF(CAST(${keyOf('OLD')} AS BINARY) = CAST(${keyOf('NEW')} AS BINARY), NULL, ${keyOf('OLD')})`,
    delete: `${keyOf('OLD')}, NULL`,
  };
  return (
    `INSERT INTO ${partNames(config, schema).changes} (source, key_values, old_key_values)\n` +
    `  VALUES (${literal(recordedSource({ table, key }))}, ${values[kind]})`
  );
}

/**
 * The statements that install what is missing, in their order. Triggers that differ are left as they are. They come last: an
 * account that may call the function by then sees those that are there.
 */
export function tableInstallation(
  config: TableConfig,
  tables: readonly RecordedTable[],
  parts: TableParts,
  { canRead, canPrune }: Permissions,
): InstallationStatement[] {
  const { changes, state, catalogue } = partNames(config, parts.schema);
  const account = quotedAccount(parts.account);
  return neededOf([
    {
      isNeeded: !parts.hasChanges && parts.hasState,
      sql: `DROP TABLE ${state}`,
      why: 'was about a change table that is gone',
    },
    {
      isNeeded: !parts.hasChanges,
      sql:
        `CREATE TABLE IF NOT EXISTS ${changes} (seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,\n` +
        `  source TEXT NOT NULL, key_values LONGTEXT NOT NULL, old_key_values LONGTEXT) ENGINE = InnoDB CHARACTER SET utf8mb4`,
      why: 'has the keys of changed rows, until they have been read',
    },
    {
      isNeeded: !parts.hasChanges || !parts.hasState,
      sql:
        `CREATE TABLE IF NOT EXISTS ${state} (id INTEGER NOT NULL PRIMARY KEY, origin CHAR(36) NOT NULL,\n` +
        `  pruned BIGINT UNSIGNED NOT NULL DEFAULT 0) ENGINE = InnoDB CHARACTER SET utf8mb4`,
      why: 'says which change table this is, and up to where rows were deleted',
    },
    {
      isNeeded: !parts.hasChanges || !parts.hasState,
      sql: `INSERT IGNORE INTO ${state} (id, origin) VALUES (1, UUID())`,
      why: 'its only row',
    },
    {
      isNeeded: !parts.hasFunction,
      sql: `DROP FUNCTION IF EXISTS ${catalogue}`,
      why: 'one that the account may not call cannot be told from none',
    },
    {
      isNeeded: !parts.hasFunction,
      sql: catalogueFunction(config, parts),
      why: 'tells the account which triggers and foreign keys there are, which others see only if they might make some',
    },
    {
      isNeeded: !canRead || !canPrune,
      sql: `GRANT SELECT, DELETE ON ${changes} TO ${account}`,
      why: 'lets the account read the change table, and delete what it has read',
    },
    {
      isNeeded: !canRead || !canPrune,
      sql: `GRANT SELECT, UPDATE ON ${state} TO ${account}`,
      why: 'lets the account say up to where it has deleted rows',
    },
    {
      isNeeded: !parts.hasFunction,
      sql: `GRANT EXECUTE ON FUNCTION ${catalogue} TO ${account}`,
      why: 'lets the account call it',
    },
    ...tables.flatMap((table) => triggerSteps(config, table, parts)),
  ]);
}

const catalogueFunction = (config: TableConfig, { schema }: TableParts): string =>
  `CREATE FUNCTION ${partNames(config, schema).catalogue}() RETURNS LONGTEXT CHARACTER SET utf8mb4 READS SQL DATA\n` +
  `  RETURN ${catalogueJson(config)}`;

const triggerSteps = (config: TableConfig, recorded: RecordedTable, parts: TableParts): Step[] =>
  TRIGGER_KINDS.map((kind) => {
    const name = triggerName(config, recorded.table, kind);
    const { schema, name: table } = recorded.table;
    return {
      isNeeded: !parts.triggers.some((part) => part.name === name),
      sql:
        `CREATE TRIGGER ${quotedTable(parts.schema, name)} AFTER ${kind.toUpperCase()} ON ${quotedTable(schema, table)} FOR EACH ROW\n` +
        `  ${triggerBody(config, parts, recorded, kind)}`,
      why: `records the keys of changed rows of ${table}; waits for transactions that use it`,
    };
  });

/** The statement that removes a trigger. */
export const dropTrigger = (name: string, { schema }: TableParts): string =>
  `DROP TRIGGER ${quotedTable(schema, name)}`;

/** The statements that remove what is there of a change table. */
export function tableRemoval(config: TableConfig, parts: TableParts): InstallationStatement[] {
  const { changes, state, catalogue } = partNames(config, parts.schema);
  return neededOf([
    ...parts.triggers.map(({ name, table }): Step => ({
      isNeeded: true,
      sql: dropTrigger(name, parts),
      why: `changes of ${table} are not recorded any more`,
    })),
    { isNeeded: parts.hasFunction, sql: `DROP FUNCTION ${catalogue}`, why: 'has told which triggers there are' },
    { isNeeded: parts.hasChanges, sql: `DROP TABLE ${changes}`, why: 'nothing writes to it any more' },
    { isNeeded: parts.hasState, sql: `DROP TABLE ${state}`, why: 'was about the change table' },
  ]);
}
