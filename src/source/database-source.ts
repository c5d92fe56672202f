/** Any database as a {@link Source}: keyset pages in plain queries, never a stream, never a transaction. */
import { PartnerSyncError } from '../domain/errors.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import type { ChangeFeed, FeedConfig } from '../domain/source/change-feed.js';
import type { FeedTable } from '../domain/source/feed-table.js';
import type { SourceServer, SourceTable } from '../domain/source/source-catalog.js';
import type {
  KeyRange,
  Page,
  ReadBounds,
  ReadPlan,
  Relation,
  Source,
  SourceColumn,
  SourceKey,
  ValueCount,
} from '../domain/source/source.js';
import { ConnectedDatabase, relationName } from './connected-database.js';
import { timestampMinus } from './cursor-time.js';
import type { CursorColumn, Dialect, Session } from './dialect.js';
import { byValuesQuery, countQuery, fromClause } from './keyset-query.js';
import { PageReader } from './page-reader.js';
import { describedColumn, pageOf, PreparedPlans } from './prepared-plans.js';
import { refuseSharedKeys } from './shared-keys.js';
import { splitKeys } from './split-keys.js';

/** Puts together what reads a database; the methods' contracts are those of {@link Source}. */
export class DatabaseSource implements Source {
  readonly #database: ConnectedDatabase;
  readonly #plans: PreparedPlans;
  readonly #pages: PageReader;

  /** `statementTimeout` in seconds: pages that come near to it get smaller. */
  constructor(dialect: Dialect, session: Session, statementTimeout: number, onRetry?: OnRetry) {
    this.#database = new ConnectedDatabase(dialect, session, onRetry);
    this.#plans = new PreparedPlans(this.#database, statementTimeout);
    this.#pages = new PageReader(this.#database, this.#plans);
  }

  async describe(relation: Relation): Promise<readonly SourceColumn[]> {
    return (await this.#database.columnsOf(relation)).map(describedColumn);
  }

  readPage(plan: ReadPlan, bounds: ReadBounds, limit: number): Promise<Page> {
    return this.#pages.readPage(plan, bounds, limit);
  }

  async readByValues(plan: ReadPlan, columns: readonly string[], values: readonly SourceKey[]): Promise<Page> {
    if (values.length === 0) return { rows: [], columns: [] };
    const page = await this.#readByValuesOnce(plan, columns, values);
    if (page !== null) return page;
    this.#plans.forget(plan);
    return (await this.#readByValuesOnce(plan, columns, values))!;
  }

  /** null if the types of the plan's columns have changed since it was prepared. */
  async #readByValuesOnce(
    plan: ReadPlan,
    columns: readonly string[],
    values: readonly SourceKey[],
  ): Promise<Page | null> {
    const prepared = await this.#plans.of(plan);
    const compared = await this.#database.columnsOf(plan.relation, columns);
    try {
      const query = byValuesQuery(this.#database.dialect, prepared, compared, values);
      const { rows, fields } = await this.#database.ask(`reading keys of ${relationName(plan.relation)}`, query);
      const codes = JSON.stringify(fields.map(({ code }) => code));
      if (prepared.codesByValues !== null && prepared.codesByValues !== codes) return null;
      prepared.codesByValues = codes;
      if (!prepared.unique) refuseSharedKeys(this.#database.dialect, plan, prepared, rows);
      return pageOf(prepared, rows);
    } catch (error) {
      const { relation } = plan;
      throw await this.#database.errorOfValues(error, { relation, columns: compared }, values);
    }
  }

  async highWatermark(plan: ReadPlan): Promise<string> {
    const { dialect, session } = this.#database;
    const cursor = await this.#cursorOf(plan);
    return this.#database.attempt('taking the high watermark', () => dialect.highWatermark(session, cursor));
  }

  async cursorMinus(plan: ReadPlan, cursor: string, seconds: number): Promise<string | null> {
    const { type, zone } = await this.#cursorOf(plan);
    // Whatever the column is declared as: in SQLite, times are texts.
    return timestampMinus(cursor, seconds, type === 'timestamptz' ? null : zone);
  }

  async countByValue(plan: ReadPlan, column: string, bounds: ReadBounds): Promise<readonly ValueCount[]> {
    const prepared = await this.#plans.of(plan);
    const { type } = prepared.columns[plan.columns.indexOf(column)]!;
    const { rows } = await this.#database.ask(
      `counting ${relationName(plan.relation)} by ${column}`,
      countQuery(this.#database.dialect, prepared, { name: column, type }, bounds),
    );
    return rows.map(([value, count]) => ({
      value: value == null ? null : (type.finish?.(value) ?? value),
      rows: Number(count),
    }));
  }

  hasNull(plan: ReadPlan, column: string): Promise<boolean> {
    return this.#database.hasNull(plan.relation, column);
  }

  async splitKeys(plan: ReadPlan, rows: number): Promise<readonly KeyRange[]> {
    return splitKeys(this.#database, await this.#plans.of(plan), rows);
  }

  server(): Promise<SourceServer> {
    const { dialect, session } = this.#database;
    return this.#database.attempt('asking for the version', () => dialect.server(session));
  }

  tables(names?: readonly string[]): Promise<readonly SourceTable[]> {
    return this.#database.tables(names);
  }

  async tablesRead(relation: Relation): Promise<readonly FeedTable[] | null> {
    const { dialect, session } = this.#database;
    if (dialect.tablesRead === undefined) return null;
    const sql = `SELECT * FROM ${fromClause(dialect, relation)}`;
    return this.#database.attempt(`explaining ${relationName(relation)}`, () => dialect.tablesRead!(session, sql));
  }

  changes(config: FeedConfig): ChangeFeed {
    const { dialect } = this.#database;
    if (dialect.changes === undefined)
      throw new PartnerSyncError(
        'config_invalid',
        `source: no change feed of ${dialect.name} is supported yet; write changes: none`,
      );
    return dialect.changes(this.#database, config);
  }

  connections(): Promise<number> {
    return Promise.resolve(this.#database.session.connections());
  }

  close(): Promise<void> {
    return this.#database.session.close();
  }

  /** The cursor's column as it is now: the rows' bounds are written in its type, so a plan from before it was altered is forgotten. */
  async #cursorOf(plan: ReadPlan): Promise<CursorColumn> {
    if (plan.cursor === null)
      throw new PartnerSyncError('config_invalid', `${relationName(plan.relation)} has no cursor`);
    const [column] = await this.#database.columnsOf(plan.relation, [plan.cursor]);
    const { type } = column!;
    const { cursor } = await this.#plans.of(plan);
    if (cursor!.type.databaseType !== type.databaseType) this.#plans.forget(plan);
    const from = fromClause(this.#database.dialect, plan.relation);
    return { ...type, name: plan.cursor, zone: plan.cursorZone ?? null, from };
  }
}
