/** Which parts of a change table are there in PostgreSQL, and how they are, as the catalogue says. */
import type { FeedTable, ReportedTable } from '../../../domain/source/change-feed.js';
import type { Session } from '../../dialect.js';
import type { TableConfig } from '../../changes/table-config.js';
import { FUNCTION_SCHEMA } from '../changes/slot-functions.js';
import { DATABASE_SQL } from '../changes/slot-parts.js';
import { functionName, triggerKinds, triggerName } from './table-names.js';

/** A trigger that calls a function of a change table. */
export interface TriggerPart extends FeedTable {
  readonly trigger: string;
  readonly function: string;
  /** As pg_trigger has it: A for always. */
  readonly enabled: string;
  /** Differs once the trigger was disabled or made again, or its function replaced. */
  readonly since: string;
}

/** A function that records changes. */
export interface RecordingFunction {
  readonly name: string;
  readonly body: string;
  readonly runsAsOwner: boolean;
  readonly settings: readonly string[] | null;
  readonly isPublic: boolean;
}

/** Everything; null stands for a part that is not there. */
export interface TableParts {
  /** Which database of which server; only to be compared. */
  readonly database: string;
  readonly version: number;
  readonly standby: boolean;
  readonly account: string;
  /** What positions are of, with the origin in the state table. */
  readonly system: string;
  readonly schema: { readonly isGranted: boolean; readonly isEmpty: boolean } | null;
  readonly changes: {
    readonly oid: string;
    readonly bytes: number;
    readonly canRead: boolean;
    readonly canPrune: boolean;
  } | null;
  readonly state: { readonly canRead: boolean; readonly canWrite: boolean } | null;
  readonly functions: readonly RecordingFunction[];
  readonly triggers: readonly TriggerPart[];
}

const SYSTEM = '(SELECT system_identifier::text FROM pg_control_system())';
const relation = (name: string): string =>
  `FROM pg_class c WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${FUNCTION_SCHEMA}') AND relkind = 'r' AND relname = ${name}`;
/** A function of ours is named for the change table and a mark of eight digits. */
const OURS = `pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${FUNCTION_SCHEMA}')
  AND left(proname, -9) = $1 AND proname ~ '_[0-9a-f]{8}$'`;

/** $1 is the change table. A server that was promoted, or restored from a backup, counts its log's timeline up. */
const PARTS_SQL = `
  SELECT json_build_object(
    'database', ${DATABASE_SQL},
    'version', current_setting('server_version_num')::int / 10000,
    'standby', pg_is_in_recovery(),
    'account', current_user,
    'system', concat_ws(':',
      CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE') THEN ${SYSTEM} END,
      CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,
      (SELECT oid FROM pg_database WHERE datname = current_database())),
    'schema', (SELECT json_build_object('isGranted', has_schema_privilege(n.oid, 'USAGE'),
        'isEmpty', NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = n.oid)
          AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid))
      FROM pg_namespace n WHERE nspname = '${FUNCTION_SCHEMA}'),
    'changes', (SELECT json_build_object('oid', oid::text, 'bytes', pg_total_relation_size(oid),
        'canRead', has_table_privilege(oid, 'SELECT'), 'canPrune', has_table_privilege(oid, 'DELETE')) ${relation('$1')}),
    'state', (SELECT json_build_object(
        'canRead', has_table_privilege(oid, 'SELECT'), 'canWrite', has_table_privilege(oid, 'UPDATE')) ${relation("$1 || '_state'")}),
    'functions', (SELECT coalesce(json_agg(json_build_object(
        'name', proname, 'body', prosrc, 'runsAsOwner', prosecdef, 'settings', proconfig,
        'isPublic', EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0))), '[]')
      FROM pg_proc WHERE ${OURS}),
    'triggers', (SELECT coalesce(json_agg(json_build_object('schema', nspname, 'name', relname,
        'trigger', tgname, 'function', proname, 'enabled', tgenabled,
        'since', concat_ws('.', t.oid, t.xmin, p.xmin)) ORDER BY nspname, relname, tgname), '[]')
      FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid JOIN pg_class c ON c.oid = tgrelid
        JOIN pg_namespace n ON n.oid = relnamespace
      WHERE ${OURS}))`;

/** Asks the server. Throws what the driver does. */
export async function readTableParts(run: Session['run'], { table }: TableConfig): Promise<TableParts> {
  const { rows } = await run({ sql: PARTS_SQL, bindings: [table] });
  return JSON.parse(rows[0]![0]!) as TableParts;
}

/** The trigger of a kind on a table; one that calls the function of another table was made for that one. */
export const triggerOf = (
  config: TableConfig,
  { triggers }: Pick<TableParts, 'triggers'>,
  table: FeedTable,
  kind: Parameters<typeof triggerName>[1],
): TriggerPart | undefined =>
  triggers.find(
    (part) =>
      part.schema === table.schema &&
      part.name === table.name &&
      part.trigger === triggerName(config, kind) &&
      part.function === functionName(config, table),
  );

/** The tables of which every change is recorded. */
export function recordedTables(config: TableConfig, parts: Pick<TableParts, 'triggers'>): ReportedTable[] {
  const tables = new Map(parts.triggers.map(({ schema, name }) => [JSON.stringify([schema, name]), { schema, name }]));
  return [...tables.values()].flatMap((table) => {
    const firing = [true, false]
      .map((byRow) => triggerKinds(byRow).map((kind) => triggerOf(config, parts, table, kind)))
      .find((triggers) => triggers.every((trigger) => ['A', 'O'].includes(trigger?.enabled ?? '')));
    return firing === undefined ? [] : [{ ...table, since: firing.map((trigger) => trigger!.since).join() }];
  });
}
