/** The change table of SQLite. One connection writes at a time, so rows are numbered in the order of their commits. */
import type { FeedPosition } from '../../../domain/source/change-feed.js';
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  distinctTables,
  missingAmong,
  type FeedFinding,
  type FeedInstallation,
  type FeedRemoval,
  type PlannedTable,
} from '../../../domain/source/feed-installation.js';
import { milliseconds } from '../../../domain/timeouts.js';
import {
  PAGE_ROWS,
  type ChangeTable,
  type RecordedPage,
  type TableIdentity,
  type TableProblem,
  type TableStatus,
} from '../../changes/change-table.js';
import { blocking, costOf, differs, missingTable, notPruned, toKnow } from '../../changes/findings.js';
import type { KeyTextRules } from '../../changes/key-texts.js';
import type { TableConfig } from '../../changes/table-config.js';
import type { FeedDatabase, Query, RawPage } from '../../dialect.js';
import { affinityOf } from '../types.js';
import { literalsOf, textOfLiteral } from './quoted-values.js';
import {
  dropTrigger,
  hasTable,
  installedKey,
  recordedTables,
  tableInstallation,
  tableNames,
  tableRemoval,
  triggerIn,
  triggersOf,
  type SchemaPart,
} from './table-installation.js';

/** Which file this is. */
export const DATABASE_SQL = `(SELECT file FROM pragma_database_list WHERE name = 'main')`;

const MARK = `'${'[0-9a-f]'.repeat(8)}'`;

/** Both tables, and the triggers: their names are made of that of the change table, a mark of eight digits, and six letters. */
const PARTS_SQL = `
  SELECT type, name, tbl_name, sql FROM sqlite_schema, (SELECT ? AS changes)
  WHERE (type = 'table' AND name IN (changes, changes || '_state'))
    OR (type = 'trigger' AND name GLOB changes || '_' || ${MARK} || '_*' AND length(name) = length(changes) + 16)
  ORDER BY name`;

/** Whether it is a table, and the columns of its unique indexes; the key of the rowid has none. */
const TABLES_SQL = `
  SELECT l.name, l.type,
    (SELECT json_group_array((SELECT json_group_array(k.name) FROM pragma_index_info(i.name) k))
     FROM pragma_index_list(l.name) i WHERE i."unique" = 1),
    (SELECT json_group_array(c.name) FROM pragma_table_info(l.name) c WHERE c.pk > 0)
  FROM pragma_table_list l WHERE l.schema = 'main' AND l.name IN (SELECT value FROM json_each(?))`;

