/**
 * The change table of PostgreSQL.
 *
 * Its rows are ordered by the transaction that has written them, and are read as long as no older transaction is open. So one
 * that commits late is never passed by; transactions of other databases of the server hold the reading back, too.
 */
import type { FeedPosition } from '../../../domain/source/change-feed.js';
import {
  distinctTables,
  missingAmong,
  type FeedInstallation,
  type FeedRemoval,
  type PlannedTable,
} from '../../../domain/source/feed-installation.js';
import { milliseconds } from '../../../domain/timeouts.js';
import {
  PAGE_ROWS,
  type ChangeTable,
  type RecordedPage,
  type TableStatus,
  type TableProblem,
  type TableIdentity,
} from '../../changes/change-table.js';
import { costOf, differs, notPruned, ofServer } from '../../changes/findings.js';
import type { KeyTexts, KeyTextRules } from '../../changes/key-texts.js';
import type { TableConfig } from '../../changes/table-config.js';
import type { FeedDatabase, Query, RawPage, Session } from '../../dialect.js';
import { columnList, quotedName, quotedTable } from '../changes/quoted-names.js';
import { examineTables } from './table-findings.js';
import {
  enableAlways,
  isAsInstalled,
  recordingFunction,
  tableInstallation,
  tableRemoval,
} from './table-installation.js';
import { functionName, tableNames, triggerKinds } from './table-names.js';
import { recordedTables, readTableParts, triggerOf, type TableParts } from './table-parts.js';

const OLDEST_VERSION = 12;

/** How PostgreSQL has keys. */
export const POSTGRES_KEYS: KeyTextRules = {
  columnsSql: ({ table, key }) => `SELECT ${columnList(key)} FROM ${quotedTable(table)} LIMIT 0`,
  textOf: ({ select, finish }) => (select === undefined ? (finish ?? ((recorded) => recorded)) : null),
};

export class PostgresChangeTable implements ChangeTable {
  readonly #database: FeedDatabase;
  readonly #config: TableConfig;
  readonly #keyTexts: KeyTexts;

  constructor(database: FeedDatabase, config: TableConfig, keyTexts: KeyTexts) {
    this.#database = database;
    this.#config = config;
    this.#keyTexts = keyTexts;
  }