/** How SQLite has keys. */
export const SQLITE_KEYS: KeyTextRules = {
  columnsSql: ({ table, key }) =>
    `SELECT ${key.map((column) => `"${column.replaceAll('"', '""')}"`).join(', ')} FROM "${table.name.replaceAll('"', '""')}" LIMIT 0`,
  textOf: ({ databaseType, finish = (text) => text }) => {
    const isText = affinityOf(databaseType) === 'text';
    return (literal) => finish(textOfLiteral(literal, isText));
  },
};

export class SqliteChangeTable implements ChangeTable {
  readonly #database: FeedDatabase;
  readonly #config: TableConfig;

  constructor(database: FeedDatabase, config: TableConfig) {
    this.#database = database;
    this.#config = config;
  }

  async status(): Promise<TableStatus> {
    const parts = await this.#parts();
    const problem = problemOf(this.#config, parts);
    const tables = recordedTables(this.#config, parts);
    if (problem !== null) return { problem, identity: null, end: '0', keptBytes: null, tables };
    const { installed, ...identity } = await this.#stateRow();
    return {
      problem,
      identity,
      end: await this.#end(),
      keptBytes: null,
      tables: tables.map((table) => ({ ...table, since: installed[installedKey(table)] ?? '' })),
    };
  }

  start(): Promise<string> {
    return this.#end();
  }

  identity(): Promise<TableIdentity> {
    return this.#stateRow();
  }

  compare(one: string, other: string): number {
    return Number(one) - Number(other);
  }

  async countRowsAfter(at: string, bound: number): Promise<number> {
    const after = `SELECT 1 FROM ${tableNames(this.#config).changes} WHERE seq > CAST(? AS INTEGER) LIMIT ${bound}`;
    const { rows } = await this.#ask({ sql: `SELECT count(*) FROM (${after})`, bindings: [at] });
    return Number(rows[0]![0]);
  }

  async *pages(at: string, signal: AbortSignal): AsyncGenerator<RecordedPage> {
    let place = at;
    while (true) {
      signal.throwIfAborted();
      const { rows } = await this.#ask({
        sql: `SELECT seq, source, key_values, old_key_values FROM ${tableNames(this.#config).changes}
          WHERE seq > CAST(? AS INTEGER) ORDER BY seq LIMIT ${PAGE_ROWS}`,
        bindings: [place],
      });
      place = rows.at(-1)?.[0] ?? place;
      yield {
        rows: rows.map(([, source, key, old]) => ({
          source: source!,
          keys: [old, key].flatMap((list) => (list == null ? [] : [literalsOf(list)])),
        })),
        at: place,
      };
      if (rows.length < PAGE_ROWS) return;
    }
  }

  async prune({ at, origin }: FeedPosition): Promise<void> {
    const { changes, state } = tableNames(this.#config);
    // The file may have been replaced since it was read.
    const isSame = `EXISTS (SELECT 1 FROM ${state} WHERE origin = ?)`;
    const sql = `SELECT 1 FROM ${changes} WHERE seq <= CAST(? AS INTEGER) LIMIT 1`;
    if ((await this.#ask({ sql, bindings: [at] })).rows.length === 0) return;
    await this.#database.once('deleting changes that have been read', () =>
      this.#database.session.write!(
        [
          {
            sql: `UPDATE ${state} SET pruned = max(pruned, CAST(? AS INTEGER)) WHERE origin = ?`,
            bindings: [at, origin],
          },
          { sql: `DELETE FROM ${changes} WHERE seq <= CAST(? AS INTEGER) AND ${isSame}`, bindings: [at, origin] },
        ],
        milliseconds('changesPruning'),
      ),
    );
  }

  async installation(tables: readonly PlannedTable[]): Promise<FeedInstallation> {
    const parts = await this.#parts();
    const { recorded, findings } = await this.#examine(distinctTables(tables));
    const statements = tableInstallation(this.#config, recorded, parts);
    return {
      database: await this.#file(),
      findings: [
        ...findings,
        ...recorded.flatMap((planned) => differing(this.#config, planned, parts)),
        ...((await this.canPrune()) ? [] : [notPruned(null)]),
        ...costOf(statements),
      ],
      statements,
      missingTables: hasTable(parts, this.#config.table)
        ? missingAmong(tables, recordedTables(this.#config, parts))
        : null,
    };
  }

  async removal(): Promise<FeedRemoval> {
    return { database: await this.#file(), statements: tableRemoval(this.#config, await this.#parts()) };
  }

  #ask(query: Query): Promise<RawPage> {
    return this.#database.attempt('reading the change table', () => this.#database.session.run(query));
  }

  /** `installed`: a mark of each table's triggers. */
  async #stateRow(): Promise<TableIdentity & { readonly installed: Readonly<Record<string, string>> }> {
    const sql = `SELECT origin, pruned, installed FROM ${tableNames(this.#config).state}`;
    const { rows } = await this.#ask({ sql, bindings: [] });
    const [origin, pruned, installed] = rows[0] ?? ['', '0', '{}'];
    return { origin: origin!, pruned: pruned!, installed: JSON.parse(installed!) as Record<string, string> };
  }

  async #parts(): Promise<SchemaPart[]> {
    const { rows } = await this.#ask({ sql: PARTS_SQL, bindings: [this.#config.table] });
    return rows.map(([type, name, table, sql]) => ({ type: type!, name: name!, table: table!, sql: sql! }));
  }

  /** The number of the last row that there ever was: deleted ones are not used again. */
  async #end(): Promise<string> {
    const sql = `SELECT seq FROM sqlite_sequence WHERE name = ?`;
    return (await this.#ask({ sql, bindings: [this.#config.table] })).rows[0]?.[0] ?? '0';
  }

  async #file(): Promise<string> {
    return (await this.#ask({ sql: `SELECT ${DATABASE_SQL}`, bindings: [] })).rows[0]![0]!;
  }

  /** The file, and its folder for the journal. */
  async canPrune(): Promise<boolean> {
    const file = await this.#file();
    const canWrite = [file, dirname(file)].map((path) => access(path, constants.W_OK));
    return (await Promise.allSettled(canWrite)).every(({ status }) => status === 'fulfilled');
  }

  async #examine(tables: readonly PlannedTable[]): Promise<{ recorded: PlannedTable[]; findings: FeedFinding[] }> {
    const names = JSON.stringify(tables.map(({ table }) => table.name));
    const { rows } = await this.#ask({ sql: TABLES_SQL, bindings: [names] });
    const recorded: PlannedTable[] = [];
    const findings: FeedFinding[] = [];
    for (const planned of tables) {
      const found = rows.find(([name]) => name === planned.table.name);
      if (found === undefined) findings.push(missingTable(planned));
      else if (found[1] !== 'table')
        findings.push(
          blocking('not-publishable', planned, 'it is no table; name in changes.tables those that it reads'),
        );
      else {
        recorded.push(planned);
        const unique = [...(JSON.parse(found[2]!) as string[][]), JSON.parse(found[3]!) as string[]];
        const others = unique.filter((columns) => columns.length > 0 && !isSame(columns, planned.key));
        if (others.length > 0) findings.push(replacing(planned, others[0]!));
      }
    }
    return { recorded, findings };
  }
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.toSorted().join() === other.toSorted().join();

const replacing = (planned: PlannedTable, columns: readonly string[]): FeedFinding =>
  toKnow(
    'not-recorded',
    planned,
    `a row that REPLACE removes because of its ${columns.join(', ')} is told only if the writer has set PRAGMA recursive_triggers`,
  );

function problemOf({ table }: TableConfig, parts: readonly SchemaPart[]): TableProblem | null {
  if (!hasTable(parts, table)) return { text: `there is no change table "${table}"`, isLost: true };
  if (!hasTable(parts, `${table}_state`))
    return { text: `there is no table "${table}_state" beside the change table`, isLost: true };
  return null;
}

const differing = (config: TableConfig, planned: PlannedTable, parts: readonly SchemaPart[]): FeedFinding[] =>
  triggersOf(config, planned).flatMap(({ name, sql }) => {
    const part = triggerIn(parts, name);
    return part === undefined || part.sql === sql
      ? []
      : [
          differs(
            `the trigger ${name} of ${planned.table.name} is not the one that would be installed; remove it, and install again`,
            dropTrigger(name),
          ),
        ];
  });