  async status(): Promise<TableStatus> {
    const parts = await this.#parts();
    const problem = problemOf(this.#config, parts);
    return {
      problem,
      identity: problem === null ? await this.#identityOf(parts) : null,
      end: `${await this.#snapshot('xmax')}/0`,
      keptBytes: parts.changes?.bytes ?? null,
      tables: recordedTables(this.#config, parts),
    };
  }

  async start(): Promise<string> {
    return `${await this.#snapshot('xmin')}/0`;
  }

  async identity(): Promise<TableIdentity> {
    return this.#identityOf(await this.#parts());
  }

  async canPrune(): Promise<boolean> {
    return mayPrune(await this.#parts());
  }

  compare(one: string, other: string): number {
    const [[xid, seq], [otherXid, otherSeq]] = [placeOf(one), placeOf(other)];
    return Math.sign(Number(xid === otherXid ? seq - otherSeq : xid - otherXid));
  }

  async countRowsAfter(at: string, bound: number): Promise<number> {
    const after = `SELECT FROM ${tableNames(this.#config).changes} WHERE (xid, seq) > ($1::bigint, $2::bigint) LIMIT ${bound}`;
    const { rows } = await this.#ask('looking for changes', {
      sql: `SELECT count(*) FROM (${after}) counted`,
      bindings: at.split('/'),
    });
    return Number(rows[0]![0]);
  }

  async *pages(at: string, signal: AbortSignal): AsyncGenerator<RecordedPage> {
    const end = await this.#snapshot('xmin');
    let place = at;
    while (true) {
      signal.throwIfAborted();
      const { rows } = await this.#ask('reading changes', {
        sql: `SELECT xid, seq, source, array_to_json(key) FROM ${tableNames(this.#config).changes}
          WHERE (xid, seq) > ($1::bigint, $2::bigint) AND xid < $3::bigint ORDER BY xid, seq LIMIT ${PAGE_ROWS}`,
        bindings: [...place.split('/'), end],
      });
      const last = rows.length < PAGE_ROWS ? undefined : rows.at(-1)!;
      place = last === undefined ? this.#later(place, `${end}/0`) : `${last[0]}/${last[1]}`;
      yield {
        rows: rows.map(([, , source, key]) => ({
          source: source!,
          keys: key == null ? null : [JSON.parse(key) as string[]],
        })),
        at: place,
      };
      if (last === undefined) return;
    }
  }

  async prune({ at }: FeedPosition): Promise<void> {
    const { changes, state } = tableNames(this.#config);
    const bindings = at.split('/');
    const through = '($1::bigint, $2::bigint)';
    const has = await this.#ask('confirming changes', {
      sql: `SELECT FROM ${changes} WHERE (xid, seq) <= ${through} LIMIT 1`,
      bindings,
    });
    if (has.rows.length === 0) return;
    await this.#database.once('deleting changes that have been read', () =>
      this.#database.session.write!(
        [
          {
            sql: `UPDATE ${state} SET pruned_xid = $1::bigint, pruned_seq = $2::bigint WHERE (pruned_xid, pruned_seq) < ${through}`,
            bindings,
          },
          { sql: `DELETE FROM ${changes} WHERE (xid, seq) <= ${through}`, bindings },
        ],
        milliseconds('changesPruning'),
      ),
    );
  }

  async installation(tables: readonly PlannedTable[]): Promise<FeedInstallation> {
    const parts = await this.#parts();
    const config = this.#config;
    const { recorded, findings } = await this.#database.attempt('reading what is installed', () =>
      examineTables(this.#run, distinctTables(tables), this.#keyTexts),
    );
    const statements = tableInstallation(config, recorded, parts);
    return {
      database: parts.database,
      findings: [
        ...serverFindings(parts),
        ...findings,
        ...recorded.flatMap((table) => {
          const name = functionName(config, table.table);
          const known = parts.functions.find((part) => part.name === name);
          const silent = triggerKinds(table.byRow).filter(
            (kind) => (triggerOf(config, parts, table.table, kind)?.enabled ?? 'A') !== 'A',
          );
          return [
            ...(known === undefined || isAsInstalled(config, table, known)
              ? []
              : [
                  differs(
                    `the function ${name}, which records changes of ${table.table.name}, is not the one that would be installed`,
                    recordingFunction(config, table),
                  ),
                ]),
            ...(silent.length === 0
              ? []
              : [
                  differs(
                    `triggers of ${table.table.name} do not fire in every session (${silent.join(', ')})`,
                    enableAlways(config, table, silent),
                  ),
                ]),
          ];
        }),
        ...(parts.changes?.canRead === true && !mayPrune(parts) ? [notPruned(pruningGrants(config, parts))] : []),
        ...costOf(statements),
      ],
      statements,
      missingTables: parts.changes === null ? null : missingAmong(tables, recordedTables(config, parts)),
    };
  }

  async removal(): Promise<FeedRemoval> {
    const parts = await this.#parts();
    return { database: parts.database, statements: tableRemoval(this.#config, parts) };
  }

  get #run(): Session['run'] {
    return (query: Query) => this.#database.session.run(query);
  }

  #ask(what: string, query: Query): Promise<RawPage> {
    return this.#database.attempt(what, () => this.#database.session.run(query));
  }

  #parts(): Promise<TableParts> {
    return this.#database.attempt('looking at the change table', () => readTableParts(this.#run, this.#config));
  }

  async #identityOf({ system, changes }: TableParts): Promise<TableIdentity> {
    const { rows } = await this.#ask('looking at the change table', {
      sql: `SELECT origin, pruned_xid, pruned_seq FROM ${tableNames(this.#config).state}`,
      bindings: [],
    });
    const [origin, xid, seq] = rows[0] ?? ['', '0', '0'];
    return { origin: `${system}:${changes?.oid ?? ''}:${origin}`, pruned: `${xid}/${seq}` };
  }

  /** The oldest transaction that is open, or the first one that has not begun yet. */
  async #snapshot(bound: 'xmin' | 'xmax'): Promise<string> {
    const sql = `SELECT txid_snapshot_${bound}(txid_current_snapshot())`;
    return (await this.#ask('looking for open transactions', { sql, bindings: [] })).rows[0]![0]!;
  }

  #later(one: string, other: string): string {
    return this.compare(one, other) > 0 ? one : other;
  }
}

const placeOf = (at: string): [bigint, bigint] => at.split('/').map(BigInt) as [bigint, bigint];

const mayPrune = ({ changes, state }: TableParts): boolean => changes?.canPrune === true && state?.canWrite === true;

const pruningGrants = (config: TableConfig, { account }: TableParts): string => {
  const { changes, state } = tableNames(config);
  return `GRANT DELETE ON ${changes} TO ${quotedName(account)}; GRANT UPDATE ON ${state} TO ${quotedName(account)}`;
};

function problemOf({ table }: TableConfig, { standby, schema, changes, state }: TableParts): TableProblem | null {
  if (standby) return { text: 'the server is a standby; a change table is read from the primary', isLost: false };
  if (changes === null) return { text: `there is no change table "${table}"`, isLost: true };
  if (state === null) return { text: `there is no table "${table}_state" beside the change table`, isLost: true };
  if (schema?.isGranted !== true || !changes.canRead || !state.canRead)
    return { text: `the account may not read the change table "${table}"`, isLost: false };
  return null;
}

const serverFindings = ({ version, standby }: TableParts): FeedInstallation['findings'] => [
  ...(version < OLDEST_VERSION
    ? [ofServer('server-version', `the server is PostgreSQL ${version}; 12 is the oldest that is supported`)]
    : []),
  ...(standby ? [ofServer('standby', 'the server is a standby; a change table is made on the primary')] : []),
];
